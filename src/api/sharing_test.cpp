// Cohorts, weights, the policy, fair shares, and the platform as one document.
#include "api/testing.h"

namespace atl::api {
namespace {

using Sharing = ApiTest;

TEST_F(Sharing, CohortsAreATreeWithWhatTheyUse) {
  EXPECT_EQ(as("root", "PUT", "/api/v1/cohorts/institute", R"({"quota":{"cpus":4}})").status, 200);
  const http::Response made = as("root", "PUT", "/api/v1/cohorts/physics",
                                 R"({"parent":"institute","weight":2,"borrow":{"cpus":1}})");
  EXPECT_EQ(made.status, 200);
  EXPECT_TRUE(has(made.body,
                  R"({"name":"physics","parent":"institute","depth":1,"weight":2,"quota":{},)"
                  R"("nominal":{},"borrow":{"cpus":1})"))
      << made.body;
  const http::Response joined =
      as("root", "PATCH", "/api/v1/namespaces/default",
         R"({"cohort":"physics","weight":0.5,"borrow":{"memory":"1Gi"}})");
  EXPECT_TRUE(has(joined.body,
                  R"("cohort":"physics","weight":0.5,"quota":{},"borrow":{"memory":1073741824})"))
      << joined.body;
  as("root", "PUT", "/api/v1/namespaces/default/quota", R"({"cpus":1})");
  for (int i = 0; i < 2; ++i) start(submit("ada", R"({"command":["x"],"cpus":1})"));
  const http::Response ns = as("ada", "GET", "/api/v1/namespaces/default");
  EXPECT_TRUE(has(ns.body, R"("borrowed":{"cpus":1})")) << ns.body;
  const http::Response list = as("ada", "GET", "/api/v1/cohorts");
  EXPECT_LT(list.body.find("institute"), list.body.find("\"name\":\"physics\""));
  EXPECT_TRUE(has(list.body, R"("in_use":{"cpus":2,"memory":)")) << list.body;
  EXPECT_TRUE(has(list.body, R"("namespaces":["default"])"));
  EXPECT_FALSE(has(as("rival", "GET", "/api/v1/cohorts/physics").body, "default"))
      << "others' namespaces are not shown";
}

TEST_F(Sharing, WhatIsWrongIsNamedWithItsField) {
  as("root", "PUT", "/api/v1/cohorts/a", R"({"quota":{"cpus":2}})");
  as("root", "PUT", "/api/v1/cohorts/b", R"({"parent":"a"})");
  const auto refused = [&](const char* method, const char* path, const char* body, int status,
                           const char* field, const char* text) {
    const http::Response response = as("root", method, path, body);
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_TRUE(has(response.body, std::string("\"field\":\"") + field + "\"")) << response.body;
    EXPECT_TRUE(has(response.body, text)) << response.body;
  };
  refused("PUT", "/api/v1/cohorts/a", R"({"parent":"b"})", 409, "parent", "cohorts form a tree");
  refused("PUT", "/api/v1/cohorts/a", R"({"weight":0})", 400, "weight", "from 0.001 to 1000000");
  refused("PUT", "/api/v1/cohorts/b", R"({"quota":{"cpus":3}})", 409, "quota",
          "exceed its own in cpu");
  refused("PUT", "/api/v1/cohorts/a", R"({"wieght":1})", 400, "wieght", "weight");
  refused("PUT", "/api/v1/cohorts/Bad", "{}", 400, "name", "Bad");
  refused("PATCH", "/api/v1/namespaces/default", R"({"cohort":"none"})", 404, "cohort",
          "no cohort");
  refused("PATCH", "/api/v1/namespaces/default", R"({"weight":0})", 400, "weight",
          "from 0.001 to 1000000");
  refused("PATCH", "/api/v1/policy", R"({"half_life":"1s"})", 400, "half_life", "between 1m");
  refused("DELETE", "/api/v1/cohorts/a", "", 409, "name", "still has members");
  EXPECT_EQ(as("root", "DELETE", "/api/v1/cohorts/b").status, 204);
  EXPECT_EQ(as("root", "GET", "/api/v1/cohorts/b").status, 404);
}

TEST_F(Sharing, ThePolicyCountsWhatRunsAndWaitsByTier) {
  start(submit("ada", R"({"command":["x"],"cpus":4,"tier":"interactive"})"));
  submit("ada", R"({"command":["x"],"cpus":4})");
  const http::Response policy = as("ada", "GET", "/api/v1/policy");
  EXPECT_TRUE(has(policy.body, R"({"half_life":"7d","ageing":"1h","tiers":[{"name":"interactive")"))
      << policy.body;
  EXPECT_TRUE(has(policy.body, R"("yields":false,"running":1,"waiting":0},{"name":"service")"));
  EXPECT_TRUE(
      has(policy.body, R"("yields":false,"running":0,"waiting":1},{"name":"opportunistic")"))
      << policy.body;
  const http::Response changed =
      as("root", "PATCH", "/api/v1/policy", R"({"half_life":"2d","ageing":"10m"})");
  EXPECT_TRUE(has(changed.body, R"({"half_life":"2d","ageing":"10m")")) << changed.body;
}

TEST_F(Sharing, FairSharesAreATreeWithWhoIsFurthestBehindFirst) {
  as("root", "PUT", "/api/v1/cohorts/group", R"({"weight":3})");
  as("root", "PATCH", "/api/v1/namespaces/other", R"({"cohort":"group"})");
  start(submit("ada", R"({"command":["x"],"cpus":2,"memory":"1Gi"})"));
  const http::Response fair = as("root", "GET", "/api/v1/fair");
  EXPECT_TRUE(has(fair.body, R"("rows":[{"kind":"cohort","name":"group","path":"group","depth":0,)"
                             R"("weight":3,"share":0.75,"uses":0,"lately":0,"standing":0)"))
      << fair.body;
  EXPECT_TRUE(has(fair.body, R"("path":"group/other","depth":1)"));
  EXPECT_TRUE(has(fair.body, R"("name":"default","path":"default","depth":0,"weight":1,)"
                             R"("share":0.25,"uses":0.5,"lately":0,"standing":0.5,"most":"cpu")"))
      << fair.body;
  EXPECT_TRUE(has(fair.body, R"({"kind":"user","name":"ada","path":"default/ada","depth":1)"));
  clock.time = clock.time + hours(24 * 7);
  EXPECT_TRUE(has(as("root", "GET", "/api/v1/fair").body, R"("uses":0.5,"lately":0.25)"))
      << "half of what it had for so long";
  EXPECT_FALSE(has(as("ada", "GET", "/api/v1/fair").body, "other"));
  EXPECT_TRUE(has(as("ada", "GET", "/api/v1/fair?tier=interactive").body, R"("uses":0,)"));
  EXPECT_EQ(as("ada", "GET", "/api/v1/fair?tier=none").status, 400);
}

TEST_F(Sharing, DevicesThatNobodyHasAreToldOf) {
  const std::string note = R"("warnings":["no node has \"gpux\" at present")";
  const auto told = [&](const char* method, const char* target, const char* body) {
    const http::Response answer = as("root", method, target, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(has(answer.body, note)) << answer.body;
  };
  told("PUT", "/api/v1/namespaces/other/quota", R"({"devices":{"gpux":1}})");
  told("PATCH", "/api/v1/namespaces/other", R"({"borrow":{"devices":{"gpux":1}}})");
  told("PUT", "/api/v1/cohorts/a", R"({"quota":{"devices":{"gpux":1}}})");
  told("PUT", "/api/v1/calendar/days", R"({"limit":{"devices":{"gpux":1}}})");
  told("PATCH", "/api/v1/platform?dry_run=true",
       R"({"cohorts":[{"name":"a","quota":{"devices":{"gpux":1}}}]})");
  EXPECT_FALSE(has(as("root", "GET", "/api/v1/namespaces/other").body, "warnings"));
  EXPECT_FALSE(has(as("root", "PUT", "/api/v1/cohorts/a", R"({"weight":2})").body, "warnings"));
}

TEST_F(Sharing, WhatNobodyCanLendIsToldOf) {
  const auto told = [&](const char* method, const char* target, const char* body) {
    const http::Response answer = as("root", method, target, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return has(answer.body, "belongs to no cohort and borrows from nobody");
  };
  EXPECT_TRUE(told("PUT", "/api/v1/cohorts/top", R"({"borrow":{"cpus":2}})"));
  EXPECT_FALSE(told("PUT", "/api/v1/cohorts/top", R"({"weight":2})"));
  EXPECT_FALSE(told("PUT", "/api/v1/cohorts/a", R"({"parent":"top","borrow":{"cpus":2}})"));
  EXPECT_TRUE(told("PUT", "/api/v1/cohorts/a", R"({"parent":""})"));
  EXPECT_FALSE(told("PUT", "/api/v1/cohorts/a", R"({"borrow":{}})"));
  EXPECT_TRUE(told("PATCH", "/api/v1/namespaces/other", R"({"borrow":{"cpus":2}})"));
  EXPECT_FALSE(told("PATCH", "/api/v1/namespaces/other", R"({"cohort":"top"})"));
  EXPECT_TRUE(told("PATCH", "/api/v1/platform?dry_run=true",
                   R"({"cohorts":[{"name":"b","borrow":{"cpus":1}}]})"));
  EXPECT_TRUE(
      has(as("root", "PATCH", "/api/v1/namespaces/other", R"({"borrow":{"queued":3}})").body,
          "queued jobs cannot be borrowed"));
}

TEST_F(Sharing, SharesThatAreRoundedUpAreToldOf) {
  core::SiteReport report;
  report.nodes.push_back({"node1", 4000, int64_t{16} << 30, {}});
  report.nodes[0].devices.push_back(
      {.unit = "g0", .kind = "gpu", .model = "t4", .share_step_milli = 50});
  driver->sink(core::SiteProbed{"local", report});
  settle();
  const std::string note =
      R"("warnings":["a share of 0.33 of a gpu is rounded up to what it can be cut into: )"
      R"(0.35 of t4"])";
  for (const char* target : {"/api/v1/jobs", "/api/v1/jobs?dry_run=true"}) {
    const http::Response rounded = as("ada", "POST", target, R"({"command":["x"],"gpus":0.33})");
    EXPECT_TRUE(has(rounded.body, note)) << rounded.body;
    const http::Response exact = as("ada", "POST", target, R"({"command":["x"],"gpu":0.25})");
    EXPECT_TRUE(has(exact.body, R"("warnings":[])")) << exact.body;
  }
  submit("ada", R"({"command":["x"],"hold":true})");
  const http::Response changed = as("ada", "PATCH", "/api/v1/jobs/3", R"({"gpus":0.33})");
  EXPECT_TRUE(has(changed.body, R"({"id":"3","changed":true,)" + note)) << changed.body;
  EXPECT_EQ(as("ada", "PATCH", "/api/v1/jobs/3", R"({"gpus":0.25})").body,
            R"({"id":"3","changed":true})");
}

TEST_F(Sharing, ADocumentIsPutInForceAsAWholeOrNotAtAll) {
  const std::string wish =
      R"({"cohorts":[{"name":"a","parent":"b"},{"name":"b","quota":{"cpus":2}}],)"
      R"("namespaces":[{"name":"bio","cohort":"a","quota":{"cpus":1},"members":{"ada":"admin"}}]})";
  const http::Response dry = as("root", "PATCH", "/api/v1/platform?dry_run=true", wish);
  EXPECT_EQ(dry.status, 200) << dry.body;
  EXPECT_TRUE(
      has(dry.body, R"({"applied":false,"changes":[{"change":"add","kind":"cohort","name":"a")"))
      << dry.body;
  EXPECT_EQ(as("root", "GET", "/api/v1/cohorts").body, R"({"cohorts":[]})");
  const http::Response bad =
      as("root", "PATCH", "/api/v1/platform",
         R"({"cohorts":[{"name":"a"},{"name":"b","weight":0}],"namespaces":[{"name":"bio"}]})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_TRUE(has(bad.body, R"("field":"cohorts[1].weight")")) << bad.body;
  EXPECT_EQ(as("root", "GET", "/api/v1/cohorts").body, R"({"cohorts":[]})");
  const http::Response done = as("root", "PATCH", "/api/v1/platform", wish);
  EXPECT_TRUE(has(done.body, R"({"applied":true,"changes":[{)")) << done.body;
  EXPECT_EQ(as("root", "PATCH", "/api/v1/platform", wish).body,
            R"({"applied":true,"changes":[],"warnings":[]})");
  const http::Response now = as("root", "GET", "/api/v1/platform");
  EXPECT_TRUE(
      has(now.body, R"({"name":"bio","cohort":"a","quota":{"cpus":1},"members":{"ada":"admin"}})"))
      << now.body;
  EXPECT_EQ(as("root", "PATCH", "/api/v1/platform?prune=true", now.body).body,
            R"({"applied":true,"changes":[],"warnings":[]})");
  const http::Response gone = as("root", "PATCH", "/api/v1/platform?prune=true&dry_run=true", "{}");
  EXPECT_TRUE(has(gone.body, R"({"change":"remove","kind":"namespace","name":"bio")")) << gone.body;
  EXPECT_TRUE(has(gone.body, R"("to":null})")) << gone.body;
  EXPECT_FALSE(has(gone.body, R"("to":"")")) << gone.body;
}

}  // namespace
}  // namespace atl::api
