#include "cli/outlook.h"

#include "cli/exit.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::has;
using testing::Ran;
using testing::TestServer;

constexpr const char* kWaits =
    R"({"id":"12","state":"waiting","reason":"capacity","sentence":"waiting for 1 gpu:a100, free by 2026-01-05T14:20:00Z",
"waits_for":[],"until":null,"position":3,"resource":"gpu:a100","asked":1,"in_use":4,"limit":4,
"held_by":[{"namespace":"chem","amount":4,"borrowed":2,"since":"2026-01-05T09:00:00Z",
"until":"2026-01-05T14:20:00Z"}],"starts_by":"2026-01-05T14:20:00Z",
"expected_start":{"expected":"2026-01-05T14:00:00Z","earliest":"2026-01-05T13:30:00Z",
"latest":"2026-01-05T14:10:00Z","not_before":null,"rough":false},
"alternatives":[{"change":"--gpus v100:1","starts":"now"},
{"change":"--tier interactive","starts":"now","yields":2},
{"change":"--cpus 2","starts":"2026-01-05T13:40:00Z"},{"change":"--cpus 1","starts":null}]})";

// The tests' own zone is whatever the machine's is.
std::string clock_of(const char* rfc3339) { return show_clock(rfc3339); }

TEST(ExplainVerb, SaysWhoHasItWhenItStartsAndWhatWouldStartSooner) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}/explain", kWaits);
  server.start();
  const Ran ran = server.run({"explain", "12"});
  EXPECT_EQ(ran.code, kExitOk) << ran.err;
  EXPECT_TRUE(has(ran.out, "chem has 4, 2 of it borrowed, since " +
                               clock_of("2026-01-05T09:00:00Z") + ", until " +
                               clock_of("2026-01-05T14:20:00Z") + " at the latest"))
      << ran.out;
  EXPECT_TRUE(has(ran.out, "to start about " + clock_of("2026-01-05T14:00:00Z") + ", between " +
                               clock_of("2026-01-05T13:30:00Z") + " and " +
                               clock_of("2026-01-05T14:10:00Z")))
      << ran.out;
  EXPECT_TRUE(has(ran.out, "would start now ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "--gpus v100:1")) << ran.out;
  EXPECT_TRUE(has(ran.out, "would start about " + clock_of("2026-01-05T13:40:00Z"))) << ran.out;
  EXPECT_TRUE(has(ran.out, "--tier interactive (2 runs make room)")) << ran.out;
  EXPECT_TRUE(has(ran.out, "could start ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "waiting for 1 gpu:a100, free by " + clock_of("2026-01-05T14:20:00Z")))
      << ran.out;
}

TEST(ExplainVerb, AsksAboutOneTask) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}/explain", kWaits);
  server.start();
  EXPECT_EQ(server.run({"explain", "12[3]"}).code, kExitOk);
  EXPECT_TRUE(has(server.requests().back(), "12%5B3%5D/explain") ||
              has(server.requests().back(), "12[3]/explain"))
      << server.requests().back();
}

TEST(SubmitVerb, ADryRunNamesAllNodesAndTheRest) {
  TestServer server;
  server.on("GET", "/api/v1/whoami", R"({"user":"ada","namespaces":{"lab":"member"}})");
  server.on("POST", "/api/v1/jobs",
            R"({"jobs":[{"starts":"now","site":"local","node":"n1","tasks":6,"tasks_now":3,
"places":[{"site":"local","node":"n1","tasks":1},{"site":"local","node":"n2","tasks":2}],
"rest":{"tasks":3,"first":"2026-01-05T14:00:00Z","last":"2026-01-05T15:00:00Z","rough":false},
"reason":null,"sentence":null,"starts_by":null,"expected_start":null,"alternatives":[]}],
"warnings":["only the first 10 are explained"]})");
  server.start();
  const Ran ran = server.run({"submit", "--dry-run", "--array", "1-6", "--", "true"});
  EXPECT_TRUE(has(ran.out, "3 of 6 tasks now on local/n1, local/n2 (2 tasks)")) << ran.out;
  EXPECT_TRUE(has(ran.out, "3 tasks from about " + clock_of("2026-01-05T14:00:00Z") +
                               " on, the last about " + clock_of("2026-01-05T15:00:00Z")))
      << ran.out;
  EXPECT_EQ(ran.err, "warning: only the first 10 are explained\nnothing was submitted\n");
}

TEST(SubmitVerb, ADryRunSaysWhereAndWhen) {
  TestServer server;
  server.on("GET", "/api/v1/whoami", R"({"user":"ada","namespaces":{"lab":"member"}})");
  server.on("POST", "/api/v1/jobs",
            R"({"jobs":[{"starts":"now","site":"local","node":"n1","tasks":1,"tasks_now":1,
"places":[{"site":"local","node":"n1","tasks":1}],"rest":null,"reason":null,"sentence":null,"starts_by":null,"expected_start":null,"alternatives":[]}],
"warnings":[]})");
  server.start();
  const Ran ran = server.run({"submit", "--dry-run", "--", "true"});
  EXPECT_EQ(ran.code, kExitOk) << ran.err;
  EXPECT_TRUE(has(ran.out, "now on local/n1")) << ran.out;
  EXPECT_TRUE(has(ran.err, "nothing was submitted")) << ran.err;
  EXPECT_TRUE(server.requests().back().starts_with("POST /api/v1/jobs?dry_run=true {"));
  EXPECT_EQ(server.run({"submit", "--dry-run", "-q", "--", "true"}).out, "now\n");
  const Ran programs = server.run({"submit", "--dry-run", "-o", "json", "--", "true"});
  EXPECT_TRUE(has(programs.out, "\"starts\": \"now\"")) << programs.out;
}

TEST(SubmitVerb, ADryRunOfWhatIsSkippedNeverStarts) {
  TestServer server;
  server.on("GET", "/api/v1/whoami", R"({"user":"ada","namespaces":{"lab":"member"}})");
  server.on("POST", "/api/v1/jobs",
            R"({"jobs":[{"starts":null,"tasks":1,"tasks_now":0,"places":[],"reason":"skipped",
"sentence":"it would never start, but be skipped: job 3 ended as cancelled"}],"warnings":[]})");
  server.start();
  const std::string out = server.run({"submit", "--dry-run", "--after", "3", "--", "true"}).out;
  EXPECT_TRUE(has(out, "never")) << out;
  EXPECT_TRUE(has(out, "job 3 ended as cancelled")) << out;
  EXPECT_EQ(server.run({"submit", "--dry-run", "-q", "--", "true"}).out, "-\n");
}

TEST(SubmitVerb, PrintShowsTheRequestAndAsksNobody) {
  const Ran ran = testing::run_offline({"submit", "--print", "-o", "json", "--", "true"});
  EXPECT_EQ(ran.code, kExitOk) << ran.err;
  EXPECT_TRUE(has(ran.out, "\"command\"")) << ran.out;
}

TEST(ShownStart, SaysWhatIsNotKnown) {
  const auto shown = [](const char* json) { return shown_start(*Json::parse(json)); };
  EXPECT_EQ(shown("null"), "");
  EXPECT_EQ(shown(R"({"expected":null,"not_before":"2026-01-05T14:00:00Z","rough":false})"),
            "nobody can tell when");
  EXPECT_TRUE(has(shown(R"({"expected":null,"not_before":"2026-01-05T14:00:00Z","rough":true})"),
                  "to start after 2026-01-05"));
  EXPECT_TRUE(has(shown(R"({"expected":"2026-01-05T14:00:00Z","earliest":"2026-01-05T13:00:00Z",
"latest":null,"not_before":"2026-01-05T12:00:00Z","rough":true})"),
                  "perhaps much later"));
}

}  // namespace
}  // namespace atl::cli
