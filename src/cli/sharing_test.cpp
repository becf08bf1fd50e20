// Cohorts, weights, tiers, fair shares, and files of them, against a scripted server.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/amounts.h"
#include "cli/exit.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::has;
using testing::json;
using testing::Ran;
using testing::run_offline;
using testing::TestServer;

TEST(Amounts, AreWrittenAsInThePlatformFile) {
  const auto quota = parse_amounts({"cpu=1.5,memory=1Gi", "gpu:a100=2", "running=3", "gpu=0"});
  ASSERT_TRUE(quota) << quota.error().message;
  EXPECT_EQ(quota->cpu_milli, 1500);
  EXPECT_EQ(quota->memory_bytes, 1 << 30);
  EXPECT_EQ(quota->devices.at("gpu:a100"), 2u);
  EXPECT_EQ(quota->devices.at("gpu"), 0u);
  EXPECT_EQ(quota->running, 3u);
  for (const char* bad : {"cpu", "cpu=", "cpu=-1", "gpu=1.5", "gpu=x", "=1", "Gpu=1", "a:B=1", ""})
    EXPECT_FALSE(parse_amounts({bad})) << bad;
  EXPECT_TRUE(has(parse_amounts({"cpus=4"}).error().message, "write cpu"));
  EXPECT_TRUE(has(parse_amounts({"gpu=99999999999"}).error().message,
                  "is too large; leave it out for no limit"));
  for (const char* twice :
       {"cpu=1,cpu=2", "memory=1Gi,memory=1Gi", "gpu=1,gpu=1", "running=1,running=2"})
    EXPECT_TRUE(has(parse_amounts({twice}).error().message, "is named twice")) << twice;
}

TEST(Ns, WeightCohortAndBorrowChangeWhatTheyNameOnly) {
  TestServer server;
  server.on("PATCH", "/api/v1/namespaces/{namespace}", R"({"name":"bio"})");
  server.start();
  const auto sent = [&](std::vector<std::string> args) {
    const Ran ran = server.run(std::move(args));
    EXPECT_EQ(ran.code, kExitOk) << ran.err;
    return server.requests().back().substr(sizeof "PATCH /api/v1/namespaces/bio");
  };
  EXPECT_EQ(sent({"ns", "weight", "bio", "0.5"}), R"({"weight":0.5})");
  EXPECT_EQ(sent({"ns", "cohort", "bio", "physics"}), R"({"cohort":"physics"})");
  EXPECT_EQ(sent({"ns", "cohort", "bio", "--none"}), R"({"cohort":""})");
  EXPECT_EQ(sent({"ns", "borrow", "bio", "cpu=2", "gpu:a100=1"}),
            R"({"borrow":{"cpus":2,"devices":{"gpu:a100":1}}})");
  EXPECT_EQ(sent({"ns", "borrow", "bio", "--all"}), R"({"borrow":{}})");
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"ns", "weight", "bio", "0"},
                                             {"ns", "weight", "bio", "heavy"},
                                             {"ns", "weight", "bio", "500m"},
                                             {"ns", "cohort", "bio"},
                                             {"ns", "cohort", "bio", "a", "--none"},
                                             {"ns", "borrow", "bio"},
                                             {"ns", "borrow", "bio", "cpu=1", "--all"}}) {
    EXPECT_EQ(server.run(bad).code, kExitUsage) << bad[1];
  }
  for (const char* weight : {"0", "1000001", "-2"})
    EXPECT_TRUE(has(server.run({"ns", "weight", "bio", "--", weight}).err, "from 0.001 to 1000000"))
        << weight;
}

TEST(Ns, QuotaReplacesAllOfItAndSaysWhatIsInForce) {
  TestServer server;
  server.on("PUT", "/api/v1/namespaces/{namespace}/quota",
            R"({"name":"bio","quota":{"cpus":4,"devices":{"gpux":1}},)"
            R"("warnings":["no node has \"gpux\" at present; there are gpu"]})");
  server.start();
  const Ran set = server.run({"ns", "quota", "bio", "--cpus", "4", "--device", "gpux=1"});
  EXPECT_EQ(set.out, "the quota of bio is cpu 4, gpux 1; nothing else is limited\n");
  EXPECT_TRUE(has(set.err, "warning: no node has \"gpux\" at present; there are gpu")) << set.err;
  EXPECT_TRUE(has(run_offline({"ns", "quota", "--help"}).out, "It replaces the whole quota"));
  EXPECT_TRUE(has(run_offline({"cohort", "set", "--help"}).out, "left out stays as it is"));
  const auto refusal = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"ns", "quota", "bio"});
    const Ran ran = server.run(std::move(args));
    EXPECT_EQ(ran.code, kExitUsage);
    return ran.err;
  };
  EXPECT_TRUE(has(refusal({"--queued", "0"}),
                  "--queued is \"0\"; it must be a whole number of at "
                  "least 1"));
  EXPECT_TRUE(has(refusal({"--running", "-1"}), "at least 0"));
  EXPECT_TRUE(has(refusal({"--device", "gpu=1", "--device", "gpu=2"}), "\"gpu\" is named twice"));
  EXPECT_TRUE(has(refusal({"--device", "gpu=1,gpu=2"}), "\"gpu\" is named twice"));
}

constexpr const char* kCohorts = R"({"cohorts":[
{"name":"institute","parent":null,"depth":0,"weight":1,"quota":{"cpus":8,"devices":{"gpu":2}},"nominal":{"cpus":8,"devices":{"gpu":2}},"borrow":{},"in_use":{"cpus":6,"memory":0,"devices":{"gpu":1},"running":3},"borrowed":{},"cohorts":["physics"],"namespaces":[]},
{"name":"physics","parent":"institute","depth":1,"weight":2,"quota":{},"nominal":{"cpus":4},"borrow":{"cpus":2},"in_use":{"cpus":5,"memory":0,"devices":{},"running":2},"borrowed":{"cpus":1},"cohorts":[],"namespaces":["bio","chem"]}]})";

TEST(Cohort, IsShownAsATreeWithTheUseOfItsQuota) {
  TestServer server;
  server.on("GET", "/api/v1/cohorts", kCohorts);
  server.start();
  const std::string out = server.run({"cohort", "list"}).out;
  EXPECT_TRUE(has(out, "institute ")) << out;
  EXPECT_TRUE(has(out, "  physics ")) << out;
  EXPECT_TRUE(has(out, "5 of 4")) << out;
  EXPECT_TRUE(has(out, "gpu 1 of 2")) << out;
  EXPECT_TRUE(has(out, "cpu 1")) << out;
  EXPECT_TRUE(has(out, "bio, chem")) << out;
  EXPECT_EQ(server.run({"cohort", "list", "-q"}).out, "institute\nphysics\n");
}

TEST(Cohort, SetSendsOnlyWhatIsNamed) {
  TestServer server;
  server.on("PUT", "/api/v1/cohorts/{cohort}", R"({"name":"physics"})");
  server.start();
  const auto sent = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"cohort", "set", "physics"});
    const Ran ran = server.run(std::move(args));
    EXPECT_EQ(ran.code, kExitOk) << ran.err;
    return server.requests().back().substr(sizeof "PUT /api/v1/cohorts/physics");
  };
  EXPECT_EQ(sent({}), "{}");
  EXPECT_EQ(sent({"--parent", "institute", "--weight", "2", "--quota", "cpu=64,gpu:a100=2",
                  "--quota", "memory=1Ki"}),
            R"({"parent":"institute","weight":2,"quota":{"cpus":64,"memory":1024,)"
            R"("devices":{"gpu:a100":2}}})");
  EXPECT_EQ(sent({"--no-parent", "--quota", "none", "--borrow", "all"}),
            R"({"parent":"","quota":{},"borrow":{}})");
  EXPECT_EQ(server.run({"cohort", "set", "physics", "--weight", "0"}).code, kExitUsage);
  EXPECT_TRUE(has(server.run({"cohort", "set", "physics", "--quota", "cpu=1,cpu=2"}).err,
                  "\"cpu\" is named twice; keep one of them"));
  EXPECT_EQ(server.run({"cohort", "set", "physics", "--quota", "many"}).code, kExitUsage);
  EXPECT_EQ(server.run({"cohort", "set", "a", "--parent", "b", "--no-parent"}).code, kExitUsage);
}

TEST(Cohort, SetSaysAllThatIsInForce) {
  TestServer server;
  server.on("PUT", "/api/v1/cohorts/{cohort}",
            R"({"name":"physics","parent":"institute","weight":2,"quota":{"cpus":4},"borrow":{}})");
  server.start();
  EXPECT_EQ(server.run({"cohort", "set", "physics", "--weight", "2"}).out,
            "set cohort physics: in institute, weight 2, quota cpu 4, may borrow all that is "
            "left\n");
}

constexpr const char* kPolicy = R"({"half_life":"7d","ageing":"1h","tiers":[
{"name":"interactive","meaning":"first","yields":false,"running":1,"waiting":0},
{"name":"opportunistic","meaning":"last","yields":true,"running":0,"waiting":5}]})";

TEST(Tier, ShowsTheOrderAndChangesThePolicy) {
  TestServer server;
  server.on("GET", "/api/v1/policy", kPolicy);
  server.on("PATCH", "/api/v1/policy", kPolicy);
  server.start();
  const std::string out = server.run({"tier"}).out;
  EXPECT_TRUE(has(out, "opportunistic        0        5  last")) << out;
  EXPECT_TRUE(has(out, "7d: past use")) << out;
  EXPECT_EQ(server.run({"tier", "-q"}).out, "interactive\nopportunistic\n");
  EXPECT_EQ(server.run({"tier", "--half-life", "2d"}).code, kExitOk);
  EXPECT_EQ(server.requests().back(), R"(PATCH /api/v1/policy {"half_life":"2d"})");
  EXPECT_EQ(server.run({"tier", "--ageing", "soon"}).code, kExitUsage);
}

TEST(Fair, IsATreeInOrderOfStanding) {
  TestServer server;
  server.on("GET", "/api/v1/fair", R"({"tier":"batch","half_life":"7d","truncated":false,"rows":[
{"kind":"namespace","name":"bio","path":"bio","depth":0,"weight":1,"share":0.25,"uses":0.5,"lately":0.125,"standing":0.625,"most":"cpu","in_use":{"cpus":2,"memory":0,"devices":{}}},
{"kind":"user","name":"ada","path":"bio/ada","depth":1,"weight":1,"share":0.25,"uses":0.5,"lately":0.125,"standing":0.625,"most":"gpu","in_use":{"cpus":2,"memory":0,"devices":{"gpu":1.5}}}]})");
  server.start();
  const std::string out = server.run({"fair"}).out;
  EXPECT_TRUE(has(out, "bio    namespace")) << out;
  EXPECT_TRUE(has(out, "  ada  user")) << out;
  EXPECT_TRUE(has(out, "25.0%  50.0%   12.5%     62.5%  cpu 2\n")) << out;
  EXPECT_TRUE(has(out, "62.5%  gpu 1.5, cpu 2\n")) << out;
  const std::string help = run_offline({"fair", "--help"}).out;
  EXPECT_TRUE(has(help, "  atoll fair -o json\n\nSHARE is what the weight gives")) << help;
  EXPECT_EQ(server.run({"fair", "-q", "--tier", "service"}).out, "bio\nbio/ada\n");
  EXPECT_EQ(server.requests().back(), "GET /api/v1/fair?tier=service");
}

class ApplyVerb : public ::testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(file) << text; }
  void TearDown() override { std::filesystem::remove(file); }
  const std::string file = ::testing::TempDir() + "/apply_verb.yaml";
};

constexpr const char* kChanges = R"({"applied":false,"changes":[
{"change":"add","kind":"cohort","name":"a","field":"","from":null,"to":"{weight: 2}"},
{"change":"change","kind":"namespace","name":"bio","field":"quota","from":"{cpu: 1}","to":null},
{"change":"change","kind":"cohort","name":"c","field":"quota","from":"{cpu: 1}","to":null},
{"change":"remove","kind":"cohort","name":"b","field":"","from":"{}","to":null}],
"warnings":["no node has \"gpux\" at present"]})";

TEST_F(ApplyVerb, ShowsTheDifferenceBeforeItApplies) {
  TestServer server;
  server.on("PATCH", "/api/v1/platform", kChanges);
  server.start();
  write("cohorts: {a: {weight: 2}}\nnamespaces: {bio: }\n");
  const Ran dry = server.run({"apply", "-f", file, "--dry-run"});
  EXPECT_EQ(dry.code, kExitOk) << dry.err;
  EXPECT_EQ(dry.out,
            "+ cohort a {weight: 2}\n~ namespace bio quota: {cpu: 1} -> no limits\n"
            "~ cohort c quota: {cpu: 1} -> the sum of its members'\n"
            "- cohort b {}\n4 changes; nothing was applied\n");
  EXPECT_TRUE(has(dry.err, "warning: no node has \"gpux\"")) << dry.err;
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0],
            R"(PATCH /api/v1/platform?dry_run=true {"cohorts":[{"name":"a","weight":2}],)"
            R"("namespaces":[{"name":"bio"}]})");
  EXPECT_TRUE(has(server.run({"apply", "-f", file}).err, "Say --yes"));
  const Ran done = server.run({"apply", "-f", file, "--yes", "--prune", "--color", "always"});
  EXPECT_TRUE(has(done.out, "applied 4 changes\n")) << done.out;
  EXPECT_TRUE(has(done.out, "\x1b[")) << done.out;
  EXPECT_TRUE(server.requests().back().starts_with("PATCH /api/v1/platform?prune=true {"));
  const Ran programs = server.run({"apply", "-f", file, "--yes", "-o", "json"});
  EXPECT_TRUE(has(programs.out, "\"changes\": [")) << programs.out;
}

TEST_F(ApplyVerb, NothingToChangeIsSaid) {
  TestServer server;
  server.on("PATCH", "/api/v1/platform", R"({"applied":false,"changes":[]})");
  server.start();
  write("cohorts: {a: }\n");
  EXPECT_EQ(server.run({"apply", "-f", file}).out, "nothing to change\n");
}

TEST_F(ApplyVerb, ARefusalNamesTheLineOfTheFile) {
  TestServer server;
  server.on("PATCH", "/api/v1/platform",
            R"({"code":"conflict","detail":"too much","field":"cohorts[1].quota.cpus"})", 409);
  server.start();
  write("cohorts:\n  a: {}\n  b:\n    quota: {cpu: 4}\n");
  const Ran ran = server.run({"apply", "-f", file, "--yes"});
  EXPECT_NE(ran.code, kExitOk);
  EXPECT_TRUE(has(ran.err, file + ":4:12: too much")) << ran.err;
  write("cohorts: {a: }\nnodes:\n  - {name: n, cpu: 1}\n");
  EXPECT_TRUE(has(server.run({"apply", "-f", file}).err, ":3:3: nodes are for `atoll simulate`"));
  write("cohorts: {a: {weight: 0}}\n");
  EXPECT_TRUE(has(server.run({"apply", "-f", file}).err, ":1:23: a weight is a number from"));
  EXPECT_TRUE(has(run_offline({"apply", "-f", "/none"}).err, "cannot read /none: No such file"));
  EXPECT_EQ(run_offline({"apply"}).code, kExitUsage);
}

TEST(Export, IsAFileForApply) {
  TestServer server;
  server.on("GET", "/api/v1/platform",
            R"({"policy":{"half_life":"7d","ageing":"1h"},"cohorts":[{"name":"a","weight":2}],)"
            R"("namespaces":[{"name":"bio","cohort":"a","members":{"ada":"admin"}}]})");
  server.start();
  const std::string out = server.run({"export"}).out;
  EXPECT_TRUE(has(out,
                  "\npolicy: {half_life: 7d, ageing: 1h}\ncohorts:\n  a:\n    weight: 2\n"
                  "namespaces:\n  bio:\n    cohort: a\n    members: {ada: admin}\n"))
      << out;
  EXPECT_EQ(server.run({"export", "-o", "yaml"}).out, out);
  EXPECT_TRUE(has(server.run({"export", "-o", "json"}).out, "\"half_life\": \"7d\""));
}

}  // namespace
}  // namespace atl::cli
