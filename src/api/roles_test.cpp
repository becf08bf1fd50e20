// Every route asked by every kind of actor. The expectation comes from the route's own definition
// (Endpoint::needs and Endpoint::changes), so a new route is held to what it says of itself.
#include <set>

#include "api/endpoint.h"
#include "api/testing.h"

namespace atl::api {
namespace {

enum class Who {
  anonymous,
  viewer,
  member,
  admin,
  other_admin,
  platform_admin,
  read_only,
  expired
};
constexpr const char* kWords[] = {"anonymous",   "viewer",         "member",    "admin",
                                  "other_admin", "platform_admin", "read_only", "expired"};

// What passes authentication and the role; the request itself may still be refused for its content.
enum class Answer { unauthorized, refused, passed };

Answer expected(const Endpoint& endpoint, Who who) {
  if (endpoint.needs == Needs::nothing) return Answer::passed;
  if (who == Who::anonymous || who == Who::expired) return Answer::unauthorized;
  if (endpoint.changes && who == Who::read_only) return Answer::refused;
  // The read-only token belongs to the member.
  const Who acting = who == Who::read_only ? Who::member : who;
  if (acting == Who::platform_admin) return Answer::passed;
  switch (endpoint.needs) {
    case Needs::user:
      return Answer::passed;
    case Needs::viewer:
      return acting == Who::other_admin ? Answer::refused : Answer::passed;
    case Needs::member:
      return acting == Who::member || acting == Who::admin ? Answer::passed : Answer::refused;
    case Needs::admin:
      return acting == Who::admin ? Answer::passed : Answer::refused;
    default:
      return Answer::refused;
  }
}

Answer got(int status) {
  if (status == 401) return Answer::unauthorized;
  return status == 403 || status == 404 ? Answer::refused : Answer::passed;
}

// A request that would succeed, had the actor the right to make it.
struct Sample {
  const char* method;
  const char* path;
  const char* target;
  const char* body;
};
constexpr Sample kSamples[] = {
    {"POST", "/api/v1/jobs", nullptr, R"({"command":["x"]})"},
    {"PATCH", "/api/v1/jobs/{id}", nullptr, R"({"priority":1})"},
    {"POST", "/api/v1/jobs/{id}/exec", nullptr, R"({"command":["x"]})"},
    {"GET", "/api/v1/jobs/{id}/files/{path...}", "/api/v1/jobs/1/files/a.txt", ""},
    {"PUT", "/api/v1/jobs/{id}/files/{path...}", "/api/v1/jobs/1/files/b.txt", "x"},
    {"POST", "/api/v1/namespaces", nullptr, R"({"name":"fresh"})"},
    {"POST", "/api/v1/sites", nullptr, R"({"name":"fresh","simulated":{}})"},
    {"PUT", "/api/v1/namespaces/{namespace}/quota", nullptr, R"({"cpus":64})"},
    {"PUT", "/api/v1/namespaces/{namespace}/members/{user}",
     "/api/v1/namespaces/default/members/rival", R"({"role":"viewer"})"},
    {"DELETE", "/api/v1/namespaces/{namespace}/members/{user}",
     "/api/v1/namespaces/default/members/watcher", ""},
    {"PATCH", "/api/v1/namespaces/{namespace}", nullptr, R"({"weight":2})"},
    {"PUT", "/api/v1/cohorts/{cohort}", nullptr, R"({"weight":2})"},
    {"PATCH", "/api/v1/policy", nullptr, R"({"half_life":"1d"})"},
    {"PATCH", "/api/v1/platform", nullptr, R"({"cohorts":[{"name":"fresh"}]})"},
    {"PUT", "/api/v1/calendar/{entry}", nullptr, R"({"share":0.5})"},
    {"POST", "/api/v1/reservations", nullptr,
     R"({"name":"fresh","until":"2026-09-22T00:00:00Z","namespaces":["default"],"cpus":1})"},
    {"POST", "/api/v1/workflows", nullptr, R"({"files":{"f.yaml":"steps: {a: {run: x}}"}})"},
    {"POST", "/api/v1/workflows/{workflow}/steps", nullptr, R"({"steps":{"b":{"run":"x"}}})"},
    {"POST", "/api/v1/users", nullptr, R"({"name":"fresh"})"},
    {"GET", "/api/v1/users/{user}", nullptr, ""},
    {"PATCH", "/api/v1/users/{user}", "/api/v1/users/watcher", R"({"platform_admin":false})"},
    {"DELETE", "/api/v1/tokens/{id}", nullptr, ""},
    {"POST", "/api/v1/admin/backup", nullptr, R"({"file":"/tmp/none"})"},
    {"POST", "/api/v1/namespaces/{namespace}/queues", nullptr, R"({"name":"fresh"})"},
    {"PATCH", "/api/v1/namespaces/{namespace}/queues/{queue}", nullptr, R"({"attempts":2})"},
    {"POST", "/api/v1/namespaces/{namespace}/queues/{queue}/items", nullptr,
     R"({"items":[{"body":"x"}]})"},
    {"POST", "/api/v1/namespaces/{namespace}/queues/{queue}/lease", nullptr, "{}"},
    {"POST", "/api/v1/namespaces/{namespace}/queues/{queue}/done", nullptr, R"({"lease":1})"},
    {"POST", "/api/v1/namespaces/{namespace}/queues/{queue}/retry", nullptr, R"({"lease":1})"},
    {"POST", "/api/v1/namespaces/{namespace}/queues/{queue}/extend", nullptr, R"({"leases":[1]})"},
    {"POST", "/api/v1/namespaces/{namespace}/queues/{queue}/restore", nullptr, "{}"},
    {"POST", "/api/v1/namespaces/{namespace}/queues/{queue}/purge", nullptr, "{}"},
    {"PUT", "/api/v1/namespaces/{namespace}/secrets/{secret}", nullptr, R"({"value":"x"})"},
    {"POST", "/v3/workflows/groups", nullptr, R"({"id":"fresh"})"},
    {"POST", "/v3/workflows/groups/{group}/users", nullptr, R"({"username":"rival"})"},
    {"PATCH", "/v3/workflows/groups/{group}/users/{username}", nullptr, R"({"is_admin":false})"},
    {"POST", "/v3/workflows/groups/{group}/pipelines", nullptr, R"({"id":"fresh"})"},
    {"PATCH", "/v3/workflows/groups/{group}/pipelines/{pipeline}", nullptr,
     R"({"description":"x"})"},
    {"POST", "/v3/workflows/groups/{group}/pipelines/{pipeline}/tasks", nullptr,
     R"({"id":"b","type":"application","image":"i","command":"true"})"},
    {"PATCH", "/v3/workflows/groups/{group}/pipelines/{pipeline}/tasks/{task}", nullptr,
     R"({"description":"x"})"},
    {"POST", "/api/v1/namespaces/{namespace}/schedules", nullptr,
     R"({"name":"fresh","files":{"f.yaml":"steps: {a: {run: x}}"},"cron":"@daily"})"},
    {"PATCH", "/api/v1/namespaces/{namespace}/schedules/{schedule}", nullptr,
     R"({"overlap":"wait"})"},
    {"GET", "/cloudmesh/workflows", "/cloudmesh/workflows?namespace=default", ""},
    {"GET", "/cloudmesh", "/cloudmesh?namespace=default", ""},
    {"GET", "/cloudmesh/home", "/cloudmesh/home?namespace=default", ""},
    {"POST", "/cloudmesh/workflow", "/cloudmesh/workflow?namespace=default&workflow_name=fresh",
     "workflow: {nodes: {a: {exec: 'true'}}}"},
    {"POST", "/cloudmesh/workflow/upload",
     "/cloudmesh/workflow/upload?namespace=default&workflow_name=fresh",
     "workflow: {nodes: {a: {exec: 'true'}}}"},
    {"POST", "/cloudmesh/workflow/{workflow}",
     "/cloudmesh/workflow/flood?namespace=default&dependencies=a,b", ""},
    {"POST", "/cloudmesh/workflow/{workflow}/job/{job}",
     "/cloudmesh/workflow/flood/job/b?namespace=default", ""},
};

std::string filled(std::string path) {
  if (path.starts_with("/cloudmesh/")) {
    if (const size_t at = path.find("{workflow}"); at != std::string::npos)
      path.replace(at, 10, "flood");
  }
  for (const auto& [name, value] :
       {std::pair("{id}", "1"), std::pair("{namespace}", "default"), std::pair("{site}", "local"),
        std::pair("{cohort}", "group"), std::pair("{entry}", "days"), std::pair("{node}", "node1"),
        std::pair("{reservation}", "course"), std::pair("{queue}", "frames"),
        std::pair("{job}", "a"), std::pair("{group}", "default"), std::pair("{pipeline}", "demo"),
        std::pair("{task}", "a"), std::pair("{username}", "ada"), std::pair("{secret}", "weather"),
        std::pair("{run}", "00000000-0000-8000-8000-000000000004"),
        std::pair("{execution}", "00000000-0001-8000-8000-000000000004"),
        std::pair("{path...}", "pods"), std::pair("{schedule}", "nightly"),
        std::pair("{hook}", "1")}) {
    if (const size_t at = path.find(name); at != std::string::npos)
      path.replace(at, std::string(name).size(), value);
  }
  return path;
}

class Roles : public ApiTest {
 protected:
  void prepare() {
    char name[] = "/tmp/atoll-roles-XXXXXX";
    driver->directory = mkdtemp(name);
    std::system(("echo x > " + driver->directory + "/a.txt").c_str());
    secrets = {{Who::anonymous, ""},
               {Who::viewer, token_of("watcher")},
               {Who::member, token_of("ada")},
               {Who::admin, token_of("boss")},
               {Who::other_admin, token_of("rival")},
               {Who::platform_admin, token_of("root")},
               {Who::read_only, token_of("ada", R"({"read_only":true})")},
               {Who::expired, token_of("ada", R"({"expires_in":"1s"})")}};
    clock.time = clock.time + seconds(10);
    for (const char* flood : {"flood", "flood2", "flood3"})
      as("root", "POST",
         std::string("/cloudmesh/workflow?namespace=default&workflow_name=") + flood,
         "workflow: {nodes: {a: {exec: 'true'}}}");
    as("root", "PUT", "/api/v1/cohorts/group", "{}");
    as("root", "PUT", "/api/v1/calendar/days", R"({"share":0.9})");
    as("root", "POST", "/api/v1/reservations",
       R"({"name":"course","from":"2026-10-01T00:00:00Z","until":"2026-10-01T01:00:00Z",)"
       R"("namespaces":["default"],"cpus":1})");
    // Workflows of the member, one for each who may end it.
    for (int i = 0; i < 3; ++i)
      send({.method = "POST",
            .target = "/api/v1/workflows",
            .body = R"({"files":{"f.yaml":"steps: {a: {run: x}}"},"paused":true})",
            .token = secrets[Who::member]});
    // Pipelines of the member, one for each who may delete it; a run of the first is workflow 4.
    for (const char* demo : {"demo", "demo2", "demo3"})
      send({.method = "POST",
            .target = "/v3/workflows/groups/default/pipelines",
            .body = std::string(R"({"id":")") + demo +
                    R"(","tasks":[{"id":"a","type":"application","image":"i","command":"x"}]})",
            .token = secrets[Who::member]});
    send({.method = "POST",
          .target = "/v3/workflows/groups/default/pipelines/demo/run",
          .token = secrets[Who::member]});
    for (const char* secret : {"weather", "weather2"})
      as("root", "PUT", std::string("/api/v1/namespaces/default/secrets/") + secret,
         R"({"value":"x"})");
    // Schedules of the member, one for each who may delete or take it.
    for (const char* each : {"nightly", "nightly2", "nightly3"})
      send({.method = "POST",
            .target = "/api/v1/namespaces/default/schedules",
            .body = std::string(R"({"name":")") + each +
                    R"(","files":{"f.yaml":"steps: {a: {run: x}}"},"cron":"@daily"})",
            .token = secrets[Who::member]});
    as("root", "POST", "/api/v1/namespaces/default/queues", R"({"name":"frames"})");
    as("root", "POST", "/api/v1/namespaces/default/queues", R"({"name":"second"})");
    // Job 1 belongs to the member and runs.
    send({.method = "POST",
          .target = "/api/v1/jobs",
          .body = R"({"command":["x"]})",
          .token = secrets[Who::member]});
    start("1");
    driver->output[{JobId{1}, 0, 1}] = "out";
  }
  void TearDown() override {
    ApiTest::TearDown();
    if (!driver->directory.empty()) std::system(("rm -rf " + driver->directory).c_str());
  }
  std::map<Who, std::string> secrets;
};

std::string target_of(const Endpoint& endpoint, Who who, std::string& body) {
  std::string target = filled(endpoint.path);
  // Each of those who may deletes one of their own.
  if (std::string_view(endpoint.method) == "DELETE" && target.starts_with("/cloudmesh/"))
    target.replace(target.find("flood"), 5,
                   std::string("flood") + (who == Who::admin    ? "2"
                                           : who == Who::member ? "3"
                                                                : ""));
  if (std::string_view(endpoint.method) == "DELETE" && who != Who::platform_admin) {
    if (const size_t at = target.find("/demo"); at != std::string::npos)
      target.replace(at, 5, who == Who::admin ? "/demo2" : "/demo3");
  }
  if (std::string_view(endpoint.method) == "DELETE" && who == Who::platform_admin &&
      target.ends_with("/weather"))
    target += "2";
  // One who changes a schedule takes it over.
  const bool takes =
      std::string_view(endpoint.method) == "DELETE" || std::string_view(endpoint.method) == "PATCH";
  if (takes && target.ends_with("/nightly"))
    target += who == Who::admin ? "2" : who == Who::member ? "3" : "";
  for (const Sample& sample : kSamples) {
    if (std::string(sample.method) != endpoint.method || std::string(sample.path) != endpoint.path)
      continue;
    body = sample.body;
    if (sample.target) target = sample.target;
  }
  const std::string path = endpoint.path;
  // Everybody has a name and a token of their own to ask about.
  const std::map<Who, std::pair<const char*, const char*>> own{
      {Who::viewer, {"watcher", "1"}},      {Who::member, {"ada", "2"}},
      {Who::admin, {"boss", "3"}},          {Who::other_admin, {"rival", "4"}},
      {Who::platform_admin, {"root", "5"}}, {Who::read_only, {"ada", "6"}}};
  const auto mine = own.find(who);
  if (path == "/api/v1/users/{user}" && std::string(endpoint.method) == "GET")
    target = std::string("/api/v1/users/") + (mine == own.end() ? "ada" : mine->second.first);
  if (path == "/api/v1/tokens/{id}")
    target = std::string("/api/v1/tokens/") + (mine == own.end() ? "2" : mine->second.second);
  if (const size_t at = target.find("{workflow}"); at != std::string::npos)
    target.replace(at, 10, who == Who::member ? "2" : who == Who::platform_admin ? "3" : "1");
  if (const size_t at = target.find("{step}"); at != std::string::npos) target.replace(at, 6, "0");
  // The administrator before them has deleted the other one.
  if (path == "/api/v1/namespaces/{namespace}/queues/{queue}" &&
      std::string(endpoint.method) == "DELETE" && who == Who::platform_admin)
    target = "/api/v1/namespaces/default/queues/second";
  // The administrator before them has removed the other one.
  if (path.find("members/{user}") != std::string::npos && who == Who::platform_admin) {
    target = "/api/v1/namespaces/default/members/ada";
  }
  if (path == "/v3/workflows/groups/{group}/users/{username}" && who != Who::platform_admin)
    target = "/v3/workflows/groups/default/users/watcher";
  return target;
}

// Each route starts from a fresh world, so that what one request did is not in the way of the next.
class RouteAndRole : public Roles, public testing::WithParamInterface<size_t> {};

TEST_P(RouteAndRole, IsAsItsDefinitionSays) {
  const Endpoint& endpoint = endpoints()[GetParam()];
  prepare();
  // The mightiest last: what they do may end the job or remove the token.
  for (const Who who : {Who::anonymous, Who::expired, Who::read_only, Who::other_admin, Who::viewer,
                        Who::admin, Who::member, Who::platform_admin}) {
    std::string body;
    const std::string target = target_of(endpoint, who, body);
    const auto exchange =
        send({.method = endpoint.method, .target = target, .body = body, .token = secrets[who]});
    const int status = exchange->response.status;
    EXPECT_LT(status, 500) << exchange->response.body;
    EXPECT_EQ(static_cast<int>(got(status)), static_cast<int>(expected(endpoint, who)))
        << endpoint.method << " " << target << " as " << kWords[static_cast<size_t>(who)] << ": "
        << status << " " << exchange->response.body;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RouteAndRole, testing::Range(size_t{0}, endpoints().size()),
                         [](const auto& info) {
                           std::string name = std::string(endpoints()[info.param].method) +
                                              endpoints()[info.param].path;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace atl::api
