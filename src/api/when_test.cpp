// The calendar, reservations and nodes that drain, over the API.
#include "api/testing.h"

namespace atl::api {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// It is Monday, 2026-09-21, 14:13:20 UTC.
class When : public ApiTest {
 protected:
  void refused(const char* method, const std::string& target, const std::string& body, int status,
               const std::string& field, const std::string& text) {
    const http::Response answer = as("root", method, target, body);
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_TRUE(says(answer.body, "\"field\":\"" + field + "\"")) << answer.body;
    EXPECT_TRUE(says(answer.body, text)) << answer.body;
  }
};

TEST_F(When, TheCalendarSaysWhatHoldsAndWhenThatChanges) {
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/calendar").body,
                   R"({"now":"2026-09-21T14:13:20Z","utc_offset_minutes":0,"next_change":null,)"
                   R"("entries":[]})"));
  const http::Response set = as("root", "PUT", "/api/v1/calendar/days",
                                R"({"days":"mon-fri","from":"08:00","until":"18:00","share":0.3})");
  EXPECT_EQ(set.body,
            R"({"name":"days","tier":"batch","days":"mon-fri","from":"08:00","until":"18:00",)"
            R"("share":0.3,"limit":{},"holds":true})");
  as("root", "PUT", "/api/v1/calendar/ends", R"({"days":"sat,sun","limit":{"cpus":2}})");
  const http::Response calendar = as("ada", "GET", "/api/v1/calendar");
  EXPECT_TRUE(says(calendar.body, R"("next_change":"2026-09-21T18:00:00Z")")) << calendar.body;
  EXPECT_TRUE(
      says(calendar.body, R"("until":"24:00","share":null,"limit":{"cpus":2},"holds":false)"))
      << calendar.body;
  EXPECT_EQ(as("root", "DELETE", "/api/v1/calendar/ends").status, 204);
  refused("DELETE", "/api/v1/calendar/ends", "", 404, "name", "no entry");
  refused("PUT", "/api/v1/calendar/x", "{}", 400, "share", "limits nothing");
  refused("PUT", "/api/v1/calendar/x", R"({"share":0})", 409, "share", "never open for batch");
  refused("PUT", "/api/v1/calendar/x", R"({"share":2})", 400, "share", "between 0 and 1");
  refused("PUT", "/api/v1/calendar/x", R"({"share":"x"})", 400, "share",
          R"(it must be a number such as 0.3)");
  refused("PUT", "/api/v1/calendar/x", R"({"share":0,"days":"all"})", 400, "days", "mon-fri");
  refused("PUT", "/api/v1/calendar/x", R"({"share":0,"from":"8"})", 400, "from", "08:00");
  refused("PUT", "/api/v1/calendar/x", R"({"shar":0})", 400, "shar", "share");
}

TEST_F(When, AReservationIsKeptForThoseItNames) {
  const http::Response made =
      as("root", "POST", "/api/v1/reservations",
         R"({"name":"course","until":"2026-09-21T16:00:00Z","namespaces":["default"],"nodes":1})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_TRUE(says(made.body, R"("until":"2026-09-21T16:00:00Z","active":true,)"
                              R"("namespaces":["default"],"nodes":1,"count":null)"))
      << made.body;
  EXPECT_TRUE(says(made.body, R"("parts":[{"site":"local","node":"node1","cpus":4)")) << made.body;
  refused("POST", "/api/v1/reservations",
          R"({"name":"b","from":"2026-09-21T15:00:00Z","until":"2026-09-21T17:00:00Z",)"
          R"("namespaces":["default"],"nodes":1})",
          409, "count", "course");
  refused("POST", "/api/v1/reservations",
          R"({"name":"b","from":"2026-09-20T15:00:00Z","until":"2026-09-20T17:00:00Z",)"
          R"("namespaces":["default"],"nodes":1})",
          400, "from", "in the past");
  refused("POST", "/api/v1/reservations",
          R"({"name":"b","until":"tomorrow","namespaces":["default"],"nodes":1})", 400, "until",
          "is not a time");
  refused("POST", "/api/v1/reservations",
          R"({"name":"b","until":"2026-09-22T17:00:00Z","namespaces":["default"],"nodes":1,)"
          R"("cpus":2})",
          400, "nodes", "either");
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/reservations").body, R"("name":"course")"));
  EXPECT_EQ(as("root", "DELETE", "/api/v1/reservations/course").status, 204);
  EXPECT_EQ(as("ada", "GET", "/api/v1/reservations").body, R"({"reservations":[]})");
}

TEST_F(When, WhoMayStillHaveTheRoomOfAReservationIsTold) {
  const std::string id = submit("ada", R"({"command":["x"],"cpus":3,"time":"2h"})");
  start(id);
  const http::Response made =
      as("root", "POST", "/api/v1/reservations",
         R"({"name":"talk","from":"2026-09-21T15:00:00Z","until":"2026-09-21T17:00:00Z",)"
         R"("namespaces":["other"],"cpus":2})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_TRUE(says(made.body, R"("occupied":[{"task":")" + id +
                                  R"(","namespace":"default","site":"local","node":"node1",)"
                                  R"("until":"2026-09-21T16:1)"))
      << made.body;
  as("root", "DELETE", "/api/v1/reservations/talk");
  const http::Response beside =
      as("root", "POST", "/api/v1/reservations",
         R"({"name":"talk","from":"2026-09-21T15:00:00Z","until":"2026-09-21T17:00:00Z",)"
         R"("namespaces":["other"],"cpus":1})");
  EXPECT_TRUE(says(beside.body, R"("occupied":[]})")) << beside.body;
  EXPECT_FALSE(says(as("root", "GET", "/api/v1/reservations").body, "occupied"));
}

TEST_F(When, NodesOfASiteThatDrainsDrain) {
  const http::Response drained = as("root", "POST", "/api/v1/sites/local/drain");
  EXPECT_TRUE(says(drained.body, R"("name":"node1","gone":false,"draining":true)")) << drained.body;
  const http::Response again = as("root", "POST", "/api/v1/sites/local/undrain");
  EXPECT_TRUE(says(again.body, R"("name":"node1","gone":false,"draining":false)")) << again.body;
}

TEST_F(When, ANodeThatDrainsTakesNothingNew) {
  const http::Response drained = as("root", "POST", "/api/v1/sites/local/nodes/node1/drain");
  EXPECT_TRUE(says(drained.body, R"("name":"node1","gone":false,"draining":true)")) << drained.body;
  const std::string id = submit("ada", R"({"command":["x"]})");
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/jobs/" + id).body, R"("state":"waiting")"));
  as("root", "POST", "/api/v1/sites/local/nodes/node1/undrain");
  start(id);
  EXPECT_TRUE(says(as("ada", "GET", "/api/v1/jobs/" + id).body, R"("state":"running")"));
  refused("POST", "/api/v1/sites/local/nodes/none/drain", "", 404, "node", "no node");
}

TEST_F(When, TheyArePartsOfThePlatformsDocument) {
  const std::string wish =
      R"({"calendar":[{"name":"days","days":"mon-fri","from":"08:00","until":"18:00","share":0.3}],)"
      R"("reservations":[{"name":"course","from":"2026-09-22T10:00:00Z",)"
      R"("until":"2026-09-22T12:00:00Z","namespaces":["default"],"cpus":2}]})";
  const http::Response done = as("root", "PATCH", "/api/v1/platform", wish);
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_TRUE(says(done.body, R"("change":"add","kind":"reservation","name":"course")"))
      << done.body;
  const http::Response now = as("root", "GET", "/api/v1/platform");
  EXPECT_EQ(as("root", "PATCH", "/api/v1/platform?prune=true", now.body).body,
            R"({"applied":true,"changes":[],"warnings":[]})")
      << now.body;
  refused("PATCH", "/api/v1/platform", R"({"calendar":[{"name":"x","share":0.5,"days":"never"}]})",
          400, "calendar[0].days", "mon-fri");
  clock.time = clock.time + hours(24 * 7);
  refused("PATCH", "/api/v1/platform?dry_run=true",
          R"({"reservations":[{"name":"new","from":"2026-09-22T10:00:00Z",)"
          R"("until":"2026-09-22T12:00:00Z","namespaces":["default"],"cpus":2}]})",
          400, "reservations[0].until", "is over since");
}

}  // namespace
}  // namespace atl::api
