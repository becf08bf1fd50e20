// What explanations offer, as it is written (core/scheduling/flags.h), against what reads it.
#include "core/scheduling/flags.h"

#include <sstream>

#include "core/decide.h"
#include "core/scheduling/explain.h"
#include "core/test_random_world.h"
#include "spec/job_flags.h"

namespace atl::spec {
namespace {

using core::DeviceRequest;
using core::RandomWorld;
using core::Terms;

// As a shell would split it.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    if (word.size() > 1 && word.front() == '\'') word = word.substr(1, word.size() - 2);
    words.push_back(word);
  }
  return words;
}

// The request with these flags instead of its own.
Result<Terms> with_flags(const core::State& state, const Terms& asked, const std::string& change) {
  core::Job job;
  job.array = asked.gang > 0;
  core::Payload payload;
  payload.argv = {"true"};
  JobAsk ask{.spec = describe_job(job, asked, payload, "lab")};
  const std::vector<std::string> words = words_of(change);
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "no") {
      ask.spec.site.reset();
      continue;
    }
    if (words[i] == "--gpus" || words[i] == "--device") ask.spec.devices.reset();
    const JobFlag* flag = find_job_flag(words[i].substr(2));
    if (!flag) return fail(ErrorCode::invalid, "there is no " + words[i]);
    if (words[i] == "--gang") ask.spec.array.reset();
    if (auto ok = use_job_flag(*flag, ask, words[i + 1]); !ok) return tl::unexpected(ok.error());
  }
  const auto made = to_submission(ask.spec);
  if (!made) return tl::unexpected(made.error());
  Terms terms = made->job.terms;
  core::settle_parts(state, terms.resources);
  return terms;
}

void reads_back(const core::State& state, const Terms& asked, const Terms& changed) {
  const std::string change = core::scheduling::flags_between(asked, changed);
  ASSERT_FALSE(change.empty());
  const auto terms = with_flags(state, asked, change);
  ASSERT_TRUE(terms) << change << ": " << terms.error().message;
  EXPECT_EQ(terms->resources, changed.resources) << change;
  EXPECT_EQ(terms->wall, changed.wall) << change;
  EXPECT_EQ(terms->tier, changed.tier) << change;
  EXPECT_EQ(terms->gang, changed.gang) << change;
  EXPECT_EQ(terms->site, changed.site) << change;
}

TEST(Flags, EachKindOfChangeReadsBack) {
  const core::State state;
  Terms asked;
  asked.resources = {4000, int64_t{3} << 30, {{"gpu", "a100", 2}}};
  asked.wall = hours(26);
  asked.site = "moon";
  asked.gang = 4;
  const auto check = [&](const auto& change) {
    Terms changed = asked;
    change(changed);
    reads_back(state, asked, changed);
  };
  check([](Terms& terms) { terms.resources.cpu_milli = 750; });
  check([](Terms& terms) { terms.resources.memory_bytes = (int64_t{23} << 28) + 5; });
  check([](Terms& terms) { terms.resources.devices = {{"gpu", "a100", 1, {"t4", ""}}}; });
  check([](Terms& terms) { terms.resources.devices = {{"gpu", "", 1}, {"tpu", "v4", 2}}; });
  check([](Terms& terms) {
    terms.resources.devices = {{"gpu", "", 1}};
    terms.resources.devices[0].share_milli = 125;
  });
  check([](Terms& terms) {
    terms.resources.devices = {{"gpu", "a100", 1}};
    terms.resources.devices[0].memory_bytes = int64_t{10} << 30;
  });
  check([](Terms& terms) {
    terms.resources.devices = {{"gpu", "a100", 1}};
    terms.resources.devices[0].profile = "1g.5gb";
  });
  check([](Terms& terms) { terms.wall = minutes(25 * 60 + 7); });
  check([](Terms& terms) { terms.tier = core::Tier::interactive; });
  check([](Terms& terms) { terms.gang = 3; });
  check([](Terms& terms) { terms.site.clear(); });
}

TEST(Flags, WhatIsOfferedReadsBackAsTheVeryRequest) {
  const std::vector<std::string> names{"lab", "bio"};
  int offered = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    RandomWorld world(seed);
    world.draw_nodes(3, 8);
    world.draw_namespaces(names);
    for (int i = 0; i < 10; ++i) {
      core::SubmitJob job = world.draw_job(names);
      if (world.one_in(4)) world.draw_gang(job);
      if (world.one_in(2)) world.draw_wall(job);
      world.submit(job);
    }
    world.start_all();
    for (const auto& [id, job] : world.state.jobs) {
      if (!job.ready()) continue;
      const Terms& asked = world.state.terms_of(job);
      auto why = core::scheduling::explain(world.state, job, false, world.now);
      if (why.nearest) why.alternatives.push_back(*why.nearest);
      for (const auto* list : {&why.alternatives, &why.sooner}) {
        for (const auto& each : *list) {
          ++offered;
          EXPECT_EQ(each.change, core::scheduling::flags_between(asked, each.terms));
          reads_back(world.state, asked, each.terms);
        }
      }
    }
  }
  EXPECT_GT(offered, 300);
}

}  // namespace
}  // namespace atl::spec
