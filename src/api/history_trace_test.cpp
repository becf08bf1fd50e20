// What lists tell of an ended job is enough to ask for the very same again: as simulate reads it.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "api/job_row.h"
#include "core/limits.h"
#include "simulate/fit.h"
#include "simulate/platform.h"

namespace atl::api {
namespace {

// A namespace, a user and a job of random terms.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  bool chance(int percent) { return below(100) < percent; }
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }

  core::DeviceRequest request(const char* kind) {
    core::DeviceRequest request{kind, chance(50) ? "a100" : "",
                                static_cast<uint32_t>(1 + below(3))};
    if (!request.model.empty() && chance(50)) request.also = {"v100"};
    if (!request.model.empty() && chance(50)) request.also.push_back("");
    switch (below(4)) {
      case 0:
        request.share_milli = static_cast<int32_t>(1 + below(999));
        break;
      case 1:
        request.memory_bytes = 1 + below(int64_t{80} << 30);
        request.share_milli = static_cast<int32_t>(1 + below(1000));
        break;
      case 2:
        request.profile = chance(50) ? "1g.5gb" : "3g.20gb";
        request.share_milli = request.profile == "1g.5gb" ? 125 : 500;
        break;
      default:
        break;
    }
    return request;
  }
  core::Terms terms() {
    core::Terms terms;
    terms.resources.cpu_milli = 1 + below(8000);
    terms.resources.memory_bytes = below(int64_t{16} << 30);
    if (chance(60)) terms.resources.devices.push_back(request("gpu"));
    if (chance(20))
      terms.resources.devices.insert(terms.resources.devices.begin(), request("fpga"));
    terms.priority = static_cast<int32_t>(below(2001) - 1000);
    if (chance(50)) terms.wall = seconds(1 + below(100'000));
    terms.grace = Duration{below(3'600'000) * 1000};
    terms.tier = core::kTiers[below(4)];
    if (chance(20)) terms.gang = static_cast<uint32_t>(2 + below(3));
    return terms;
  }

 private:
  std::mt19937_64 random_;
};

core::State people() {
  core::State state;
  core::apply(state, {Time{1}, {}, core::UserCreated{UserId{1}, "ada", false, {}}});
  core::apply(state, {Time{1}, {}, core::NamespaceCreated{NamespaceId{1}, "bio"}});
  return state;
}

// An ended job as a list shows it, with the run times of its tasks as `atoll simulate export` adds
// them.
std::string line_of(const core::Terms& terms, uint32_t tasks, const std::vector<int64_t>& ran) {
  journal::EndedJob ended;
  ended.job.id = JobId{7};
  ended.job.ns = NamespaceId{1};
  ended.job.user = UserId{1};
  ended.job.name = "job";
  ended.job.array = tasks > 1;
  ended.job.size = tasks;
  ended.job.submitted = Time{} + hours(24 * 20'000);
  ended.terms = terms;
  ended.ended = ended.job.submitted + seconds(100);
  JobRow row = ended_row(ended);
  if (tasks == 1) row.started = ended.ended - seconds(ran.front());
  std::string line;
  spec::JsonWriter json(line);
  json.begin_object();
  write_row(json, people(), row);
  if (tasks > 1) {
    json.key("runs").begin_array();
    for (const int64_t each : ran) json.number(each);
    json.end_array();
  }
  json.end_object();
  return line + "\n";
}

TEST(HistoryAsTrace, AsksForTheVerySame) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Draw draw(seed);
    core::Terms terms = draw.terms();
    const auto tasks = terms.gang > 0
                           ? terms.gang
                           : static_cast<uint32_t>(draw.chance(30) ? 2 + draw.below(5) : 1);
    if (tasks > 1 && terms.gang == 0 && draw.chance(50)) terms.parallel_max = 2;
    std::vector<int64_t> ran;
    for (uint32_t i = 0; i < tasks; ++i) ran.push_back(1 + draw.below(90));
    const std::string line = line_of(terms, tasks, ran);
    std::istringstream stream(line);
    const auto trace = simulate::read_trace(stream, "past", {});
    ASSERT_TRUE(trace) << "seed " << seed << ": " << trace.error().message << " in " << line;
    const simulate::TraceJob& job = trace->jobs.at(0);
    const core::State nothing;
    const simulate::Fitting fitting(*trace, nothing);
    EXPECT_EQ(fitting.terms(job, {}), terms) << "seed " << seed;
    ASSERT_EQ(job.tasks, tasks) << "seed " << seed;
    for (uint32_t i = 0; i < tasks; ++i) {
      const Duration most = terms.wall.us > 0 ? terms.wall + terms.grace : core::kWallMax;
      EXPECT_EQ(trace->run_of(job, i), std::min(seconds(ran[i]), most)) << "seed " << seed;
    }
  }
}

// What was asked for in parts can be had of the nodes that are imagined for it.
TEST(HistoryAsTrace, FindsRoomForPartsOfDevices) {
  const auto file = spec::parse_platform_file(
      "nodes: [{count: 4, name: n, cpu: 64, devices: {gpu:a100: 4, fpga: 4}}]\n", "p.yaml");
  ASSERT_TRUE(file) << file.error().message;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Draw draw(seed);
    core::Terms terms;
    terms.resources = {1000, 0, {draw.request("gpu")}};
    std::istringstream stream(line_of(terms, 1, {10}));
    const auto trace = simulate::read_trace(stream, "past", {});
    const auto nodes = simulate::nodes_for(*file, *trace);
    const auto state = simulate::build_state(*file, "p.yaml", *nodes, *trace);
    ASSERT_TRUE(state) << state.error().message;
    simulate::Fitting fitting(*trace, *state);
    EXPECT_EQ(fitting.fit(trace->jobs.at(0)).why_not, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace atl::api
