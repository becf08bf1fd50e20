// The command line as a whole: usage errors, help, completion, and verbs against a scripted server.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/completion.h"
#include "cli/exit.h"
#include "cli/selectors.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::json;
using testing::Ran;
using testing::run_offline;
using testing::TestServer;

TEST(Usage, UnknownWordsAreExplained) {
  const auto expect = [](std::vector<std::string> args, const char* part) {
    const Ran ran = run_offline(std::move(args));
    EXPECT_EQ(ran.code, kExitUsage);
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  };
  expect({"submitt"}, "there is no command \"submitt\"; did you mean submit?");
  expect({"ps", "--stat", "running"}, "there is no option \"--stat\"; did you mean --state?");
  expect({"ns", "creat", "x"}, "there is no verb \"creat\"; did you mean create?");
  expect({"ns"}, "say what to do");
  expect({"cancel"}, "ID is required");
  expect({"ps", "-o", "xml"}, "\"xml\" is not one of");
  expect({"version", "x"}, "one argument too many");
  expect({"completion", "tcsh"}, "\"tcsh\" is not one of bash, zsh, fish");
  expect({"show", "12x"}, "\"12x\" is not a job");
}

TEST(Usage, EveryVerbHasHelpWithAnExample) {
  Verbs verbs;
  Globals globals;
  add_globals(verbs, globals);
  add_all_verbs(verbs);
  const auto shown = [](const CLI::App* app) { return !app->get_group().empty(); };
  std::size_t seen = 0;
  for (const CLI::App* verb : verbs.root().get_subcommands(shown)) {
    const auto inner = verb->get_subcommands(shown);
    const auto leaves = inner.empty() ? std::vector<const CLI::App*>{verb} : inner;
    for (const CLI::App* leaf : leaves) {
      const std::string help = leaf->help("atoll");
      EXPECT_NE(help.find("Example"), std::string::npos) << help;
      EXPECT_NE(help.find("atoll"), std::string::npos);
      ++seen;
    }
  }
  EXPECT_GT(seen, 40u);
}

TEST(Usage, HelpAndVersionGoToStandardOutput) {
  EXPECT_EQ(run_offline({"--version"}).out, "atoll " ATOLL_VERSION "\n");
  const Ran help = run_offline({"submit", "--help"});
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_NE(help.out.find("--gpus GPUS"), std::string::npos);
  EXPECT_NE(help.out.find("opportunistic (batch)"), std::string::npos) << "what a tier can be";
  EXPECT_EQ(run_offline({}).code, kExitUsage);
}

TEST(Usage, HiddenVerbsAreNotShown) {
  EXPECT_EQ(run_offline({"--help"}).out.find("internal-snapshot"), std::string::npos);
  EXPECT_EQ(run_offline({"completion", "bash"}).out.find("internal-snapshot"), std::string::npos);
}

TEST(Completion, ScriptsAreValidForTheirShells) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Ran ran = run_offline({"completion", shell});
    EXPECT_EQ(ran.code, kExitOk);
    EXPECT_NE(ran.out.find("requeue"), std::string::npos);
    if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) continue;
    FILE* check = ::popen((shell + " -n").c_str(), "w");
    std::fwrite(ran.out.data(), 1, ran.out.size(), check);
    EXPECT_EQ(::pclose(check), 0) << shell;
  }
}

TEST(Selectors, AreParsedStrictly) {
  EXPECT_EQ(parse_wanted("12")->id, "12");
  EXPECT_EQ(parse_wanted("12[7]")->id, "12[7]");
  EXPECT_EQ(parse_wanted("last")->kind, Wanted::Kind::last);
  EXPECT_EQ(parse_wanted("all")->kind, Wanted::Kind::all);
  for (const char* bad : {"", "0x1", "-1", "12[", "12[x]", "12]", "../12", "12 13"})
    EXPECT_FALSE(parse_wanted(bad)) << bad;
  EXPECT_EQ(job_path("12[7]"), "/jobs/12%5B7%5D");
}

TEST(Verbs, SubmitSendsTheJobToTheUsersNamespace) {
  TestServer server;
  server.on("GET", "/api/v1/whoami",
            R"({"name":"ada","namespaces":{"seen":"viewer","vision":"member"}})");
  server.on("POST", "/api/v1/jobs",
            R"({"id":"12","ids":["12"],"repeated":false,"warnings":["line 2: told already",)"
            R"("a share of 0.33 of a gpu is rounded up"]})",
            201);
  server.start();
  const Ran ran = server.run({"submit", "--dir", "/tmp", "--", "true"});
  EXPECT_EQ(ran.code, kExitOk) << ran.err;
  EXPECT_EQ(ran.out, "12\n");
  EXPECT_EQ(ran.err, "warning: a share of 0.33 of a gpu is rounded up\n");
  EXPECT_EQ(server.requests().back(),
            R"(POST /api/v1/jobs {"namespace":"vision","command":["true"],"directory":"/tmp"})");
}

TEST(Verbs, RefusalsShowTheServersSentenceEscaped) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}",
            "{\"detail\":\"no job \\u001b[31m12\",\"code\":\"not_found\",\"status\":404}", 404);
  server.on("GET", "/api/v1/sites", R"({"detail":"disk full","code":"unavailable"})", 503);
  server.on("GET", "/api/v1/users", "<html>", 502);
  server.start();
  const Ran gone = server.run({"show", "12"});
  EXPECT_EQ(gone.code, kExitFailure);
  EXPECT_EQ(gone.err, "atoll: no job \\x1b[31m12\n");
  EXPECT_EQ(server.run({"site", "list"}).code, kExitTryAgain);
  EXPECT_EQ(server.run({"user", "list"}).code, kExitTryAgain);
}

TEST(Verbs, PsFollowsPagesAndFilters) {
  TestServer server;
  server.on("GET", "/api/v1/jobs", [](const http::Request& request) {
    const bool second = request.query_param("cursor").has_value();
    http::Response page = json(second ? R"({"jobs":[{"id":"1","name":"b"}],"next":null})"
                                      : R"({"jobs":[{"id":"2","name":"a"}],"next":"2"})");
    if (!second) page.headers.add("Link", "</api/v1/jobs?limit=1000&cursor=2>; rel=\"next\"");
    return page;
  });
  server.start();
  EXPECT_EQ(server.run({"ps", "-a", "-q", "--limit", "0"}).out, "2\n1\n");
  EXPECT_EQ(server.run({"ps", "-a", "-q", "--limit", "1"}).out, "2\n");
  static_cast<void>(server.run({"ps", "--state", "running,failed", "--user", "me", "-l", "a=b",
                                "-l", "c=d", "--since", "1h"}));
  EXPECT_EQ(server.requests()[3],
            "GET /api/v1/jobs?state=running&user=me&since=1h&label=a%3Db&label=c%3Dd&limit=101");
}

TEST(Verbs, NamesFromTheServerCannotTouchTheTerminal) {
  TestServer server;
  server.on(
      "GET", "/api/v1/jobs",
      "{\"jobs\":[{\"id\":\"2\",\"name\":\"x\\u001b]0;t\\u0007\\u202e\",\"state\":\"running\"}]}");
  server.start();
  for (const char* format : {"table", "wide"}) {
    const std::string out = server.run({"ps", "-o", format}).out;
    EXPECT_EQ(out.find('\x1b'), std::string::npos) << out;
    EXPECT_NE(out.find("x\\x1b]0;t\\x07\\u{202e}"), std::string::npos) << out;
  }
  EXPECT_EQ(server.run({"ps", "-o", "json"}).out.find('\x1b'), std::string::npos);
}

TEST(Verbs, CancelGoesOnAfterAFailureAndAsksBeforeAll) {
  TestServer server;
  server.on("POST", "/api/v1/jobs/{id}/cancel", [](const http::Request& request) {
    if (request.param("id") == "3")
      return json(R"({"detail":"no such job","code":"not_found"})", 404);
    return json(R"({"id":"x","changed":)" +
                std::string(request.param("id") == "4" ? "false}" : "true}"));
  });
  server.on("GET", "/api/v1/jobs", R"({"jobs":[{"id":"9"},{"id":"8"}]})");
  server.start();
  const Ran ran = server.run({"cancel", "3", "4", "5[7]", "5[7]", "--grace", "5s"});
  EXPECT_EQ(ran.code, kExitFailure);
  EXPECT_EQ(ran.out, "4 had ended already\n5[7] cancelled\n");
  EXPECT_EQ(server.requests().back(), R"(POST /api/v1/jobs/5%5B7%5D/cancel {"grace":"5s"})");
  EXPECT_EQ(server.run({"cancel", "all"}).code, kExitUsage);
  EXPECT_EQ(server.run({"cancel", "all", "--yes"}).out, "9 cancelled\n8 cancelled\n");
}

TEST(Verbs, WaitReturnsTheExitCodeAndTimesOut) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}", [](const http::Request& request) {
    if (request.param("id") == "1") return json(R"({"id":"1","state":"running"})");
    return json(R"({"id":"2","state":"ended","outcome":"failed","exit_code":42})");
  });
  server.start();
  EXPECT_EQ(server.run({"wait", "2"}).code, 42);
  EXPECT_EQ(server.run({"wait", "1", "--timeout", "50ms"}).code, kExitTimeout);
  EXPECT_EQ(server.run({"wait", "1", "--timeout", "soon"}).code, kExitUsage);
}

TEST(Verbs, ChangeSendsOnlyWhatWasSaid) {
  TestServer server;
  server.on("PATCH", "/api/v1/jobs/{id}", R"({"id":"7","changed":true})");
  server.start();
  EXPECT_EQ(server.run({"change", "7", "--mem", "2Gi", "--priority", "3"}).out, "7 changed\n");
  EXPECT_EQ(server.requests().back(), R"(PATCH /api/v1/jobs/7 {"priority":3,"memory":2147483648})");
  EXPECT_EQ(server.run({"change", "7"}).code, kExitUsage);
  TestServer rounds;
  rounds.on("PATCH", "/api/v1/jobs/{id}", R"({"id":"7","changed":true,"warnings":["rounded up"]})");
  rounds.start();
  EXPECT_EQ(rounds.run({"change", "7", "--gpus", "0.33"}).err, "warning: rounded up\n");
}

TEST(Verbs, ExecReturnsWhatTheCommandDid) {
  TestServer server;
  server.on("POST", "/api/v1/jobs/{id}/exec",
            R"({"exit_code":7,"stdout":"out\n","stderr":null,"stderr_base64":"/w=="})");
  server.start();
  const Ran ran = server.run({"exec", "7", "--", "ls", "--all"});
  EXPECT_EQ(ran.code, 7);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "\xff");
  EXPECT_EQ(server.requests().back(), R"(POST /api/v1/jobs/7/exec {"command":["ls","--all"]})");
}

TEST(Verbs, CopiesStayBelowTheirDirectory) {
  TestServer server;
  server.on("GET", "/api/v1/jobs/{id}/files",
            R"({"files":[{"path":"../../evil","kind":"file","size_bytes":1}],"truncated":false})");
  server.on("GET", "/api/v1/jobs/{id}/files/{path...}", "x");
  server.start();
  const http::testing::TempDir dir;
  const Ran ran = server.run({"cp", "7:", dir / ""});
  EXPECT_EQ(ran.code, kExitFailure);
  EXPECT_NE(ran.err.find("outside of the job"), std::string::npos) << ran.err;
}

TEST(Verbs, NoServerSaysHowToStartOne) {
  const http::testing::TempDir home;
  const Ran ran = run_offline({"--home", home / "h", "ps"});
  EXPECT_EQ(ran.code, kExitTryAgain);
  EXPECT_NE(ran.err.find("no server is running on " + (home / "h") + ": start it with `atoll up`"),
            std::string::npos)
      << ran.err;
}

}  // namespace
}  // namespace atl::cli
