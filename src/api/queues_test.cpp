// Queues over the API.
#include "api/testing.h"

namespace atl::api {
namespace {

constexpr const char* kQueues = "/api/v1/namespaces/default/queues";

class Queues : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    EXPECT_EQ(as("ada", "POST", kQueues, R"({"name":"q","attempts":2})").status, 201);
  }
  static std::string at(const std::string& verb) { return std::string(kQueues) + "/q/" + verb; }
  http::Response put(const std::string& items) {
    return as("ada", "POST", at("items"), R"({"items":[)" + items + "]}");
  }
  http::Response lease(const std::string& body = "{}") {
    return as("ada", "POST", at("lease"), body);
  }
  void refused(const http::Response& answer, int status, const std::string& field,
               const std::string& text) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_TRUE(says(answer.body, "\"field\":\"" + field + "\"")) << answer.body;
    EXPECT_TRUE(says(answer.body, text)) << answer.body;
  }
  static bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  // A lease that waits: sent and not yet answered.
  std::shared_ptr<TestExchange> wait(const std::string& body) {
    auto exchange = std::make_shared<TestExchange>();
    http::Request& request = exchange->asked;
    request.method = "POST";
    request.target = request.path = at("lease");
    request.body = body;
    as("ada", "GET", kQueues);
    request.headers.add("Authorization", "Bearer " + tokens["ada"]);
    const auto match = router.match("POST", request.path);
    request.params = match.params;
    match.route->handler(exchange);
    settle();
    return exchange;
  }
};

TEST_F(Queues, ItemsGoInAndComeOutByPriority) {
  EXPECT_EQ(put(R"({"body":"a"},{"body":"b","priority":5},{"base64":"AP8="})").body,
            R"({"items":[1,2,3],"repeated":0})");
  EXPECT_EQ(lease(R"({"max":2})").body,
            R"({"lease":1,"until":"2026-09-21T14:14:20Z","items":[)"
            R"({"id":2,"attempt":1,"priority":5,"body":"b"},)"
            R"({"id":1,"attempt":1,"priority":0,"body":"a"}],"left":3,"closed":false})");
  // What is not text comes back as it was sent.
  EXPECT_TRUE(says(lease().body, R"("base64":"AP8="})"));
  EXPECT_EQ(as("ada", "POST", at("done"), R"({"lease":1,"items":[1]})").body,
            R"({"count":1,"left":1})");
  EXPECT_EQ(as("ada", "POST", at("done"), R"({"lease":1})").body, R"({"count":1,"left":0})");
  const http::Response shown = as("watcher", "GET", std::string(kQueues) + "/q");
  EXPECT_TRUE(says(shown.body, R"("ready":0,"delayed":0,"leased":1,"dead":0,"put":3,"done":2)"))
      << shown.body;
}

TEST_F(Queues, DoneTwiceOrTooLateIsAConflict) {
  put(R"({"body":"a"})");
  lease();
  as("ada", "POST", at("done"), R"({"lease":1})");
  refused(as("ada", "POST", at("done"), R"({"lease":1})"), 409, "lease", "is over");
  put(R"({"body":"b"})");
  lease(R"({"visibility":"5s"})");
  clock.time = clock.time + seconds(6);
  settle();
  refused(as("ada", "POST", at("done"), R"({"lease":2})"), 409, "lease", "time ran out");
  EXPECT_TRUE(says(lease().body, R"("id":2,"attempt":2)"));
}

TEST_F(Queues, DeadLettersAreShownPutBackAndRemoved) {
  put(R"({"body":"bad","key":"k"},{"body":"worse"})");
  for (const char* n : {"1", "2"}) {
    lease(R"({"max":2})");
    as("ada", "POST", at("retry"), std::string(R"({"message":"exit code 3","lease":)") + n + "}");
  }
  const http::Response dead = as("watcher", "GET", at("dead") + "?limit=1");
  EXPECT_TRUE(says(dead.body, R"("cause":"given_back","message":"exit code 3","key":"k",)"
                              R"("body":"bad"}],"next":1})"))
      << dead.body;
  EXPECT_TRUE(says(as("ada", "GET", at("dead") + "?after=1").body, R"("next":null})"));
  EXPECT_EQ(as("ada", "POST", at("restore"), R"({"items":[1]})").body, R"({"count":1,"left":1})");
  EXPECT_EQ(as("boss", "POST", at("purge"), "{}").body, R"({"count":1,"left":0})");
  EXPECT_EQ(as("boss", "POST", at("purge"), R"({"what":"all"})").body, R"({"count":1,"left":0})");
  EXPECT_EQ(as("boss", "DELETE", std::string(kQueues) + "/q").status, 204);
}

TEST_F(Queues, AWorkerWaitsForAnItem) {
  const auto waiting = wait(R"({"wait":"30s"})");
  EXPECT_FALSE(waiting->answered);
  put(R"({"body":"late"})");
  settle();
  ASSERT_TRUE(waiting->answered);
  EXPECT_TRUE(says(waiting->response.body, R"("body":"late")")) << waiting->response.body;
  // One item wakes one of them; the other waits until its time is over.
  const auto first = wait(R"({"wait":"30s"})");
  const auto second = wait(R"({"wait":"30s"})");
  put(R"({"body":"one"})");
  settle();
  EXPECT_TRUE(first->answered);
  EXPECT_FALSE(second->answered);
  clock.time = clock.time + seconds(31);
  settle();
  ASSERT_TRUE(second->answered);
  EXPECT_TRUE(says(second->response.body, R"("lease":null,"until":null,"items":[])"));
}

TEST_F(Queues, ADryQueueKeepsNobodyWaiting) {
  put(R"({"body":"last"})");
  lease();
  const auto patient = wait(R"({"wait":"30s"})");
  const auto leaving = wait(R"({"wait":"30s","until_dry":true})");
  EXPECT_FALSE(leaving->answered);
  as("ada", "POST", at("done"), R"({"lease":1})");
  settle();
  EXPECT_TRUE(leaving->answered);
  EXPECT_FALSE(patient->answered);
  as("ada", "PATCH", std::string(kQueues) + "/q", R"({"closed":true})");
  settle();
  ASSERT_TRUE(patient->answered);
  EXPECT_TRUE(says(patient->response.body, R"("left":0,"closed":true})"));
  refused(put(R"({"body":"more"})"), 409, "queue", "closed");
  EXPECT_TRUE(says(lease(R"({"wait":"30s"})").body, R"("closed":true)"));
}

TEST_F(Queues, ADeletedQueueKeepsNobodyWaiting) {
  const auto waiting = wait(R"({"wait":"30s"})");
  as("boss", "DELETE", std::string(kQueues) + "/q");
  settle();
  ASSERT_TRUE(waiting->answered);
  EXPECT_EQ(waiting->response.status, 404);
}

TEST_F(Queues, BadRequestsSayWhereAndWhat) {
  refused(put(R"({"body":"a","base64":"AAEC"})"), 400, "items[0].body", "either");
  refused(put(R"({})"), 400, "items[0].body", "either");
  refused(put(R"({"body":"a"},{"base64":"?"})"), 400, "items[1].base64", "base64");
  refused(put(R"({"base64":"===="})"), 400, "items[0].base64", "base64");
  refused(put(R"({"body":")" + std::string((256 << 10) + 1, 'x') + R"("})"), 413, "items[0].body",
          "262144");
  EXPECT_EQ(put(R"({"body":")" + std::string(256 << 10, 'x') + R"("})").status, 201);
  refused(as("ada", "POST", at("items"), R"({"items":[]})"), 400, "items", "items");
  refused(lease(R"({"wait":"31s"})"), 400, "wait", "30s");
  refused(lease(R"({"max":0})"), 400, "max", "1");
  refused(as("ada", "POST", at("done"), "{}"), 400, "lease", "lease");
  refused(as("ada", "POST", kQueues, R"({"name":"../etc"})"), 400, "name", "a-z");
  refused(as("ada", "POST", kQueues, R"({"name":"q"})"), 409, "name", "exists");
  refused(as("ada", "POST", std::string(kQueues) + "/none/lease"), 404, "queue", "no queue");
  refused(as("rival", "POST", at("lease")), 404, "namespace", "default");
}

TEST_F(Queues, AKeyIsPutOnce) {
  EXPECT_EQ(put(R"({"body":"a","key":"k"},{"body":"b"},{"body":"a","key":"k"})").body,
            R"({"items":[1,2,1],"repeated":1})");
  EXPECT_EQ(put(R"({"body":"other","key":"k"})").body, R"({"items":[1],"repeated":1})");
  EXPECT_TRUE(says(lease().body, R"("key":"k","body":"a")"));
}

}  // namespace
}  // namespace atl::api
