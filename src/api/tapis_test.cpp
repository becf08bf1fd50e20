// Pipelines of Tapis: kept, checked, run as workflows, and told in its envelope.
#include <boost/json.hpp>

#include "api/testing.h"

namespace atl::api {
namespace {

namespace json = boost::json;

constexpr const char* kPipelines = "/v3/workflows/groups/default/pipelines";

std::string demo(const std::string& more = {}) {
  return R"({"id":"demo","type":"workflow")" + more +
         R"(,"tasks":[{"id":"a","type":"application","image":"i","command":"true"},)"
         R"({"id":"b","type":"application","image":"i","command":"true",)"
         R"("depends_on":[{"id":"a"}]}]})";
}

class Tapis : public ApiTest {
 protected:
  json::value ask(const std::string& user, const std::string& method, const std::string& target,
                  const std::string& body, int status) {
    const auto answer = as(user, method, target, body);
    EXPECT_EQ(answer.status, status) << method << " " << target << " " << answer.body;
    EXPECT_EQ(answer.content_type, "application/json");
    const json::value whole = json::parse(answer.body);
    for (const char* part : {"status", "message", "result", "metadata", "version"})
      EXPECT_TRUE(whole.as_object().contains(part)) << part;
    EXPECT_EQ(whole.at("status").as_string(), status < 400 ? "success" : "error");
    return whole;
  }
  std::string message(const std::string& user, const std::string& method, const std::string& target,
                      const std::string& body, int status) {
    return std::string(ask(user, method, target, body, status).at("message").as_string());
  }
  json::value get(const std::string& target) {
    return ask("watcher", "GET", target, "", 200).at("result");
  }
  std::string in(const std::string& rest = {}) { return std::string(kPipelines) + "/demo" + rest; }
};

TEST_F(Tapis, APipelineIsKeptShownChangedAndDeleted) {
  EXPECT_EQ(ask("ada", "POST", kPipelines, demo(), 201).at_pointer("/result/url").as_string(),
            in());
  EXPECT_NE(message("ada", "POST", kPipelines, demo(), 409).find("already"), std::string::npos);
  const json::value shown = get(in());
  EXPECT_EQ(shown.at("owner").as_string(), "ada");
  EXPECT_EQ(shown.at_pointer("/execution_profile/duplicate_submission_policy").as_string(),
            "terminate");
  EXPECT_TRUE(shown.at("last_run").is_null());
  EXPECT_EQ(get(kPipelines).as_array().size(), 1u);
  EXPECT_EQ(get(in("/tasks")).as_array().size(), 2u);
  EXPECT_EQ(get(in("/tasks/b")).at_pointer("/depends_on/0/id").as_string(), "a");
  ask("ada", "PATCH", in("/tasks/a"), R"({"command":"false"})", 200);
  EXPECT_EQ(get(in("/tasks/a")).at("command").as_string(), "false");
  EXPECT_NE(message("ada", "DELETE", in("/tasks/a"), "", 400).find("no task \"a\""),
            std::string::npos)
      << "another depends on it";
  ask("ada", "DELETE", in("/tasks/b"), "", 200);
  ask("ada", "POST", in("/tasks"), R"({"id":"c","type":"image_build"})", 400);
  ask("ada", "PATCH", in(), R"({"description":"new"})", 200);
  EXPECT_EQ(get(in()).at("description").as_string(), "new");
  EXPECT_NE(message("ada", "PATCH", in(), R"({"id":"other"})", 400).find("ids do not change"),
            std::string::npos);
  ask("ada", "PATCH", in("/changeOwner/boss"), "", 200);
  EXPECT_EQ(get(in()).at("owner").as_string(), "boss");
  ask("ada", "DELETE", in(), "", 403);
  ask("boss", "DELETE", in(), "", 200);
  ask("boss", "GET", in(), "", 404);
}

TEST_F(Tapis, ErrorsNameThePlaceInTheirEnvelope) {
  const auto refused = [&](const std::string& body) {
    return message("ada", "POST", kPipelines, body, 400);
  };
  EXPECT_EQ(refused(R"({"id":"x","tasks":[{"id":"a","type":"image_build"}]})").find("tasks[0]: "),
            0u);
  EXPECT_NE(refused("{").find("JSON"), std::string::npos);
  EXPECT_NE(refused("[]").find("object"), std::string::npos);
  for (const char* id : {"../x", "a b", "", "a/b", "-x", "$(x)", "a%00"})
    EXPECT_NE(refused(R"({"id":")" + std::string(id) + R"("})").find("is no id"), std::string::npos)
        << id;
  message("ada", "GET", "/v3/workflows/groups/none/pipelines", "", 404);
  message("ada", "GET", in("/runs/x%20y"), "", 404);
  EXPECT_NE(message("ada", "POST", "/v3/workflows/groups/default/archives", "{}", 400)
                .find("archives of pipelines are not offered"),
            std::string::npos);
  EXPECT_NE(message("ada", "GET", "/v3/pods", "", 400).find("not offered"), std::string::npos);
  EXPECT_NE(message("ada", "POST", "/v3/workflows/groups/default/secrets", "{}", 400)
                .find("atoll secret set"),
            std::string::npos);
  const auto nobody = send({.method = "GET", .target = "/v3/workflows/groups"});
  EXPECT_EQ(nobody->response.status, 401);
  EXPECT_TRUE(has(nobody->response.body, "\"status\":\"error\""));
}

TEST_F(Tapis, ARunIsAWorkflow) {
  ask("ada", "POST", kPipelines, demo(R"(,"params":{"N":{"type":"number"}})"), 201);
  const std::string body = R"({"name":"mine","args":{"N":{"type":"number","value":3}}})";
  const json::value run = ask("ada", "POST", in("/run"), body, 200).at("result");
  const std::string uuid(run.at("uuid").as_string());
  EXPECT_EQ(uuid, "00000000-0000-8000-8000-000000000001");
  EXPECT_EQ(run.at("name").as_string(), "mine");
  const std::string workflow = as("ada", "GET", "/api/v1/workflows/1").body;
  EXPECT_TRUE(has(workflow, R"("origin":"tapis/demo")")) << workflow;
  EXPECT_TRUE(has(workflow, R"("fail_fast":true)"));
  EXPECT_TRUE(has(workflow, R"("N":"3")"));
  EXPECT_EQ(get(in("/runs")).as_array().size(), 1u);
  EXPECT_EQ(get(in()).at("current_run").as_string(), uuid);
  const json::value executions = get(in("/runs/" + uuid + "/executions"));
  ASSERT_EQ(executions.as_array().size(), 2u);
  EXPECT_EQ(executions.at(1).at("task_id").as_string(), "b");
  EXPECT_EQ(executions.at(1).at("status").as_string(), "pending");
  const std::string second(executions.at(1).at("uuid").as_string());
  EXPECT_EQ(get(in("/runs/" + uuid + "/executions/" + second)).at("task_id").as_string(), "b");
  ask("watcher", "POST", in("/runs/" + uuid), "", 403);
  ask("ada", "POST", in("/runs/" + uuid), "", 200);
  EXPECT_EQ(get(in("/runs/" + uuid)).at("status").as_string(), "terminated");
  ask("ada", "POST", in("/runs/" + uuid), "", 409);
  EXPECT_NE(message("ada", "POST", in("/run"), R"({"args":{"N":{"value":"x"}}})", 400)
                .find("args.N.value"),
            std::string::npos);
  ask("ada", "GET", in("/runs/00000000-0000-8000-8000-000000000009"), "", 404);
}

TEST_F(Tapis, ARunOfAnotherPipelineIsNotFound) {
  ask("ada", "POST", kPipelines, demo(), 201);
  std::string other = demo();
  other.replace(other.find("demo"), 4, "more");
  ask("ada", "POST", kPipelines, other, 201);
  const json::value run = ask("ada", "POST", in("/run"), "", 200).at("result");
  const std::string uuid(run.at("uuid").as_string());
  ask("ada", "GET", std::string(kPipelines) + "/more/runs/" + uuid, "", 404);
}

TEST_F(Tapis, ASecondRunIsTreatedAsThePolicySays) {
  const auto twice = [&](const std::string& policy, int second) {
    const std::string profile =
        R"(,"execution_profile":{"duplicate_submission_policy":")" + policy + R"("})";
    ask("ada", "POST", kPipelines, demo(profile), 201);
    ask("ada", "POST", in("/run"), "", 200);
    ask("ada", "POST", in("/run"), "", second);
    const json::value runs = get(in("/runs"));
    for (const json::value& run : runs.as_array())
      as("ada", "POST", in("/runs/" + std::string(run.at("uuid").as_string())));
    settle();
    ask("ada", "DELETE", in(), "", 200);
    return runs;
  };
  EXPECT_EQ(twice("deny", 409).as_array().size(), 1u);
  EXPECT_EQ(get(kPipelines).as_array().size(), 0u);
  const json::value deferred = twice("defer", 200);
  EXPECT_EQ(deferred.at(0).at("status").as_string(), "deferred");
  const json::value replaced = twice("terminate", 200);
  EXPECT_EQ(replaced.at(1).at("status").as_string(), "terminated");
}

TEST_F(Tapis, GroupsAreNamespaces) {
  EXPECT_EQ(ask("ada", "GET", "/v3/workflows/groups", "", 200).at("result").as_array().size(), 1u);
  EXPECT_NE(message("root", "POST", "/v3/workflows/groups",
                    R"({"id":"lab","users":[{"username":"nobody"}]})", 400)
                .find("users[0].username"),
            std::string::npos);
  ask("root", "POST", "/v3/workflows/groups",
      R"({"id":"lab","users":[{"username":"ada","is_admin":true},{"username":"watcher"}]})", 201);
  const json::value lab = ask("ada", "GET", "/v3/workflows/groups/lab", "", 200).at("result");
  EXPECT_EQ(lab.at("users").as_array().size(), 3u);
  ask("ada", "PATCH", "/v3/workflows/groups/lab/users/watcher", R"({"is_admin":true})", 200);
  EXPECT_TRUE(ask("ada", "GET", "/v3/workflows/groups/lab/users/watcher", "", 200)
                  .at_pointer("/result/is_admin")
                  .as_bool());
  ask("ada", "DELETE", "/v3/workflows/groups/lab/users/watcher", "", 200);
  ask("ada", "GET", "/v3/workflows/groups/lab/users/watcher", "", 404);
  ask("root", "DELETE", "/v3/workflows/groups/lab", "", 200);
}

TEST_F(Tapis, SecretsAreNamedAndNeverTold) {
  const std::string path = "/api/v1/namespaces/default/secrets";
  EXPECT_EQ(as("ada", "PUT", path + "/weather", R"({"value":"s3cr3t"})").status, 403);
  const auto set = as("boss", "PUT", path + "/weather", R"({"value":"s3cr3t"})");
  EXPECT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(as("boss", "PUT", path + "/Odd%20Name", R"({"value":"x"})").status, 400);
  EXPECT_EQ(as("boss", "PUT", path + "/empty", R"({"value":""})").status, 400);
  const std::string listed = as("ada", "GET", path).body;
  EXPECT_TRUE(has(listed, R"("name":"weather","user":"boss")")) << listed;
  EXPECT_EQ(as("watcher", "GET", path).status, 403);
  const json::value named =
      ask("ada", "GET", "/v3/workflows/groups/default/secrets/weather", "", 200).at("result");
  EXPECT_EQ(named.at_pointer("/secret/owner").as_string(), "boss");
  const std::string events = as("root", "GET", "/api/v1/events?limit=100").body;
  EXPECT_FALSE(has(set.body + listed + events, "s3cr3t"));
  EXPECT_EQ(as("boss", "DELETE", path + "/weather").status, 204);
  EXPECT_EQ(as("boss", "DELETE", path + "/weather").status, 404);
}

TEST_F(Tapis, ATokenInTheShapeOfAJwtIsTaken) {
  const auto made = as("ada", "POST", "/api/v1/tokens", R"({"jwt":true,"expires_in":"1h"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string jwt(json::parse(made.body).at("token").as_string());
  const auto answer = send({.method = "GET",
                            .target = "/v3/workflows/groups",
                            .uid = 4711,
                            .headers = {{"X-Tapis-Token", jwt}}});
  EXPECT_EQ(answer->response.status, 200) << answer->response.body;
}

}  // namespace
}  // namespace atl::api
