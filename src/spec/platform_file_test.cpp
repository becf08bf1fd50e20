#include "spec/platform_file.h"

#include <gtest/gtest.h>

#include <regex>

namespace atl::spec {
namespace {

constexpr const char* kWhole = R"(policy: {half_life: 7d, ageing: 30m}
cohorts:
  institute: {quota: {cpu: 128, memory: 512G, "gpu": 8}}
  physics: {parent: institute, weight: 2, quota: {cpu: 64, gpu:a100: 2}, borrow: {cpu: 16}}
  empty:
namespaces:
  bio:
    cohort: physics
    weight: 0.5
    quota: {cpu: 32, running: 100, queued: 1000}
    borrow: {gpu: 2}
    members: {ada: admin, bob: member}
nodes:
  - {count: 10, name: gpu, cpu: 64, memory: 256Gi, devices: {gpu:a100: 8}}
)";

TEST(PlatformFile, ReadsEverythingItDocuments) {
  const auto file = parse_platform_file(kWhole, "p.yaml");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->policy->half_life, hours(24 * 7));
  EXPECT_EQ(file->policy->ageing, minutes(30));
  ASSERT_EQ(file->cohorts.size(), 3u);
  EXPECT_EQ(file->cohorts[0].quota.memory_bytes, 512'000'000'000);
  const CohortEntry& physics = file->cohorts[1];
  EXPECT_EQ(physics.parent, "institute");
  EXPECT_EQ(physics.weight_milli, 2000u);
  EXPECT_EQ(physics.quota.devices.at("gpu:a100"), 2u);
  EXPECT_EQ(physics.borrow.cpu_milli, 16000);
  EXPECT_EQ(file->cohorts[2], CohortEntry{.name = "empty"});
  const NamespaceEntry& bio = file->namespaces.at(0);
  EXPECT_EQ(bio.cohort, "physics");
  EXPECT_EQ(bio.weight_milli, 500u);
  EXPECT_EQ(bio.quota.queued, 1000u);
  EXPECT_EQ(bio.members->at("bob"), core::Role::member);
  EXPECT_EQ(file->nodes.at(0).devices.at("gpu:a100"), 8u);
}

TEST(PlatformFile, KnowsThePlaceOfAFieldOrOfWhatEnclosesIt) {
  const auto file = parse_platform_file(kWhole, "p.yaml");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->place_of("cohorts[1].parent"), "4:21");
  EXPECT_EQ(file->place_of("namespaces[0].quota.cpus"), "10:12");
  EXPECT_EQ(file->place_of("namespaces[0].members.bob"), "12:27");
  EXPECT_EQ(file->place_of("namespaces[7].quota"), "7:3");
  EXPECT_EQ(file->place_of("nothing"), "");
}

TEST(PlatformFile, WrittenAndReadAgainIsTheSame) {
  const auto file = parse_platform_file(kWhole, "p.yaml");
  ASSERT_TRUE(file);
  const std::string text = write_platform_file(*file);
  const auto again = parse_platform_file(text, "again.yaml");
  ASSERT_TRUE(again) << again.error().message << "\n" << text;
  EXPECT_EQ(again->cohorts, file->cohorts) << text;
  EXPECT_EQ(again->namespaces, file->namespaces);
  EXPECT_EQ(again->nodes, file->nodes);
  EXPECT_EQ(again->policy, file->policy);
  EXPECT_EQ(write_platform_file(*again), text);
}

TEST(PlatformFile, NamesThatYamlTakesForSomethingElseSurvive) {
  PlatformFile file;
  file.cohorts.push_back({.name = "null", .parent = "7"});
  file.namespaces.push_back(
      {.name = "true", .cohort = "null", .members = {{{"no", core::Role::admin}}}});
  file.namespaces.back().quota.memory_bytes = 1'234'567'891;
  const auto again = parse_platform_file(write_platform_file(file), "f");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->cohorts, file.cohorts);
  EXPECT_EQ(again->namespaces, file.namespaces);
}

TEST(PlatformFile, AnEmptyFileSaysNothing) {
  for (const char* text : {"", "# later\n", "---\n", "policy: {}\n"}) {
    const auto file = parse_platform_file(text, "f");
    ASSERT_TRUE(file) << text << file.error().message;
    EXPECT_TRUE(file->cohorts.empty());
  }
}

// "f:2:7: what" -> "f:2: what".
std::string without_column(const std::string& message) {
  return std::regex_replace(message, std::regex("^(f:[0-9]+):[0-9]+: "), "$1: ");
}

TEST(PlatformFile, EveryMistakeIsNamedWithItsLineAndWhatToWrite) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"cohort: {}\n", "f:1: unknown key \"cohort\"; did you mean cohorts?"},
      {"cohorts: {}\nreservation: {}\n",
       "f:2: unknown key \"reservation\"; did you mean reservations?"},
      {"calendar:\n  d: {share: 2}\n", "f:2: a share is a number from 0 to 1, such as 0.3"},
      {"calendar:\n  d: {days: workdays, share: 0}\n", "f:2: \"workdays\" names no days"},
      {"calendar:\n  d: {from: 8am, share: 0}\n", "f:2: \"8am\" is not a time of the day"},
      {"calendar:\n  d: {tier: night, share: 0}\n", "f:2: \"night\" is not a tier: write"},
      {"calendar:\n  d:\n", "f:2: an entry needs a share or a limit"},
      {"reservations:\n  r: {from: tomorrow 10:00}\n", "f:2: \"tomorrow 10:00\" is not a date"},
      {"reservations:\n  r: {nodes: 1}\n", "f:2: a reservation needs a beginning, an end and"},
      {"reservations:\n  r:\n", "f:2: a reservation needs a beginning, an end and"},
      {"reservations:\n  r: {from: 2027-01-05 10:00, until: 2027-01-05 12:00}\n",
       "f:2: a reservation needs a beginning, an end and whom it is for"},
      {"reservations:\n  r: {from: 2027-01-05 10:00, until: 2027-01-05 12:00, namespaces: n}\n",
       "f:2: how much? say nodes: 1"},
      {"reservations:\n  r: {from: 2027-01-05 10:00, until: 2027-01-05 12:00, namespaces: n, "
       "nodes: 1, cpu: 2}\n",
       "f:2: say either nodes"},
      {"cohorts:\n  a: {wieght: 2}\n", "f:2: unknown key \"wieght\"; did you mean weight?"},
      {"cohorts:\n  a:\n    weight: 0\n", "f:3: a weight is a number from 0.001 to 1000000"},
      {"cohorts:\n  a:\n    weight: -1\n", "f:3: a weight is a number from"},
      {"cohorts:\n  a:\n    weight: heavy\n", "f:3: a weight is a number from"},
      {"cohorts:\n  a: {quota: {cpus: 2}}\n", "f:2: unknown key \"cpus\"; write cpu"},
      {"cohorts:\n  a: {quota: {memroy: 2G}}\n",
       "f:2: unknown key \"memroy\"; did you mean memory?"},
      {"cohorts:\n  a: {quota: {devices: {gpu: 1}}}\n", "f:2: \"devices\" does not belong in here"},
      {"cohorts:\n  a: {quota: {queued: 2}}\n", "f:2: queued jobs are limited by namespace"},
      {"cohorts:\n  a: {quota: {cpu: many}}\n", "f:2: \"many\" is not a number of cores"},
      {"cohorts:\n  a: {quota: {gpu: 1.5}}\n", "f:2: expected a whole number from 0"},
      {"cohorts:\n  a: {quota: {gpu:a:b: 1}}\n", "f:2: \"gpu:a:b\" is neither cpu"},
      {"cohorts:\n  a: {quota: 5}\n", "f:2: expected a mapping"},
      {"cohorts:\n  a: {}\n  a: {}\n", "f:3: \"a\" stands here twice; keep one of them"},
      {"cohorts:\n  Big Name: {}\n", "f:2: cohort \"Big Name\" must be"},
      {"namespaces:\n  n: {members: {ada: owner}}\n",
       "f:2: \"owner\" is not a role: write viewer, member or admin"},
      {"namespaces:\n  n:\n    members: {ada: member}\n",
       "f:3: somebody must look after the namespace"},
      {"policy: {half_life: 1s}\n", "f:1: half_life must be between 1m and"},
      {"policy: {half_life: soon}\n", "f:1: \"soon\" is not a duration"},
      {"nodes: {cpu: 1}\n", "f:1: expected a list"},
      {"nodes:\n  - {cpu: 1}\n", "f:2: a node needs a name"},
      {"nodes:\n  - {name: a}\n", "f:2: a node needs cores"},
      {"nodes:\n  - {name: a, cpu: 1, count: 90000}\n  - {name: b, cpu: 1, count: 90000}\n",
       "f:3: more than 100000 nodes"},
      {"cohorts: [a\n", "f:2: "},
      {"- a\n", "f:1: expected a mapping"},
      {"cohorts: {}\n---\ncohorts: {}\n", "f:2: the file should end here"},
      {"cohorts: {}\n}\nnamespaces: {}\n", "f:2: expected a key here"},
      {" ,\x14"
       "d age{hna",
       "f:1: "},
      {"cohorts: [[[[[[[[[[[[[[[[[[[[\n", "f:1: nested too deep"},
      {"policy: {ageing: \xff}\n", "f is not UTF-8 text"},
  };
  for (const auto& [text, message] : cases) {
    const auto file = parse_platform_file(text, "f");
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(without_column(file.error().message).substr(0, std::string(message).size()), message);
  }
}

TEST(PlatformFile, ASectionWithNothingInItIsAsGoodAsNone) {
  const auto file = parse_platform_file("cohorts:\nnamespaces:\n  n:\ncalendar:\n", "f");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->cohorts.empty());
  EXPECT_EQ(file->namespaces.size(), 1u);
}

// Aliases are fine as long as they stay small; each of these would otherwise take for ever.
TEST(PlatformFile, WhatAliasesAndDepthCanDoIsBounded) {
  const auto shared = parse_platform_file("cohorts:\n  a: &a {weight: 2}\n  b: *a\n", "f");
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_EQ(shared->cohorts[1].weight_milli, 2000u);

  std::string bomb = "namespaces:\n  n: &n {members: &m {ada: admin";
  for (int i = 0; i < 5000; ++i) bomb += ", u" + std::to_string(i) + ": member";
  bomb += "}}\n";
  for (int i = 0; i < 5000; ++i) bomb += "  n" + std::to_string(i) + ": *n\n";
  EXPECT_FALSE(parse_platform_file(bomb, "f"));
  EXPECT_FALSE(parse_platform_file("cohorts: &x {a: *x}\n", "f"));
  EXPECT_FALSE(parse_platform_file("cohorts: " + std::string(100'000, '['), "f"));
  EXPECT_FALSE(parse_platform_file("cohorts: " + std::string(100'000, '{'), "f"));
  EXPECT_FALSE(parse_platform_file(std::string(2 << 20, '#'), "f"));
  EXPECT_FALSE(parse_platform_file("<<: *nobody\n", "f"));
}

}  // namespace
}  // namespace atl::spec
