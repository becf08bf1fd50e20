// Schedules over the API. What they run is made elsewhere: here a firing stays as it is asked for.
#include "api/testing.h"
#include "auth/hook.h"

namespace atl::api {
namespace {

constexpr const char* kSchedules = "/api/v1/namespaces/default/schedules";
constexpr const char* kFiles =
    R"("files":{"flow.yaml":"params: {day: {default: x}}\nsteps: {a: {run: 'echo {params.day}'}}"})";

class Schedules : public ApiTest {
 protected:
  void SetUp() override {
    service_options.watch = {"/data"};
    ApiTest::SetUp();
  }
  http::Response make(const std::string& members, const char* user = "ada",
                      const std::string& query = "") {
    return as(user, "POST", kSchedules + query,
              std::string(R"({"name":"nightly",)") + kFiles + "," + members + "}");
  }
  static std::string at(const std::string& verb = "") {
    return std::string(kSchedules) + "/nightly" + (verb.empty() ? "" : "/" + verb);
  }
  void refused(const std::string& members, int status, const std::string& field,
               const std::string& text) {
    const http::Response answer = make(members);
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_TRUE(has(answer.body, "\"field\":\"" + field + "\"")) << answer.body;
    EXPECT_TRUE(has(answer.body, text)) << answer.body;
  }
  static std::string between(const std::string& text, const std::string& before) {
    const size_t from = text.find(before) + before.size();
    return text.substr(from, text.find('"', from) - from);
  }
  int deliver(const std::string& hook, const std::string& secret, const std::string& body,
              int64_t off = 0) {
    const std::string stamp = std::to_string(clock.time.us / 1'000'000 + off);
    return send({.method = "POST",
                 .target = hook,
                 .body = body,
                 .headers = {{"X-Atoll-Timestamp", stamp},
                             {"X-Atoll-Signature",
                              "sha256=" + auth::hmac_sha256(secret, stamp + "." + body)}}})
        ->response.status;
  }
};

// The test's clock begins on Monday, 2026-09-21 at 14:13:20 UTC.
TEST_F(Schedules, OneIsMadeAndShown) {
  const http::Response made = make(R"("cron":"0 6 * * *","zone":"Europe/Berlin","missed":"once")");
  EXPECT_EQ(made.status, 201) << made.body;
  const http::Response shown = as("watcher", "GET", at());
  EXPECT_EQ(shown.body, made.body);
  for (const char* part :
       {R"("name":"nightly","namespace":"default","user":"ada","trigger":"time","paused":false)",
        R"("cron":"0 6 * * *","calendar":null,"zone":"Europe/Berlin","missed":"once")",
        R"("overlap":"skip","url":null)", R"("workflow":"flow")",
        R"("next":["2026-09-22T04:00:00Z","2026-09-23T04:00:00Z",)", R"("fired":0,"firings":[])"})
    EXPECT_TRUE(has(shown.body, part)) << part << "\n" << shown.body;
  EXPECT_EQ(as("watcher", "GET", kSchedules).body, R"({"schedules":[)" + shown.body + "]}");
  EXPECT_EQ(as("rival", "GET", at()).status, 404);
  EXPECT_EQ(as("watcher", "GET", std::string(kSchedules) + "/other").status, 404);
}

TEST_F(Schedules, WhatIsWrongIsSaidWhereItIs) {
  refused(R"("overlap":"wait")", 400, "cron", "nothing starts it");
  refused(R"("cron":"@daily","webhook":true)", 400, "cron", "several things start it");
  refused(R"("cron":"61 * * * *")", 400, "cron", "the minute");
  refused(R"("calendar":"06:00 Nowhere/Land")", 400, "zone", "there is no time zone");
  refused(R"("calendar":"2020-01-01")", 400, "calendar", "never comes again");
  refused(R"("cron":"@daily","zone":"Moon/Base")", 400, "zone", "there is no time zone");
  refused(R"("webhook":true,"zone":"UTC")", 400, "zone", "does not go with");
  refused(R"("cron":"@daily","body_param":"day")", 400, "body_param", "needs a webhook or a file");
  refused(R"("webhook":true,"body_param":"dai")", 400, "body_param", "did you mean day?");
  refused(R"("cron":"@daily","set":{"rate":"1"})", 400, "params.rate", "rate");
  refused(R"("cron":"@daily","missed":"never")", 400, "missed", "skip");
  refused(R"("on_file":"data/x")", 400, "on_file", "whole path");
  refused(R"("on_file":"/data/../etc/passwd")", 400, "on_file", "without . and ..");
  refused(R"("on_file":"/data/*/x")", 400, "on_file", "only the last part");
  refused(R"("on_file":"/etc/passwd")", 403, "on_file", "watch: [/etc]");
  refused(R"("on_file":"/database/x")", 403, "on_file", "watch: [/database]");
  refused(R"("on_file":"/data/x","quiet":"2d")", 400, "quiet", "1s and 1d");
  refused(R"("on_queue":"none")", 404, "on_queue", "there is no queue");
  const http::Response broken =
      as("ada", "POST", kSchedules,
         R"({"name":"n","files":{"flow.yaml":"steps:\n  a: {rum: x}"},"cron":"@daily"})");
  EXPECT_EQ(broken.status, 400);
  EXPECT_TRUE(has(broken.body, "flow.yaml:2:")) << broken.body;
  const http::Response foreign =
      as("ada", "POST", kSchedules,
         R"({"name":"n","files":{"f.yaml":"workflow: {nodes: {a: {exec: x}}}"},"cron":"@daily"})");
  EXPECT_TRUE(has(foreign.body, "is a Cloudmesh file")) << foreign.body;
  EXPECT_EQ(as("watcher", "GET", kSchedules).body, R"({"schedules":[]})");
}

TEST_F(Schedules, ADryRunSaysTheNextTimesAndMakesNothing) {
  const http::Response tried = make(R"("calendar":"hourly")", "ada", "?dry_run=true");
  EXPECT_EQ(tried.status, 200);
  EXPECT_TRUE(has(tried.body, R"("next":["2026-09-21T15:00:00Z","2026-09-21T16:00:00Z")"))
      << tried.body;
  EXPECT_EQ(as("ada", "GET", at()).status, 404);
  EXPECT_EQ(make(R"("calendar":"hourly")", "watcher", "?dry_run=true").status, 403);
}

TEST_F(Schedules, OneIsPausedRunAndDeleted) {
  make(R"("cron":"@hourly")");
  EXPECT_TRUE(has(as("ada", "POST", at("pause")).body, R"("paused":true)"));
  EXPECT_TRUE(has(as("ada", "POST", at("resume")).body, R"("paused":false)"));
  const http::Response run = as("boss", "POST", at("run"));
  EXPECT_EQ(run.status, 202);
  EXPECT_EQ(run.body, R"({"number":1,"repeated":false})");
  EXPECT_TRUE(has(as("ada", "GET", at()).body,
                  R"("fired":1,"firings":[{"number":1,"cause":"person","planned":null)"));
  clock.time = clock.time + hours(1);
  settle();
  EXPECT_TRUE(has(as("ada", "GET", at()).body, R"("number":2,"cause":"time","planned":"2026)"));
  EXPECT_EQ(make(R"("cron":"@daily")").status, 409);
  EXPECT_EQ(make(R"("cron":"@daily","replace":true)").status, 200);
  EXPECT_EQ(as("ada", "DELETE", at()).status, 204);
  EXPECT_EQ(as("ada", "GET", at()).status, 404);
}

TEST_F(Schedules, ADeliveryIsTakenWhenItIsSignedRightly) {
  const http::Response made = make(R"("webhook":true,"body_param":"day")");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string hook = "/api/v1/hooks/1", secret = between(made.body, "\"secret\":\"");
  EXPECT_TRUE(has(made.body, hook));
  EXPECT_FALSE(has(as("ada", "GET", at()).body, secret)) << "it is shown once";
  EXPECT_EQ(deliver(hook, "wrong", "a"), 401);
  EXPECT_EQ(deliver(hook, secret, "a", -301), 401) << "too old";
  EXPECT_EQ(deliver("/api/v1/hooks/2", secret, "a"), 401) << "no such hook looks like a wrong one";
  EXPECT_EQ(deliver("/api/v1/hooks/x", secret, "a"), 401);
  EXPECT_EQ(deliver(hook, secret, "\xff"), 400);
  EXPECT_EQ(send({.method = "POST", .target = hook})->response.status, 400) << "not signed";
  EXPECT_TRUE(has(as("ada", "GET", at()).body, R"("fired":0)"));
  EXPECT_EQ(deliver(hook, secret, "a"), 202);
  EXPECT_EQ(deliver(hook, secret, "a"), 202) << "the same again";
  EXPECT_TRUE(has(as("ada", "GET", at()).body, R"("fired":1)"));
  EXPECT_EQ(deliver(hook, secret, "b"), 202);
  EXPECT_TRUE(has(as("ada", "GET", at()).body, R"("fired":2)"));
  as("ada", "POST", at("pause"));
  EXPECT_EQ(deliver(hook, secret, "c"), 409);
  const http::Response again = make(R"("webhook":true,"replace":true)");
  EXPECT_FALSE(has(again.body, "secret")) << "it has kept its own";
  EXPECT_EQ(deliver(hook, secret, "d"), 202);
}

TEST_F(Schedules, GitHubMayDeliver) {
  const http::Response made = make(R"("webhook":true)");
  const std::string secret = between(made.body, "\"secret\":\"");
  const auto exchange =
      send({.method = "POST",
            .target = "/api/v1/hooks/1",
            .body = "{}",
            .headers = {{"X-Hub-Signature-256", "sha256=" + auth::hmac_sha256(secret, "{}")}}});
  EXPECT_EQ(exchange->response.body, R"({"number":1,"repeated":false})");
}

TEST_F(Schedules, WhatTheyRunAndAreSentIsInNoEvent) {
  const http::Response made = make(R"("webhook":true)");
  deliver("/api/v1/hooks/1", between(made.body, "\"secret\":\""), "confidential");
  const std::string events = as("root", "GET", "/api/v1/events?after=0&limit=1000").body;
  EXPECT_TRUE(has(events, "schedule_set")) << events;
  EXPECT_TRUE(has(events, "schedule_fired"));
  for (const char* hidden : {"confidential", "steps:", "\"secret\""})
    EXPECT_FALSE(has(events, hidden)) << hidden;
}

TEST_F(Schedules, OneFieldIsChangedAndTheRestStays) {
  EXPECT_EQ(make(R"("cron":"0 6 * * *","zone":"Europe/Berlin","missed":"once","paused":true,)"
                 R"("set":{"day":"monday"},"time_param":"day")")
                .status,
            201);
  const auto change = [&](const std::string& body, const char* user = "ada") {
    return as(user, "PATCH", at(), body);
  };
  auto changed = change(R"({"overlap":"wait"})");
  EXPECT_EQ(changed.status, 200) << changed.body;
  for (const char* part :
       {R"("cron":"0 6 * * *","calendar":null,"zone":"Europe/Berlin","missed":"once")",
        R"("overlap":"wait")", R"("paused":true)", R"("workflow":"flow")", R"("user":"ada")"})
    EXPECT_TRUE(has(changed.body, part)) << part << changed.body;
  changed = change(R"({"calendar":"Mon..Fri 07:30"})", "boss");
  for (const char* part :
       {R"("cron":null,"calendar":"Mon..Fri 07:30","zone":"Europe/Berlin","missed":"once")",
        R"("overlap":"wait")", R"("user":"boss")", R"("2026-09-22T05:30:00Z")"})
    EXPECT_TRUE(has(changed.body, part)) << part << changed.body;
  changed = change(R"({"webhook":true})", "boss");
  EXPECT_TRUE(has(changed.body, R"("trigger":"webhook")")) << changed.body;
  EXPECT_TRUE(has(changed.body, R"("secret":")")) << "a new one is told";
  changed = change(R"({"body_fields":true})", "boss");
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_FALSE(has(changed.body, R"("secret":")")) << "and kept";
}

TEST_F(Schedules, AChangeIsCheckedAsAWhole) {
  make(R"("cron":"@daily")");
  const auto refused = [&](const char* body, int status, const char* text,
                           const char* user = "ada") {
    const auto answer = as(user, "PATCH", at(), body);
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_TRUE(has(answer.body, text)) << answer.body;
  };
  refused(R"({"cron":"soon"})", 400, "cron");
  refused(R"({"at_least":3})", 400, "does not go with a schedule that starts by time");
  refused(R"({"set":{"none":"x"}})", 400, "none");
  refused(R"({"name":"other"})", 400, "name");
  refused(R"({"overlap":"wait"})", 403, "", "watcher");
  EXPECT_EQ(as("ada", "PATCH", std::string(kSchedules) + "/none", "{}").status, 404);
  EXPECT_TRUE(has(as("ada", "GET", at()).body, R"("cron":"@daily")"));
}

TEST_F(Schedules, WhatTheyDoIsCounted) {
  const auto made = make(R"("webhook":true)");
  const std::string secret = between(made.body, R"("secret":")");
  const std::string url = between(made.body, R"("url":")");
  const std::string hook = url.substr(url.find("/api/"));
  EXPECT_EQ(deliver(hook, secret, "{}"), 202);
  EXPECT_EQ(as("ada", "POST", at("run")).status, 202);
  const std::string page = send({.target = "/metrics"})->response.body;
  for (const char* line : {"atoll_schedules_fired_total{cause=\"webhook\"} 1",
                           "atoll_schedules_fired_total{cause=\"person\"} 1",
                           "atoll_schedules_settled_total{state=\"opened\"} 0",
                           "atoll_schedules_settled_total{state=\"failed\"} 0"})
    EXPECT_TRUE(has(page, line)) << line;
}

TEST_F(Schedules, ADeliveryWhoseOwnerLostTheirRightsIsTaken) {
  const auto made = make(R"("webhook":true)");
  const std::string secret = between(made.body, R"("secret":")");
  const std::string url = between(made.body, R"("url":")");
  const std::string hook = url.substr(url.find("/api/"));
  EXPECT_EQ(as("root", "PATCH", "/api/v1/users/ada", R"({"disabled":true})").status, 200);
  EXPECT_EQ(deliver(hook, secret, "{}"), 202) << "the schedule says what became of it";
  EXPECT_TRUE(has(as("boss", "GET", at()).body, R"("fired":1)"));
}

}  // namespace
}  // namespace atl::api
