#include "api/testing.h"
#include "base/text.h"

namespace atl::api {
namespace {

using Jobs = ApiTest;

TEST_F(Jobs, AreSubmittedListedAndShown) {
  const http::Response made = as("ada", "POST", "/api/v1/jobs",
                                 R"({"name":"first","command":["echo","hi"],"labels":{"k":"v"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.headers.get("Location"), "/api/v1/jobs/1");
  EXPECT_EQ(made.body, R"({"id":"1","ids":["1"],"repeated":false,"warnings":[]})");
  const http::Response list = as("ada", "GET", "/api/v1/jobs");
  EXPECT_EQ(list.status, 200);
  EXPECT_TRUE(
      has(list.body,
          R"("id":"1","name":"first","namespace":"default","user":"ada","state":"starting")"))
      << list.body;
  EXPECT_TRUE(has(list.body, R"("labels":{"k":"v"})"));
  EXPECT_TRUE(has(list.body, R"("next":null)"));
  start("1");
  const http::Response shown = as("ada", "GET", "/api/v1/jobs/1");
  EXPECT_TRUE(has(shown.body, R"("state":"running")")) << shown.body;
  EXPECT_TRUE(
      has(shown.body, R"("spec":{"name":"first","namespace":"default","command":["echo","hi"])"))
      << shown.body;
  EXPECT_FALSE(shown.headers.get("ETag").empty());
  end("1", 3);
  const http::Response ended = as("watcher", "GET", "/api/v1/jobs/1");
  EXPECT_TRUE(has(ended.body, R"("state":"ended","outcome":"failed")")) << ended.body;
  EXPECT_TRUE(has(ended.body, R"("exit_code":3)"));
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1/attempts").body, R"("id":"1.1")"));
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1/tasks").body, R"("outcome":"failed")"));
}

TEST_F(Jobs, PagesMergeLiveAndEnded) {
  for (int i = 0; i < 10; ++i) submit("ada", R"({"command":["x"],"cpus":2})");
  for (const char* id : {"1", "2", "3"}) end(id, 0);
  std::string seen;
  std::string target = "/api/v1/jobs?limit=4";
  for (int page = 0; page < 5; ++page) {
    const http::Response response = as("ada", "GET", target);
    ASSERT_EQ(response.status, 200) << response.body;
    for (size_t at = 0; (at = response.body.find("{\"id\":\"", at)) != std::string::npos; ++at) {
      seen += response.body.substr(at + 7, response.body.find('"', at + 7) - at - 7) + " ";
    }
    const std::string link(response.headers.get("Link"));
    if (link.empty()) break;
    target = link.substr(1, link.find('>') - 1);
  }
  EXPECT_EQ(seen, "10 9 8 7 6 5 4 3 2 1 ");
}

TEST_F(Jobs, AreFiltered) {
  submit("ada", R"({"name":"alpha","command":["x"],"labels":{"m":"a"}})");
  submit("boss", R"({"name":"beta","command":["x"],"cpus":4,"labels":{"m":"b"}})");
  end("1", 1);
  const auto ids = [&](const std::string& query) {
    const http::Response response = as("ada", "GET", "/api/v1/jobs?" + query);
    std::string out;
    for (const char* id : {"1", "2"}) {
      if (has(response.body, std::string("{\"id\":\"") + id)) out += id;
    }
    return response.status == 200 ? out : std::to_string(response.status);
  };
  EXPECT_EQ(ids("user=me"), "1");
  EXPECT_EQ(ids("user=boss"), "2");
  EXPECT_EQ(ids("user=nobody"), "404");
  EXPECT_EQ(ids("state=ended"), "1");
  EXPECT_EQ(ids("state=starting,running"), "2");
  EXPECT_EQ(ids("state=sleeping"), "400");
  EXPECT_EQ(ids("outcome=failed"), "1");
  EXPECT_EQ(ids("outcome=succeeded"), "");
  EXPECT_EQ(ids("name=alp"), "1");
  EXPECT_EQ(ids("label=m=b"), "2");
  EXPECT_EQ(ids("label=m%3Db&label=x=y"), "");
  EXPECT_EQ(ids("label=m"), "400");
  EXPECT_EQ(ids("namespace=default"), "12");
  EXPECT_EQ(ids("namespace=other"), "404");
  EXPECT_EQ(ids("limit=0"), "400");
  EXPECT_EQ(ids("limit=1001"), "400");
  EXPECT_EQ(ids("stat=ended"), "400");
  clock.time = clock.time + hours(2);
  EXPECT_EQ(ids("since=1h"), "");
  EXPECT_EQ(ids("since=3h"), "12");
}

TEST_F(Jobs, ComeInBatchesAllOrNone) {
  const http::Response good =
      as("ada", "POST", "/api/v1/jobs", R"({"jobs":[{"command":["a"]},{"command":["b"]}]})");
  EXPECT_EQ(good.body, R"({"ids":["1","2"],"repeated":false,"warnings":[]})");
  const http::Response bad = as("ada", "POST", "/api/v1/jobs",
                                R"({"jobs":[{"command":["a"]},{"command":["b"],"cpus":99}]})");
  EXPECT_EQ(bad.status, 422) << bad.body;
  EXPECT_TRUE(has(bad.body, R"("field":"jobs[1].resources")")) << bad.body;
  EXPECT_FALSE(has(as("ada", "GET", "/api/v1/jobs").body, "\"id\":\"3\""));
}

TEST_F(Jobs, AreSubmittedOncePerKey) {
  const http::Headers key{{"Idempotency-Key", "abc"}};
  EXPECT_TRUE(
      has(as("ada", "POST", "/api/v1/jobs", R"({"command":["a"]})", key).body, R"("id":"1")"));
  const http::Response again = as("ada", "POST", "/api/v1/jobs", R"({"command":["a"]})", key);
  EXPECT_TRUE(has(again.body, R"("id":"1","ids":["1"],"repeated":true)")) << again.body;
  const http::Headers other{{"Idempotency-Key", "batch"}};
  const std::string batch = R"({"jobs":[{"command":["a"]},{"command":["b"]}]})";
  EXPECT_TRUE(has(as("ada", "POST", "/api/v1/jobs", batch, other).body,
                  R"("ids":["2","3"],"repeated":false)"));
  EXPECT_TRUE(has(as("ada", "POST", "/api/v1/jobs", batch, other).body,
                  R"("ids":["2","3"],"repeated":true)"));
}

TEST_F(Jobs, ReadDirectivesOfTheirScript) {
  const http::Response made = as(
      "ada", "POST", "/api/v1/jobs",
      R"({"script":"#!/bin/sh\n#SBATCH -c 2 --mem=100\n#SBATCH --partition=x\necho\n","cpus":1})");
  EXPECT_TRUE(has(made.body, "line 3: --partition has no meaning here")) << made.body;
  const http::Response shown = as("ada", "GET", "/api/v1/jobs/1");
  EXPECT_TRUE(has(shown.body, R"("cpus":1,"memory_bytes":104857600)")) << shown.body;
}

TEST_F(Jobs, RefusalsAreProblems) {
  const http::Response bad = as("ada", "POST", "/api/v1/jobs", R"({"comand":["a"]})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.content_type, "application/problem+json");
  EXPECT_EQ(
      bad.body,
      R"({"type":"about:blank","title":"Bad Request","status":400,"detail":"there is no field \"comand\"; did you mean command?","code":"invalid","field":"comand","request_id":"test-request"})");
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/99").status, 404);
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/x").status, 400);
  EXPECT_EQ(as("ada", "GET", "/api/v1/jobs/0").status, 400);
  const http::Response anonymous = send({.target = "/api/v1/jobs"})->response;
  EXPECT_EQ(anonymous.status, 401);
  EXPECT_TRUE(anonymous.headers.has("WWW-Authenticate"));
}

TEST_F(Jobs, AFullQueueIsToldToTryLater) {
  EXPECT_EQ(as("root", "PUT", "/api/v1/namespaces/default/quota", R"({"queued":1})").status, 200);
  submit("ada", R"({"command":["x"]})");
  const http::Response full = as("ada", "POST", "/api/v1/jobs", R"({"command":["x"]})");
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(full.headers.get("Retry-After"), "5");
}

TEST_F(Jobs, AFullDiskRefusesWorkAndGoesOn) {
  EXPECT_EQ(as("ada", "GET", "/api/v1/whoami").status, 200);
  journal.set_full(true);
  const http::Response refused = as("ada", "POST", "/api/v1/jobs", R"({"command":["x"]})");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_TRUE(refused.headers.has("Retry-After"));
  EXPECT_EQ(send({.target = "/readyz"})->response.status, 503);
  EXPECT_EQ(send({.target = "/healthz"})->response.status, 200);
  journal.set_full(false);
  clock.time = clock.time + seconds(5);
  settle();
  EXPECT_EQ(send({.target = "/readyz"})->response.status, 200);
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs", R"({"command":["x"]})").status, 201);
}

TEST_F(Jobs, AreHeldReleasedChangedAndCancelled) {
  submit("ada", R"({"command":["x"],"hold":true})");
  const http::Response shown = as("ada", "GET", "/api/v1/jobs/1");
  EXPECT_TRUE(has(shown.body, R"("reason":"held")")) << shown.body;
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1/explain").body, "release it with"));
  const std::string tag(shown.headers.get("ETag"));
  EXPECT_EQ(
      as("ada", "PATCH", "/api/v1/jobs/1", R"({"priority":5,"cpus":"500m"})", {{"If-Match", tag}})
          .status,
      200);
  const http::Response stale =
      as("ada", "PATCH", "/api/v1/jobs/1", R"({"priority":6})", {{"If-Match", tag}});
  EXPECT_EQ(stale.status, 412) << stale.body;
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1").body, R"("priority":5,"cpus":0.5)"));
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs/1/release").body, R"({"id":"1","changed":true})");
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs/1/release").body, R"({"id":"1","changed":false})");
  start("1");
  EXPECT_EQ(as("ada", "PATCH", "/api/v1/jobs/1", R"({"priority":6})").status, 409);
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs/1/cancel", R"({"grace":"1s"})").status, 200);
  EXPECT_EQ(driver->stopped.size(), 1u);
  end("1", 143);
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1").body, R"("outcome":"cancelled")"));
  EXPECT_EQ(as("ada", "POST", "/api/v1/jobs/1/requeue").status, 200);
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1").body, R"("state":"starting")"));
  EXPECT_EQ(as("ada", "DELETE", "/api/v1/jobs/1").status, 200);
}

TEST_F(Jobs, ArraysShowTheirTasks) {
  submit("ada", R"({"command":["x"],"array":"1-100%2"})");
  end("1", 0, 1);
  const http::Response shown = as("ada", "GET", "/api/v1/jobs/1");
  EXPECT_TRUE(has(shown.body, R"("tasks":{"total":100,"waiting":97,"active":2,"succeeded":1)"))
      << shown.body;
  EXPECT_TRUE(has(shown.body, R"("parallel_max":2)")) << shown.body;
  submit("ada", R"({"command":["x"],"array":"1-3"})");
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/2").body, R"("parallel_max":null)"));
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1%5B1%5D").body,
                  R"("id":"1[1]","job":"1","index":1,"state":"ended","outcome":"succeeded")"));
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1%5B50%5D").body, R"("state":"waiting")"));
  for (const char* what : {"", "/explain", "/logs", "/samples"}) {
    EXPECT_EQ(as("ada", "GET", std::string("/api/v1/jobs/1%5B500%5D") + what).status, 404) << what;
  }
  const http::Response tasks = as("ada", "GET", "/api/v1/jobs/1/tasks?limit=2");
  EXPECT_TRUE(has(tasks.body, R"("waiting":"4-100")")) << tasks.body;
  EXPECT_TRUE(has(tasks.body, R"("next":"2")"));
  EXPECT_TRUE(
      has(as("ada", "GET", "/api/v1/jobs/1/tasks?limit=2&cursor=2").body, R"("id":"1[3]")"));
  EXPECT_EQ(as("ada", "DELETE", "/api/v1/jobs/1%5B50%5D").status, 200);
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1%5B50%5D").body,
                  R"("state":"ended","outcome":"cancelled")"));
}

TEST_F(Jobs, AnArrayThatHasStartedChangesWhatItsWaitingTasksNeed) {
  submit("ada", R"({"command":["x"],"array":"1-9%2"})");
  EXPECT_EQ(as("ada", "PATCH", "/api/v1/jobs/1", R"({"parallel_max":3})").status, 200);
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1").body, R"("active":3)"));
  EXPECT_EQ(as("ada", "PATCH", "/api/v1/jobs/1", R"({"memory":"2Gi"})").status, 409);
}

TEST_F(Jobs, ShowTheirNewestAttempts) {
  submit("ada", R"({"command":["x"],"retries":{"max":200,"backoff":"0s"}})");
  submit("ada", R"({"command":["x"],"retries":{"max":200,"backoff":"0s"},"array":"7"})");
  for (int i = 0; i < 120; ++i) {
    end("1", 1);
    end("2", 1, 7);
  }
  const std::string live = as("ada", "GET", "/api/v1/jobs/1").body;
  EXPECT_FALSE(has(live, R"("id":"1.20")")) << live;
  EXPECT_TRUE(has(live, R"("id":"1.21")")) << live;
  EXPECT_TRUE(has(live, R"("id":"1.120")")) << live;
  end("1", 0);
  end("2", 3, 7);
  const std::string ended = as("ada", "GET", "/api/v1/jobs/1").body;
  EXPECT_TRUE(has(ended, R"("exit_code":0,"signal":null,"attempt":121)")) << ended;
  EXPECT_FALSE(has(ended, R"("id":"1.21")")) << ended;
  const std::string page =
      as("ada", "GET", "/api/v1/jobs/2%5B7%5D/attempts?limit=100&cursor=7.21").body;
  EXPECT_TRUE(has(page, R"({"attempts":[{"id":"2[7].22")")) << page;
  EXPECT_TRUE(has(page, R"("id":"2[7].121")")) << page;
}

TEST_F(Jobs, ACommandThatRanOutOfTimeHasACodeOfItsOwn) {
  submit("ada", R"({"command":["x"]})");
  start("1");
  const auto exec = [&] {
    return as("ada", "POST", "/api/v1/jobs/1/exec", R"({"command":["x"]})");
  };
  driver->exec_error = Error{ErrorCode::timeout, "it did not end in time and was killed", ""};
  const http::Response late = exec();
  EXPECT_EQ(late.status, 504) << late.body;
  EXPECT_TRUE(has(late.body, R"("code":"timeout")")) << late.body;
  driver->exec_error = Error{ErrorCode::conflict, "the task is not running", ""};
  EXPECT_EQ(exec().status, 409);
}

TEST_F(Jobs, WhoRanWhatInsideIsKnownAfterwards) {
  submit("ada", R"({"command":["x"]})");
  start("1");
  const std::string wordy(600, 'y');
  ASSERT_EQ(as("ada", "POST", "/api/v1/jobs/1/exec", R"({"command":["ls","-l",")" + wordy + "\"]}")
                .status,
            200);
  ASSERT_EQ(as("root", "POST", "/api/v1/admin/backup", R"({"file":"/copy"})").status, 201);
  const std::string seen = as("root", "GET", "/api/v1/events").body;
  EXPECT_TRUE(has(seen, R"("by":"ada","type":"exec_asked")")) << seen;
  EXPECT_TRUE(has(seen, R"("data":{"attempt":"1.1","command":"ls -l yyy)")) << seen;
  EXPECT_FALSE(has(seen, wordy)) << "the record is bounded";
  EXPECT_TRUE(has(seen, R"("type":"backup_asked")")) << seen;
  EXPECT_FALSE(has(as("ada", "GET", "/api/v1/events").body, "backup_asked"));
}

TEST_F(Jobs, TheirEnvironmentIsForThoseWhoMayAct) {
  submit("ada", R"({"command":["x"],"env":{"SECRET":"hunter2"}})");
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/jobs/1").body, "hunter2"));
  EXPECT_TRUE(has(as("boss", "GET", "/api/v1/jobs/1").body, "hunter2"));
  const http::Response watched = as("watcher", "GET", "/api/v1/jobs/1");
  EXPECT_EQ(watched.status, 200);
  EXPECT_FALSE(has(watched.body, "hunter2"));
}

using Platform = ApiTest;

TEST_F(Platform, NamespacesUsersAndTokens) {
  EXPECT_EQ(as("root", "POST", "/api/v1/users", R"({"name":"eve","uid":1234})").status, 201);
  EXPECT_EQ(as("root", "POST", "/api/v1/users", R"({"name":"eve"})").status, 409);
  EXPECT_EQ(as("root", "POST", "/api/v1/namespaces", R"({"name":"vision","admin":"eve"})").status,
            201);
  EXPECT_TRUE(
      has(as("root", "GET", "/api/v1/namespaces/vision").body, R"("members":{"eve":"admin"})"));
  EXPECT_EQ(as("ada", "GET", "/api/v1/namespaces/vision").status, 404);
  const http::Response quota = as("root", "PUT", "/api/v1/namespaces/vision/quota",
                                  R"({"cpus":2.5,"memory":"1Gi","devices":{"gpu":1}})");
  EXPECT_TRUE(has(quota.body, R"("quota":{"cpus":2.5,"memory":1073741824,"devices":{"gpu":1}})"))
      << quota.body;
  EXPECT_EQ(
      as("root", "PUT", "/api/v1/namespaces/vision/members/ada", R"({"role":"viewer"})").status,
      200);
  EXPECT_EQ(as("root", "PUT", "/api/v1/namespaces/vision/members/ada", R"({"role":"king"})").status,
            400);
  EXPECT_EQ(as("ada", "GET", "/api/v1/namespaces/vision").status, 200);
  EXPECT_EQ(as("root", "DELETE", "/api/v1/namespaces/vision/members/ada").status, 204);
  EXPECT_EQ(as("root", "DELETE", "/api/v1/namespaces/vision").status, 204);
  EXPECT_TRUE(has(
      as("ada", "GET", "/api/v1/whoami").body,
      R"({"name":"ada","platform_admin":false,"read_only":false,"namespaces":{"default":"member"}})"));
  const std::string secret = token_of("ada", R"({"note":"x","expires_in":"1h"})");
  EXPECT_EQ(send({.target = "/api/v1/whoami", .token = secret})->response.status, 200);
  EXPECT_FALSE(has(as("ada", "GET", "/api/v1/tokens").body, secret));
  clock.time = clock.time + hours(2);
  EXPECT_EQ(send({.target = "/api/v1/whoami", .token = secret})->response.status, 401);
  EXPECT_EQ(as("root", "PATCH", "/api/v1/users/ada", R"({"disabled":true})").status, 200);
  EXPECT_EQ(as("ada", "GET", "/api/v1/whoami").status, 403);
}

TEST_F(Platform, ANamespaceThatIsNotThereIsNamed) {
  const std::string job = R"({"command":["x"],"namespace":"mars"})";
  const auto nowhere = [&](const http::Response& response) {
    EXPECT_EQ(response.status, 404);
    return has(response.body, R"(there is no namespace \"mars\", or )");
  };
  EXPECT_TRUE(nowhere(as("ada", "POST", "/api/v1/jobs", job)));
  EXPECT_TRUE(nowhere(as("ada", "GET", "/api/v1/jobs?namespace=mars")));
  EXPECT_TRUE(nowhere(as("ada", "GET", "/api/v1/events?namespace=mars")));
  EXPECT_TRUE(nowhere(as("ada", "GET", "/api/v1/namespaces/mars")));
  EXPECT_TRUE(
      nowhere(as("ada", "PUT", "/api/v1/namespaces/mars/members/ada", R"({"role":"viewer"})")));
  EXPECT_TRUE(nowhere(as("ada", "POST", "/api/v1/tokens", R"({"namespaces":["mars"]})")));
  // One that exists is told in the same words to who may not see it.
  const auto hidden = as("ada", "POST", "/api/v1/jobs", R"({"command":["x"],"namespace":"other"})");
  EXPECT_TRUE(has(hidden.body, R"(there is no namespace \"other\", or you are not a member)"))
      << hidden.body;
}

TEST_F(Platform, TheDefaultNamespaceStays) {
  const http::Response refused = as("root", "DELETE", "/api/v1/namespaces/default");
  EXPECT_EQ(refused.status, 409);
  EXPECT_TRUE(has(refused.body, "namespace default is where jobs go that name none"))
      << refused.body;
  EXPECT_EQ(as("root", "DELETE", "/api/v1/namespaces/other").status, 204);
}

TEST_F(Platform, ATokenForOneNamespaceSeesNoOther) {
  submit("rival", R"({"command":["x"],"namespace":"other"})");
  submit("ada", R"({"command":["x"]})");
  const std::string narrow = token_of("root", R"({"namespaces":["default"]})");
  const std::string list = send({.target = "/api/v1/jobs", .token = narrow})->response.body;
  EXPECT_TRUE(has(list, "\"id\":\"2\""));
  EXPECT_FALSE(has(list, "\"id\":\"1\""));
  EXPECT_EQ(send({.target = "/api/v1/jobs/1", .token = narrow})->response.status, 404);
}

TEST_F(Platform, SitesStatsAndMetrics) {
  submit("ada", R"({"command":["x"]})");
  start("1");
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/sites").body, R"("name":"local")"));
  EXPECT_TRUE(has(as("root", "POST", "/api/v1/sites/local/drain").body, R"("draining":true)"));
  EXPECT_EQ(as("ada", "GET", "/api/v1/sites/mars").status, 404);
  const http::Response stats = as("ada", "GET", "/api/v1/stats");
  EXPECT_TRUE(has(stats.body, R"("jobs":{"waiting":0,"starting":0,"running":1,"stopping":0})"))
      << stats.body;
  EXPECT_TRUE(has(stats.body, R"("node":"node1")"));
  EXPECT_FALSE(has(as("rival", "GET", "/api/v1/stats").body, "node1"));
  const http::Response metrics = send({.target = "/metrics"})->response;
  EXPECT_TRUE(has(metrics.body, "atoll_jobs{state=\"running\"} 1")) << metrics.body;
  EXPECT_TRUE(has(metrics.body, "atoll_http_requests_total{"));
  EXPECT_TRUE(has(metrics.body, "atoll_build_info{version="));
  EXPECT_EQ(as("root", "POST", "/api/v1/admin/backup", R"({"file":"/tmp/x"})").status, 201);
  EXPECT_TRUE(backed_up);
  EXPECT_EQ(as("root", "POST", "/api/v1/admin/backup", R"({"file":"x"})").status, 400);
}

TEST_F(ApiTest, SitesAreAddedAndRemoved) {
  const char* wish = R"({"name":"lab","ssh":{"hosts":["gpu1"]}})";
  const http::Response added = as("root", "POST", "/api/v1/sites", wish);
  EXPECT_EQ(added.status, 201) << added.body;
  EXPECT_TRUE(has(added.body, R"("kind":"ssh")"));
  EXPECT_TRUE(has(added.body, R"("definition":{"hosts":["gpu1"]})"));
  EXPECT_TRUE(has(added.body, R"("trouble":"no driver serves it")"));
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/sites/lab").body, R"("definition":null)"))
      << "hosts are the administrators' business";
  EXPECT_EQ(as("root", "POST", "/api/v1/sites", wish).status, 409);
  const http::Response wrong =
      as("root", "POST", "/api/v1/sites", R"({"name":"x","ssh":{"hosts":["-x"]}})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_TRUE(has(wrong.body, R"("field":"ssh.hosts")")) << wrong.body;
  EXPECT_EQ(as("root", "DELETE", "/api/v1/sites/lab").status, 204);
  EXPECT_EQ(as("root", "DELETE", "/api/v1/sites/lab").status, 404);
  const http::Response kept = as("root", "DELETE", "/api/v1/sites/local");
  EXPECT_EQ(kept.status, 409);
  EXPECT_TRUE(has(kept.body, "is in the server's atoll.yaml"));
}

}  // namespace
}  // namespace atl::api
