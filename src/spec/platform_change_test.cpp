#include "spec/platform_change.h"

#include "core/test_world.h"
#include "spec/platform_json.h"

namespace atl::spec {
namespace {

PlatformFile parsed(const char* text) {
  auto file = parse_platform_file(text, "f");
  EXPECT_TRUE(file) << file.error().message;
  return file.value_or(PlatformFile{});
}

std::string shown(const std::vector<Change>& changes) {
  std::string out;
  for (const Change& each : changes)
    out += std::string(1, each.sign) + " " + each.kind + " " + each.name + " " + each.field + ": " +
           each.from + " -> " + each.to + "\n";
  return out;
}

class PlatformChange : public testing::Test {
 protected:
  Result<std::vector<Change>> ask(const PlatformFile& file, bool prune = false) {
    return preview(world.state, core::TestWorld::admin(), to_command(file, prune), world.state.now);
  }
  void put(const PlatformFile& file) {
    world.run(core::Request{core::TestWorld::admin(), to_command(file, false)});
  }
  core::TestWorld world;
};

constexpr const char* kText = R"(policy: {half_life: 1d}
cohorts:
  a: {quota: {cpu: 8}}
  b: {parent: a, weight: 2, borrow: {cpu: 1.5, memory: 1Gi, gpu:a100: 2, running: 3}}
namespaces:
  bio: {cohort: b, weight: 0.5, quota: {cpu: 4, memory: 1G, gpu: 1, queued: 10}}
)";

TEST_F(PlatformChange, SaysWhatWouldBeDifferent) {
  const auto changes = ask(parsed(kText));
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(shown(*changes),
            "~ policy  half_life: 7d -> 1d\n"
            "+ cohort a :  -> {quota: {cpu: 8}}\n"
            "+ cohort b :  -> {parent: a, weight: 2, borrow: {cpu: 1.5, memory: 1Gi, gpu:a100: 2, "
            "running: 3}}\n"
            "+ namespace bio :  -> {cohort: b, weight: 0.5, quota: {cpu: 4, memory: 1G, gpu: 1, "
            "queued: 10}, members: {root: admin}}\n");
  EXPECT_TRUE(world.state.cohorts.empty()) << "looking changes nothing";
  put(parsed(kText));
  EXPECT_EQ(shown(*ask(parsed(kText))), "");
  EXPECT_EQ(shown(*ask(parsed("cohorts: {a: {quota: {cpu: 9}}, b: }\n"))),
            "~ cohort a quota: {cpu: 8} -> {cpu: 9}\n"
            "~ cohort b parent: a -> \n"
            "~ cohort b weight: 2 -> \n"
            "~ cohort b borrow: {cpu: 1.5, memory: 1Gi, gpu:a100: 2, running: 3} -> \n");
  EXPECT_EQ(shown(*ask(parsed("policy: {half_life: 1d}\n"), true)),
            "- cohort a : {quota: {cpu: 8}} -> \n"
            "- cohort b : {parent: a, weight: 2, borrow: {cpu: 1.5, memory: 1Gi, gpu:a100: 2, "
            "running: 3}} -> \n"
            "- namespace bio : {cohort: b, weight: 0.5, quota: {cpu: 4, memory: 1G, gpu: 1, "
            "queued: 10}, members: {root: admin}} -> \n"
            "- namespace lab : {members: {root: admin}} -> \n");
}

TEST_F(PlatformChange, WhatIsInForceAppliedAgainChangesNothing) {
  put(parsed(kText));
  const PlatformFile now = in_force(world.state);
  EXPECT_EQ(shown(*ask(now, true)), "");
  const auto text = parse_platform_file(write_platform_file(now), "f");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(shown(*ask(*text, true)), "");
  const auto wish = parse_json<PlatformWish>(to_json(to_wish(now)));
  ASSERT_TRUE(wish) << wish.error().message;
  const auto json = to_platform_file(*wish);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->cohorts, now.cohorts);
  EXPECT_EQ(json->namespaces, now.namespaces);
  EXPECT_EQ(json->policy, now.policy);
}

constexpr const char* kWhen = R"(calendar:
  days: {tier: batch, days: mon-fri, from: 08:00, until: "18:00", share: 0.3}
  ends: {days: [sat, sun], limit: {cpu: 16, gpu: 2}}
reservations:
  course: {from: 2027-01-05T10:00:00Z, until: "2027-01-05T12:00:00+01:00", namespaces: [lab], nodes: 1}
  demo: {from: 2027-01-06T10:00:00Z, until: 2027-01-06T12:00:00Z, namespaces: lab, count: 2, cpu: 0.5, memory: 1Gi, devices: {gpu: 1}}
)";

TEST_F(PlatformChange, TimesAreReadShownAndWrittenBack) {
  world.nodes({core::node("n", 4, int64_t{4} << 30, 2)});
  world.now = *parse_time("2027-01-05T09:00:00Z");
  const auto changes =
      preview(world.state, core::TestWorld::admin(), to_command(parsed(kWhen), false), world.now);
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(
      shown(*changes),
      "+ calendar days :  -> {tier: batch, days: mon-fri, from: \"08:00\", until: \"18:00\", "
      "share: 0.3}\n"
      "+ calendar ends :  -> {tier: batch, days: [sat,sun], from: \"00:00\", until: "
      "\"24:00\", limit: {cpu: 16, gpu: 2}}\n"
      "+ reservation course :  -> {from: \"2027-01-05T10:00:00Z\", until: "
      "\"2027-01-05T11:00:00Z\", namespaces: [lab], nodes: 1}\n"
      "+ reservation demo :  -> {from: \"2027-01-06T10:00:00Z\", until: "
      "\"2027-01-06T12:00:00Z\", namespaces: [lab], count: 2, cpu: 0.5, memory: 1Gi, devices: "
      "{\"gpu\": 1}}\n");
  put(parsed(kWhen));
  const PlatformFile now = in_force(world.state);
  const auto text = parse_platform_file(write_platform_file(now), "f");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(shown(*ask(*text, true)), "");
  const auto wish = parse_json<PlatformWish>(to_json(to_wish(now)));
  ASSERT_TRUE(wish) << wish.error().message;
  const auto json = to_platform_file(*wish);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->calendar, now.calendar);
  EXPECT_EQ(json->reservations, now.reservations);
  EXPECT_EQ(shown(*ask(parsed("calendar: {days: {days: mon, share: 0.3}}"))),
            "~ calendar days days: mon-fri -> mon\n~ calendar days from: \"08:00\" -> \"00:00\"\n"
            "~ calendar days until: \"18:00\" -> \"24:00\"\n");
}

// What was shown beforehand is what the events then do.
TEST_F(PlatformChange, APreviewIsWhatHappens) {
  world.run(core::Request{core::TestWorld::admin(), core::CreateUser{"ada", false, {}}});
  const char* steps[] = {
      kText,
      "cohorts: {b: , a: {parent: b}}\nnamespaces: {bio: {members: {ada: admin}}, new: {cohort: "
      "a}}\n",
      "policy: {ageing: 5m}\ncohorts: {c: }\nnamespaces: {new: {cohort: c, quota: {cpu: 1}}}\n"};
  for (const char* text : steps) {
    const auto command = to_command(parsed(text), text == steps[2]);
    const auto shown_first =
        preview(world.state, core::TestWorld::admin(), command, world.state.now);
    ASSERT_TRUE(shown_first) << shown_first.error().message;
    EXPECT_FALSE(shown_first->empty());
    const PlatformFile before = in_force(world.state);
    world.run(core::Request{core::TestWorld::admin(), command});
    EXPECT_EQ(shown(*shown_first), shown(difference(before, in_force(world.state))));
  }
}

TEST_F(PlatformChange, WeightsAreHeldToTheirBoundsAsTheyWereWritten) {
  for (const char* weight : {"0", "-1", "5000000", "\"heavy\""}) {
    const auto wish = parse_json<PlatformWish>(std::string(R"({"cohorts":[{"name":"a","weight":)") +
                                               weight + "}]}");
    ASSERT_FALSE(wish) << weight;
    EXPECT_EQ(wish.error().field, "cohorts[0].weight");
    EXPECT_NE(wish.error().message.find("a number from 0.001 to 1000000"), std::string::npos)
        << wish.error().message;
  }
  EXPECT_TRUE(parse_json<NamespaceChange>(R"({"weight":0.001})"));
}

TEST_F(PlatformChange, ARefusalNamesThePlaceInTheFile) {
  const PlatformFile file = parsed(
      "cohorts:\n  a:\n    quota: {cpu: 1}\nnamespaces:\n  bio:\n"
      "    cohort: a\n    quota: {cpu: 2}\n");
  const auto changes = ask(file);
  ASSERT_FALSE(changes);
  EXPECT_EQ(file.place_of(changes.error().field), "3:12");
  PlatformWish wish;
  NamedNamespace bio;
  bio.name = "bio";
  bio.members.emplace()["ada"] = "owner";
  wish.namespaces = {bio};
  EXPECT_EQ(to_platform_file(wish).error().field, "namespaces[0].members.ada");
}

}  // namespace
}  // namespace atl::spec
