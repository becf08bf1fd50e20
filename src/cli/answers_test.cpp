// What verbs answer to people and to programs, against a scripted server.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/selectors.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::has;
using testing::json;
using testing::Ran;
using testing::run_offline;
using testing::TestServer;

TEST(Selectors, NameAttemptsAndTasksOfTheLastJob) {
  EXPECT_EQ(parse_wanted("9.1")->id, "9");
  EXPECT_EQ(parse_wanted("9.1")->attempt, "1");
  EXPECT_EQ(parse_wanted("12[7].2")->id, "12[7]");
  EXPECT_EQ(parse_wanted("12[7].2")->attempt, "2");
  EXPECT_EQ(parse_wanted("last[7]")->kind, Wanted::Kind::last);
  EXPECT_EQ(parse_wanted("last[7].3")->id, "[7]");
  EXPECT_EQ(parse_wanted("last[7].3")->attempt, "3");
  for (const char* bad :
       {"9.", "9.0", "9.x", "9.1.2", ".1", "last[x]", "last[", "lasts", "last7", "all.1", "9.-1"})
    EXPECT_FALSE(parse_wanted(bad)) << bad;
}

TEST(Selectors, VerbsForJobsRefuseAnAttemptAndSayWhatToWrite) {
  TestServer server;
  server.start();
  const Ran ran = server.run({"cancel", "12[7].2"});
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_TRUE(has(ran.err, "names one attempt")) << ran.err;
  EXPECT_TRUE(has(ran.err, "write 12[7]\n")) << ran.err;
}

TEST(Logs, OfAnAttemptAndOfATaskOfTheLastJob) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}/logs", "");
  server.on("GET", "/api/v1/jobs", R"({"jobs":[{"id":"31"}]})");
  server.start();
  EXPECT_EQ(server.run({"logs", "--stdout", "12[7].2"}).code, kExitOk);
  EXPECT_EQ(server.requests().back(), "GET /api/v1/jobs/12%5B7%5D/logs?stream=stdout&attempt=2");
  EXPECT_EQ(server.run({"logs", "--stdout", "last[7]"}).code, kExitOk);
  EXPECT_EQ(server.requests().back(), "GET /api/v1/jobs/31%5B7%5D/logs?stream=stdout");
  EXPECT_EQ(server.run({"logs", "12.1", "--attempt", "2"}).code, kExitUsage);
}

constexpr const char* kEvents =
    R"({"events":[
{"sequence":5,"at":"2026-11-16T02:24:39Z","by":"ada","type":"job_submitted","namespace":"default","job":"52","data":{"id":"52","ns":"default","user":"ada","name":"sh","array":false}},
{"sequence":5,"at":"2026-11-16T02:24:39Z","by":null,"type":"task_placed","namespace":"default","job":"52","data":{"attempt":"52.1","placement":{"site":"local","node":"vm"}}},
{"sequence":6,"at":"2026-11-16T02:24:39Z","by":null,"type":"task_ended","namespace":"default","job":"53","data":{"attempt":"53.1","outcome":"failed","result":{"exit_code":3,"message":""}}},
{"sequence":7,"at":"2026-11-16T02:24:39Z","by":null,"type":"task_ended","namespace":"default","job":"54","data":{"attempt":"54[0].2","outcome":"succeeded"}},
{"sequence":8,"at":"2026-11-16T02:24:40Z","by":null,"type":"backoff_ended","namespace":"default","job":"53","data":{"task":"53"}}
],"after":8,"reset":false,"more":false})";

TEST(Events, AreAnAuditThatSaysWho) {
  TestServer server;
  server.on("GET", "/api/v1/events", kEvents);
  server.start();
  const std::string out = server.run({"events", "--after", "1"}).out;
  EXPECT_EQ(server.requests().size(), 1u) << "what the events say is all there is to ask for";
  EXPECT_TRUE(out.starts_with("   SEQ  TIME                 BY          EVENT")) << out;
  EXPECT_TRUE(has(out, "  ada         job_submitted       52  name=sh\n")) << out;
  EXPECT_TRUE(has(out, "  -           task_placed         52.1  on local/vm\n")) << out;
  EXPECT_TRUE(has(out, "53.1  outcome=failed  exit code 3\n")) << out;
  EXPECT_TRUE(has(out, "54[0].2  outcome=succeeded\n")) << out;
  EXPECT_TRUE(has(out, "  -           backoff_ended       53\n")) << out;
  EXPECT_FALSE(has(server.run({"events", "--after", "1", "--no-headers"}).out, "SEQ"));
}

TEST(Events, AreOneListInJsonAndLinesInJsonl) {
  TestServer server;
  server.on("GET", "/api/v1/events", [](const http::Request& request) {
    return json(request.query_param("after") == "9"
                    ? R"({"events":[],"after":9,"reset":false,"more":false})"
                    : kEvents);
  });
  server.start();
  const auto list = Json::parse(server.run({"events", "--after", "1", "-o", "json"}).out);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->items().size(), 5u);
  EXPECT_EQ(server.run({"events", "--after", "9", "-o", "json"}).out, "[]\n");
  const std::string lines = server.run({"events", "--after", "1", "-o", "jsonl"}).out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 5);
}

TEST(Ps, SeveralStatesAndOutcomesAreJoined) {
  TestServer server;
  server.on("GET", "/api/v1/jobs", [](const http::Request& request) {
    const std::string outcome = std::string(request.query_param("outcome").value_or(""));
    if (outcome == "failed") return json(R"({"jobs":[{"id":"10"},{"id":"2"}]})");
    if (outcome == "cancelled") return json(R"({"jobs":[{"id":"3"}]})");
    return json(R"({"jobs":[{"id":"9"},{"id":"2"}]})");
  });
  server.start();
  EXPECT_EQ(server.run({"ps", "--state", "running,failed", "-q"}).out, "10\n9\n2\n");
  EXPECT_EQ(server.requests()[0], "GET /api/v1/jobs?state=running&limit=100");
  EXPECT_EQ(server.requests()[1], "GET /api/v1/jobs?outcome=failed&limit=100");
  EXPECT_EQ(server.run({"ps", "--state", "failed,cancelled", "-q"}).out, "10\n3\n2\n");
  EXPECT_EQ(server.run({"ps", "--state", "failed,cancelled", "-q", "--limit", "2"}).out, "10\n3\n");
  EXPECT_EQ(server.run({"ps", "--state", "ended", "--outcome", "cancelled", "-q"}).out, "3\n");
  const auto list = Json::parse(server.run({"ps", "-s", "running,failed", "-o", "json"}).out);
  EXPECT_EQ(list.value().items().size(), 3u);
}

TEST(Ps, AnUnknownStateListsAllOfThem) {
  TestServer server;
  server.start();
  const Ran ran = server.run({"ps", "--state", "bogus"});
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_TRUE(has(ran.err, "\"bogus\" is not a state")) << ran.err;
  EXPECT_TRUE(has(ran.err, "waiting,starting,running,stopping,ended")) << ran.err;
  EXPECT_TRUE(has(ran.err, "succeeded,failed,cancelled,timed_out,lost,skipped")) << ran.err;
  EXPECT_EQ(server.run({"ps", "--state", "run"}).code, kExitUsage);
  EXPECT_EQ(server.run({"ps", "--outcome", "running"}).code, kExitUsage);
  EXPECT_TRUE(server.requests().empty());
}

TEST(Ps, SinceLooksBackAtWhatHasEnded) {
  TestServer server;
  server.on("GET", "/api/v1/jobs", R"({"jobs":[]})");
  server.start();
  static_cast<void>(server.run({"ps", "--since", "1h", "-q"}));
  EXPECT_EQ(server.requests().back(), "GET /api/v1/jobs?since=1h&limit=100");
}

TEST(Ps, AHeldArrayThatStillRunsSaysSo) {
  TestServer server;
  server.on("GET", "/api/v1/jobs",
            R"({"jobs":[{"id":"9","state":"running","held":true,"array":true,"reason":null}]})");
  server.start();
  EXPECT_TRUE(has(server.run({"ps"}).out, "held"));
}

TEST(JobView, TheOutcomeIsNotSaidTwice) {
  const auto said = [](const char* text) { return end_message(Json::parse(text).value()); };
  EXPECT_EQ(said(R"({"outcome":"skipped","message":"skipped: job 1 failed"})"), "job 1 failed");
  EXPECT_EQ(said(R"({"outcome":"lost","message":"lost"})"), "");
  EXPECT_EQ(said(R"({"outcome":"failed","message":"exit code 3"})"), "exit code 3");
  EXPECT_EQ(said(R"({"outcome":"failed","message":"failed to start"})"), "failed to start");
}

TEST(Show, AnArrayNamesItsIndicesCountsAndFailedTasks) {
  TestServer server;
  server.on(
      "GET", "/api/v1/jobs/{id}",
      R"({"id":"2","state":"running","array":true,"spec":{"command":["x"]},"tasks":)"
      R"({"total":30,"waiting":5,"active":1,"succeeded":2,"failed":21,"timed_out":1,"lost":0}})");
  server.on("GET", "/api/v1/jobs/{id}/tasks", [](const http::Request&) {
    std::string tasks;
    for (int i = 1; i <= 25; ++i) {
      tasks += (i > 1 ? "," : "") + std::string(R"({"id":"2[)") + std::to_string(i) +
               R"(]","index":)" + std::to_string(i) + R"(,"exit_code":4,"outcome":")" +
               (i <= 2    ? "succeeded"
                : i == 3  ? "timed_out"
                : i == 25 ? ""
                          : "failed") +
               "\"}";
    }
    return json(R"({"waiting":"26-30","tasks":[)" + tasks + R"(],"next":null})");
  });
  server.start();
  const std::string out = server.run({"show", "2"}).out;
  EXPECT_TRUE(has(out, "array      1-30\n")) << out;
  EXPECT_TRUE(has(out, "30 in all, 5 waiting, 1 active, 2 succeeded, 21 failed, 1 timed_out"))
      << out;
  EXPECT_TRUE(has(out, "2[3]")) << out;
  EXPECT_TRUE(has(out, "2[22]")) << out;
  EXPECT_FALSE(has(out, "2[23]")) << out;
  EXPECT_TRUE(has(out, "and 2 more: `atoll show --failed 2` lists all")) << out;
  const std::string all = server.run({"show", "--failed", "2", "-q"}).out;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 22);
}

TEST(Show, TheRangeOfAnArrayIsReadFromAllItsPages) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}",
            R"({"id":"2","state":"ended","array":true,"tasks":{"total":3,"succeeded":3}})");
  server.on("GET", "/api/v1/jobs/{id}/tasks", [](const http::Request& request) {
    return json(request.query_param("cursor") == "4"
                    ? R"({"waiting":"","tasks":[{"index":5},{"index":9}],"next":null})"
                    : R"({"waiting":"","tasks":[{"index":4}],"next":"4"})");
  });
  server.start();
  const std::string out = server.run({"show", "2"}).out;
  EXPECT_TRUE(has(out, "4-5,9\n")) << out;
}

TEST(Show, AnArrayTellsHowManyMayRunAtOnce) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}", [](const http::Request& request) {
    const std::string total = request.param("id") == "2" ? "3" : "4";
    return json(R"({"id":"2","state":"running","array":true,"parallel_max":2,"spec":{},)"
                R"("tasks":{"total":)" +
                total + R"(,"waiting":3}})");
  });
  server.on("GET", "/api/v1/jobs/{id}/tasks", R"({"waiting":"1-3","tasks":[],"next":null})");
  server.start();
  const std::string known = server.run({"show", "2"}).out;
  EXPECT_TRUE(has(known, "1-3, at most 2 at a time\n")) << known;
  // One was cancelled before it started, so that nobody knows its index.
  const std::string unknown = server.run({"show", "3"}).out;
  EXPECT_TRUE(has(unknown, "4 tasks, at most 2 at a time\n")) << unknown;
}

constexpr const char* kAttempts =
    R"({"attempts":[{"id":"2[1].1","attempt":1,"outcome":"failed","wall_seconds":2,"cpu_seconds":1,"memory_peak_bytes":1048576},)"
    R"({"id":"2[1].2","attempt":2,"outcome":"succeeded","wall_seconds":3,"cpu_seconds":1,"memory_peak_bytes":2097152}],"next":null})";

TEST(Show, ATaskTellsWhatItsAttemptsUsed) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}",
            R"({"id":"2[1]","index":1,"state":"ended","outcome":"succeeded","attempt":2})");
  server.on("GET", "/api/v1/jobs/{id}/attempts", kAttempts);
  server.start();
  const std::string out = server.run({"show", "2[1]"}).out;
  for (const char* part : {"WALL", "CPU", "PEAK MEM", "2[1].1", "2[1].2", "2Mi"})
    EXPECT_TRUE(has(out, part)) << part << "\n" << out;
  const std::string one = server.run({"show", "2[1].1"}).out;
  EXPECT_TRUE(has(one, "2[1].1")) << one;
  EXPECT_FALSE(has(one, "2[1].2")) << one;
  EXPECT_TRUE(has(server.run({"show", "2[1].3"}).err, "2[1] has no attempt 3"));
}

TEST(Show, OnlyTheNewestAttemptsAreListedAndTheOthersCounted) {
  TestServer server;
  const std::string newest =
      R"("attempts":[{"id":"2.31","attempt":31},{"id":"2.32","attempt":32}])";
  server.on("GET", "/api/v1/jobs/{id}", [newest](const http::Request& request) {
    return json(request.param("id") == "2"
                    ? R"({"id":"2","state":"ended",)" + newest + "}"
                    : R"({"id":"3[7]","index":7,"state":"ended","attempt":130})");
  });
  server.on("GET", "/api/v1/jobs/{id}/attempts",
            R"({"attempts":[{"id":"3[7].31","attempt":31}],"next":null})");
  server.start();
  const std::string job = server.run({"show", "2"}).out;
  EXPECT_TRUE(has(job, "and 30 earlier: `atoll show '2.1'` shows the first\n")) << job;
  const std::string task = server.run({"show", "3[7]"}).out;
  EXPECT_EQ(server.requests().back(), "GET /api/v1/jobs/3%5B7%5D/attempts?limit=100&cursor=7.30");
  EXPECT_TRUE(has(task, "and 30 earlier: `atoll show '3[7].1'` shows the first\n")) << task;
}

TEST(Show, TellsTierGraceAndGang) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}", R"({"id":"2","state":"running","cpus":1,"spec":{
"command":["true"],"tier":"opportunistic","grace":"2m","gang":4}})");
  server.start();
  const std::string out = server.run({"show", "2"}).out;
  EXPECT_TRUE(has(out, "opportunistic\n")) << out;
  EXPECT_TRUE(has(out, "2m to save its work when it is stopped")) << out;
  EXPECT_TRUE(has(out, "4 tasks that start together or not at all")) << out;
}

TEST(Show, AScriptIsCountedInLinesAsEditorsDo) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}",
            R"({"id":"2","state":"running","spec":{"script":"#!/bin/sh\na\nb\n"}})");
  server.start();
  EXPECT_TRUE(has(server.run({"show", "2"}).out, "script of 3 lines"));
}

TEST(Json, IsOneDocumentForAnyNumberOfJobs) {
  TestServer server;
  const auto job = [](const http::Request& request) {
    return json(R"({"state":"ended","outcome":"succeeded","changed":true,"id":")" +
                std::string(request.param("id")) + "\"}");
  };
  server.on("GET", "/api/v1/jobs/{id}", job).on("POST", "/api/v1/jobs/{id}/cancel", job);
  server.start();
  for (const char* verb : {"show", "cancel", "wait"}) {
    const auto one = Json::parse(server.run({verb, "1", "-o", "json"}).out);
    ASSERT_TRUE(one) << verb;
    EXPECT_EQ(one->text("id"), "1") << verb;
    const auto two = Json::parse(server.run({verb, "1", "2", "-o", "json"}).out);
    ASSERT_TRUE(two) << verb;
    ASSERT_EQ(two->items().size(), 2u) << verb;
    EXPECT_EQ(two->items()[1].text("id"), "2") << verb;
    const std::string lines = server.run({verb, "1", "2", "-o", "jsonl"}).out;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2) << verb;
  }
}

TEST(Json, SubmitGivesTheServersAnswer) {
  TestServer server;
  server.on("POST", "/api/v1/jobs", R"({"id":"12","ids":["12"],"repeated":false})", 201);
  server.start();
  const Ran ran = server.run({"submit", "--ns", "x", "-o", "json", "--", "true"});
  const auto answer = Json::parse(ran.out);
  ASSERT_TRUE(answer) << ran.out << ran.err;
  EXPECT_EQ(answer->text("id"), "12");
  EXPECT_TRUE((*answer)["ids"].is_array());
}

TEST(Exec, ATimeoutIs124AndALongOneIsRefused) {
  TestServer server;
  server.on("POST", "/api/v1/jobs/{id}/exec", [](const http::Request& request) {
    return request.param("id") == "7"
               ? json(R"({"detail":"it was killed","code":"timeout"})", 504)
               : json(R"({"detail":"it is not running","code":"conflict"})", 409);
  });
  server.start();
  EXPECT_EQ(server.run({"exec", "7", "--", "sleep", "9"}).code, kExitTimeout);
  // However long it took.
  EXPECT_EQ(server.run({"exec", "8", "--timeout", "0s", "--", "sleep", "9"}).code, kExitLauncher);
  const std::size_t before = server.requests().size();
  const Ran ran = server.run({"exec", "7", "--timeout", "11m", "--", "true"});
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_TRUE(has(ran.err, "up to 10m")) << ran.err;
  EXPECT_EQ(server.requests().size(), before);
}

TEST(Copy, OneFileGoesToStandardOutput) {
  TestServer server;
  server.on(
      "GET", "/api/v1/jobs/{id}/files",
      R"({"files":[{"path":"f","kind":"file","size_bytes":4},{"path":"d","kind":"directory"},)"
      R"({"path":"d/g","kind":"file","size_bytes":4}]})");
  server.on("GET", "/api/v1/jobs/{id}/files/{path...}", "data");
  server.start();
  EXPECT_EQ(server.run({"cp", "7:f", "-"}).out, "data");
  const Ran many = server.run({"cp", "7:d", "-"});
  EXPECT_EQ(many.code, kExitUsage);
  EXPECT_EQ(many.out, "");
  EXPECT_TRUE(has(many.err, "is not one file")) << many.err;
}

TEST(Copy, ADirectoryIsSentFileByFile) {
  const http::testing::TempDir dir;
  std::filesystem::create_directories(dir / "data/deep");
  std::ofstream(dir / "data/a") << "A";
  std::ofstream(dir / "data/deep/b") << "B";
  TestServer server;
  server.on("PUT", "/api/v1/jobs/{id}/files/{path...}", "", 204);
  server.start();
  EXPECT_EQ(server.run({"cp", dir / "data", "7:"}).out, "7:data/a\n7:data/deep/b\n");
  EXPECT_EQ(server.requests().back(), "PUT /api/v1/jobs/7/files/data/deep/b B");
  EXPECT_EQ(server.run({"cp", dir / "data/", "7:in/"}).out, "7:in/data/a\n7:in/data/deep/b\n");
  EXPECT_EQ(server.run({"cp", dir / "data", "7:other"}).out, "7:other/a\n7:other/deep/b\n");
}

TEST(Down, WithoutAServerIsADocumentToo) {
  const http::testing::TempDir dir;
  const Ran ran = run_offline({"--home", dir / "h", "down", "-o", "json"});
  const auto document = Json::parse(ran.out);
  ASSERT_TRUE(document) << ran.out << ran.err;
  EXPECT_EQ(document->text("home"), dir / "h");
  EXPECT_FALSE((*document)["stopped"].truth());
  EXPECT_TRUE((*document)["pid"].is_null());
}

TEST(Backup, IsADocument) {
  TestServer server;
  server.on("POST", "/api/v1/admin/backup", "{}", 201);
  server.start();
  const Ran ran = server.run({"backup", "/b.atoll", "-o", "json"});
  const auto document = Json::parse(ran.out);
  ASSERT_TRUE(document) << ran.out << ran.err;
  EXPECT_EQ(document->text("file"), "/b.atoll");
  EXPECT_TRUE((*document)["bytes"].is_null()) << "the file is on the server's machine";
}

TEST(Top, LittleMemoryIsNotNone) {
  TestServer server;
  server.on("GET", "/api/v1/stats",
            R"({"jobs":{},"tasks":{},"running":[{"id":"1","memory_bytes_used":716900},)"
            R"({"id":"2","memory_bytes_used":100},{"id":"3","memory_bytes_used":3700000},)"
            R"({"id":"4","memory_bytes_used":0}]})");
  server.start();
  const std::string out = server.run({"top"}).out;
  for (const char* part : {" 700Ki ", " <1Ki ", " 3Mi ", " 0 "})
    EXPECT_TRUE(has(out, part)) << part << "\n" << out;
}

TEST(Usage, TheFieldBehindAnOptionIsNotNamedTwice) {
  const Ran ran = run_offline({"submit", "--cpus", "abc", "--", "true"});
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_TRUE(has(ran.err, "atoll: --cpus: \"abc\" is not")) << ran.err;
}

TEST(Help, OfAVerbIsThePageOfItsFlag) {
  EXPECT_EQ(run_offline({"help", "submit"}).out, run_offline({"submit", "--help"}).out);
  EXPECT_EQ(run_offline({"help", "ns", "quota"}).out, run_offline({"ns", "quota", "--help"}).out);
  EXPECT_EQ(run_offline({"help"}).out, run_offline({"--help"}).out);
  EXPECT_EQ(run_offline({"help"}).code, kExitOk);
  const Ran ran = run_offline({"help", "submitt"});
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_TRUE(has(ran.err, "there is no command \"submitt\"; did you mean submit?")) << ran.err;
  EXPECT_EQ(run_offline({"help", "submit", "x"}).code, kExitUsage);
}

TEST(Help, NounsHaveExamplesToo) {
  for (const char* noun : {"ns", "user", "token", "site"})
    EXPECT_TRUE(has(run_offline({noun, "--help"}).out, "Examples:\n  atoll ")) << noun;
}

TEST(Whoami, ShowsTheUserAndTheirNamespaces) {
  TestServer server;
  server.on("GET", "/api/v1/whoami",
            R"({"name":"ada","platform_admin":true,"namespaces":{"vision":"member"}})");
  server.start();
  const std::string out = server.run({"whoami"}).out;
  EXPECT_TRUE(has(out, "ada")) << out;
  EXPECT_TRUE(has(out, "platform admin")) << out;
  EXPECT_TRUE(has(out, "vision (member)")) << out;
  EXPECT_EQ(server.run({"whoami", "-q"}).out, "ada\n");
}

}  // namespace
}  // namespace atl::cli
