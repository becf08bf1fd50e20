// Workflows of Cloudmesh: its files among our own routes, and its own routes.
#include <filesystem>
#include <fstream>

#include "api/testing.h"

namespace atl::api {
namespace {

constexpr const char* kFlood =
    "workflow:\n"
    "  nodes:\n"
    "    fetch: {exec: echo fetch, label: '{name} {progress}'}\n"
    "    plot: {exec: echo plot}\n"
    "  dependencies:\n"
    "    - fetch,plot\n";

class Cloudmesh : public ApiTest {
 protected:
  http::Response keep(const std::string& user, const std::string& name, const std::string& yaml) {
    return as(user, "POST", "/cloudmesh/workflow?workflow_name=" + name, yaml);
  }
  std::string get(const std::string& target) { return as("watcher", "GET", target).body; }
  std::string status() { return get("/cloudmesh/workflow/flood?output=status"); }
};

std::string in_files(const std::string& yaml) {
  std::string escaped;
  for (const char c : yaml) c == '\n' ? escaped += "\\n" : escaped += c;
  return R"({"main":"flood.yaml","files":{"flood.yaml":")" + escaped + R"("}})";
}

TEST_F(Cloudmesh, ItsFilesAreWorkflowsAmongOthers) {
  const auto taken = as("ada", "POST", "/api/v1/workflows",
                        in_files("workflow: {nodes: {a: {exec: x, kind: odd}}, what: 1}"));
  EXPECT_EQ(taken.status, 201) << taken.body;
  EXPECT_NE(taken.body.find("flood.yaml:1:"), std::string::npos) << taken.body;
  EXPECT_NE(get("/api/v1/workflows/1").find(R"("format":"cloudmesh")"), std::string::npos);
  EXPECT_NE(get("/api/v1/workflows/1").find(R"("fail_fast":true)"), std::string::npos);
  const auto cycle =
      as("ada", "POST", "/api/v1/workflows", in_files("workflow: {dependencies: ['a,b', 'b,a']}"));
  EXPECT_EQ(cycle.status, 400);
  EXPECT_NE(cycle.body.find("flood.yaml:1:"), std::string::npos) << cycle.body;
  const auto far = as("ada", "POST", "/api/v1/workflows",
                      in_files("workflow: {nodes: {a: {kind: slurm, host: hpc.example.org}}}"));
  EXPECT_EQ(far.status, 400);
  EXPECT_NE(far.body.find("or write kind: local"), std::string::npos);
}

TEST_F(Cloudmesh, OneNodeOrWhatComesAfterItCanRunAlone) {
  std::string body = in_files("workflow: {dependencies: ['a,b,c']}");
  body.insert(1, R"("from":"b",)");
  const auto planned = as("ada", "POST", "/api/v1/workflows?dry_run=true", body).body;
  EXPECT_NE(planned.find(R"("steps":2)"), std::string::npos) << planned;
  EXPECT_NE(planned.find(R"({"name":"b","needs":[])"), std::string::npos) << planned;
  EXPECT_NE(planned.find(R"({"name":"c","needs":["b"])"), std::string::npos) << planned;
}

TEST_F(Cloudmesh, IsKeptByNameListedAndDeleted) {
  const auto kept = keep("ada", "flood", kFlood);
  EXPECT_EQ(kept.status, 200) << kept.body;
  EXPECT_EQ(kept.body,
            R"({"message":"Successfully uploaded flood","workflow":"flood","warnings":[]})");
  EXPECT_EQ(get("/cloudmesh/workflows"), R"({"workflows":["flood"]})");
  EXPECT_EQ(get("/cloudmesh/workflows?output=csv"), "flood\n");
  EXPECT_TRUE(get("/cloudmesh/workflow/flood?output=json").starts_with(R"({"nodes": {"fetch": )"));
  EXPECT_TRUE(get("/cloudmesh/workflow/flood").starts_with(R"({"flood":{"nodes": )"));
  EXPECT_NE(get("/cloudmesh/workflow/flood?output=html").find("<td>fetch</td>"), std::string::npos);
  const auto graph = as("watcher", "GET", "/cloudmesh/workflow/flood?output=graph");
  EXPECT_EQ(graph.status, 200);
  EXPECT_NE(graph.body.find("<svg"), std::string::npos);
  const auto missing = as("ada", "GET", "/cloudmesh/workflow/none");
  EXPECT_EQ(missing.status, 404);
  EXPECT_NE(missing.body.find("Workflow 'none' not found"), std::string::npos);
  EXPECT_EQ(as("rival", "GET", "/cloudmesh/workflows").body, R"({"workflows":[]})")
      << "the default of somebody else is another namespace";
  EXPECT_EQ(as("ada", "DELETE", "/cloudmesh/workflow/flood").body,
            R"({"message":"The workflow flood was deleted"})");
  EXPECT_EQ(as("ada", "DELETE", "/cloudmesh/workflow/flood").status, 404);
}

TEST_F(Cloudmesh, ComesAsAFormToo) {
  const std::string body =
      "--b\r\nContent-Disposition: form-data; name=\"yaml\"; filename=\"flood.yaml\"\r\n\r\n" +
      std::string(kFlood) + "\r\n--b--\r\n";
  const http::Headers form{{"Content-Type", "multipart/form-data; boundary=b"}};
  const auto kept = as("ada", "POST", "/cloudmesh/workflow/upload", body, form);
  EXPECT_NE(kept.body.find("Successfully uploaded flood.yaml"), std::string::npos) << kept.body;
  EXPECT_EQ(as("ada", "POST", "/cloudmesh/workflow?directory=x", body, form).body,
            R"({"message":"Only one upload option can be chosen."})");
  EXPECT_EQ(as("ada", "POST", "/cloudmesh/workflow").status, 400);
  EXPECT_EQ(as("ada", "POST", "/cloudmesh/workflow", "x", form).status, 400);
}

TEST_F(Cloudmesh, HostileNamesAndFilesAreRefused) {
  for (const char* name : {"..", "run", "upload", "a%2Fb", ".hidden", "-x", "a%20b", "%24x"})
    EXPECT_GE(keep("ada", name, kFlood).status, 400) << name;
  EXPECT_EQ(keep("ada", "flood", "workflow: [").status, 400);
  EXPECT_EQ(keep("ada", "flood", "steps: {}").status, 400);
  EXPECT_EQ(get("/cloudmesh/workflows"), R"({"workflows":[]})");
  const auto relative =
      as("ada", "POST", "/cloudmesh/workflow?workflow_name=a&run_directory=x", kFlood);
  EXPECT_EQ(relative.status, 400) << relative.body;
  const auto own =
      as("ada", "POST",
         "/cloudmesh/workflow?workflow_name=a&run_directory=" + kept_directory + "/trees/other.x",
         kFlood);
  EXPECT_EQ(own.status, 400) << own.body;
}

TEST_F(Cloudmesh, DirectoriesAreForAdministratorsAndOnlyFromTheirPlace) {
  const std::string target = "/cloudmesh/workflow?directory=";
  EXPECT_EQ(as("ada", "POST", target + "flood").status, 403);
  for (const char* path : {"/etc", "../..", "/", "none"})
    EXPECT_EQ(as("root", "POST", target + path).status, 400) << path;
  std::filesystem::create_directories(kept_directory + "/upload/flood");
  std::ofstream(kept_directory + "/upload/flood/flood.yaml") << kFlood;
  std::filesystem::create_symlink("/etc", kept_directory + "/upload/away");
  EXPECT_EQ(as("root", "POST", target + "away").status, 400);
  EXPECT_EQ(as("root", "POST", target + "flood").status, 200);
  EXPECT_EQ(get("/cloudmesh/workflows"), R"({"workflows":["flood"]})");
}

TEST_F(Cloudmesh, JobsAreAddedChangedAndRemoved) {
  const auto made = as("ada", "POST", "/cloudmesh/workflow/new/job/a?exec=echo&attribute=team=x");
  EXPECT_TRUE(made.body.starts_with(R"({"jobs": {"a": )")) << made.body;
  EXPECT_NE(made.body.find(R"("team": "x")"), std::string::npos) << made.body;
  EXPECT_EQ(as("ada", "POST", "/cloudmesh/workflow/new/job/b?parent=a").status, 200);
  EXPECT_NE(get("/cloudmesh/workflow/new/job/b").find(R"("parent": ["a"])"), std::string::npos);
  EXPECT_EQ(as("ada", "POST", "/cloudmesh/workflow/new?dependencies=b,c[1-2]").status, 200);
  EXPECT_EQ(as("ada", "POST", "/cloudmesh/workflow/new?dependencies=c1,a").status, 400)
      << "a cycle";
  EXPECT_EQ(as("ada", "POST", "/cloudmesh/workflow/new/job/d?progress=101").status, 400);
  EXPECT_EQ(as("ada", "DELETE", "/cloudmesh/workflow/new/job/b").body,
            R"({"message":"The job b was deleted in the workflow new"})");
  EXPECT_EQ(as("ada", "DELETE", "/cloudmesh/workflow/new?job=b").status, 404);
  EXPECT_EQ(as("watcher", "GET", "/cloudmesh/workflow/new/job/b").status, 404);
  as("ada", "POST", "/cloudmesh/workflow/lone/job/a");
  EXPECT_EQ(as("ada", "DELETE", "/cloudmesh/workflow/lone/job/a").status, 409);
  EXPECT_EQ(as("ada", "GET", "/cloudmesh/workflow/lone").status, 200);
}

TEST_F(Cloudmesh, StatusIsThatOfItsLastRunInItsOwnWords) {
  keep("ada", "flood", kFlood);
  EXPECT_TRUE(status().starts_with(R"({"workflow": "ready")")) << status();
  EXPECT_EQ(as("ada", "HEAD", "/cloudmesh/workflow/run/flood").status, 405);
  const auto run = as("ada", "GET", "/cloudmesh/workflow/run/flood?run_type=topo");
  EXPECT_NE(
      run.body.find(R"("message":"The workflow flood is running","workflow":"flood","id":"1")"),
      std::string::npos)
      << run.body;
  EXPECT_NE(status().find(R"("fetch": {"status": "submitted")"), std::string::npos) << status();
  start("1");
  driver->told[{JobId{1}, 0, 1}] = {.percent_milli = 40'000, .pid = 7};
  EXPECT_NE(status().find(R"("fetch": {"status": "running", "progress": 40})"), std::string::npos)
      << status();
  EXPECT_NE(get("/cloudmesh/workflow/flood/job/fetch").find(R"("label": "fetch 40")"),
            std::string::npos);
  end("1", 0);
  EXPECT_NE(status().find(R"("fetch": {"status": "done", "progress": 100})"), std::string::npos);
  start("2");
  end("2", 3);
  EXPECT_EQ(status(), R"({"workflow": "failed", "jobs": {"fetch": {"status": "done", )"
                      R"("progress": 100}, "plot": {"status": "failed", "progress": 0}}})");
}

TEST_F(Cloudmesh, CountersTellWhatChanges) {
  keep("ada", "flood", kFlood);
  const auto stream = send({.target = "/cloudmesh/done-count/flood", .uid = 1002})->streamed;
  ASSERT_TRUE(stream);
  const auto shows = [&](const std::string& text) {
    for (int i = 0; i < 3000; ++i) {
      settle();
      if (stream->text().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  };
  EXPECT_TRUE(shows("data: 0\n\n")) << stream->text();
  as("ada", "GET", "/cloudmesh/workflow/run/flood");
  for (const char* job : {"1", "2"}) {
    start(job);
    end(job, 0);
  }
  EXPECT_TRUE(shows("data: 2\n\n")) << stream->text();
  EXPECT_EQ(as("ada", "GET", "/cloudmesh/done-count/none").status, 404);
}

TEST_F(Cloudmesh, PortalPagesShowWhatIsKeptAndChangeNothing) {
  EXPECT_NE(get("/cloudmesh").find("None is kept here yet"), std::string::npos);
  keep("ada", "flood", kFlood);
  const std::string home = get("/cloudmesh/home?namespace=default");
  EXPECT_NE(home.find("href=\"/cloudmesh/workflow-graph/flood?namespace=default\""),
            std::string::npos)
      << home;
  EXPECT_NE(get("/cloudmesh/workflow-graph/flood").find("<svg"), std::string::npos);
  EXPECT_NE(get("/cloudmesh/serve-datatable/flood").find("<td>plot</td>"), std::string::npos);
  const std::string watcher = get("/cloudmesh/watcher/flood");
  EXPECT_NE(watcher.find("data-count=\"/cloudmesh/ready-count/flood\">2<"), std::string::npos)
      << watcher;
  const std::string running = get("/cloudmesh/workflow-running/flood");
  for (const char* part : {"<svg", "<td>fetch</td>", "data-count="})
    EXPECT_NE(running.find(part), std::string::npos) << part;
  EXPECT_NE(get("/cloudmesh/edit/flood").find("- fetch,plot"), std::string::npos);
  EXPECT_NE(get("/cloudmesh/delete/flood").find("data-method=\"DELETE\""), std::string::npos);
  EXPECT_NE(get("/cloudmesh/reset/flood").find("data-to=\"/cloudmesh/workflow/run/flood\""),
            std::string::npos);
  EXPECT_EQ(get("/cloudmesh/workflows"), R"({"workflows":["flood"]})") << "looking deletes nothing";
  EXPECT_EQ(get("/api/v1/workflows"), R"({"workflows":[],"next":null})") << "and runs nothing";
  EXPECT_NE(get("/cloudmesh/generate-example").find("fetch,train,plot"), std::string::npos);
  EXPECT_NE(get("/cloudmesh/preferences").find("You are watcher"), std::string::npos);
  EXPECT_EQ(as("watcher", "GET", "/cloudmesh/edit/none").status, 404);
}

TEST_F(Cloudmesh, PortalPagesEscapeWhatPeopleWroteAndAskNothingOfOthers) {
  keep("ada", "evil",
       "workflow: {nodes: {a: {exec: '</textarea><script>x</script>', label: '<b>&', user: "
       "'\"><img src=x>'}}}");
  const std::string evil = "%22%3E%3Cscript%3E";
  for (const std::string page :
       {"", "/home", "/about", "/contact", "/manpage", "/preferences", "/add", "/generate-example",
        "/edit/evil", "/delete/evil", "/reset/evil", "/workflow-graph/evil",
        "/serve-datatable/evil", "/watcher/evil", "/workflow-running/evil"}) {
    const auto shown = as("watcher", "GET", "/cloudmesh" + page);
    EXPECT_EQ(shown.status, 200) << page << shown.body;
    const std::string policy(shown.headers.get("Content-Security-Policy"));
    for (const char* rule : {"default-src 'none'", "script-src 'sha256-", "form-action 'self'",
                             "base-uri 'none'", "frame-ancestors 'none'"})
      EXPECT_NE(policy.find(rule), std::string::npos) << page << rule;
    EXPECT_EQ(policy.find("http"), std::string::npos);
    for (const char* wrong :
         {"<script>x", "<img", "<b>&", "src=\"", "href=\"http", "https:", "url("})
      EXPECT_EQ(shown.body.find(wrong), std::string::npos) << page << wrong;
    const auto other = as("watcher", "GET", "/cloudmesh" + page + "?namespace=" + evil);
    EXPECT_TRUE(other.content_type.find("html") == std::string::npos ||
                other.body.find("\"><script>") == std::string::npos)
        << page;
  }
}

}  // namespace
}  // namespace atl::api
