#include "cli/api.h"

#include <gtest/gtest.h>

#include "cli/test_server.h"

namespace atl::cli {
namespace {

TEST(Query, LeavesOutWhatIsEmptyAndEncodesTheRest) {
  EXPECT_EQ(query({{"a", ""}, {"b", "x y&z"}, {"c", "1"}}), "?b=x%20y%26z&c=1");
  EXPECT_EQ(query({}), "");
  EXPECT_EQ(encode("12[7]/ä"), "12%5B7%5D%2F%C3%A4");
}

TEST(NextLink, StaysOnTheServer) {
  EXPECT_EQ(next_link("</api/v1/jobs?cursor=3>; rel=\"next\""), "/api/v1/jobs?cursor=3");
  EXPECT_EQ(next_link("<https://other.example/api/v1/jobs?cursor=3>; rel=next"),
            "/api/v1/jobs?cursor=3");
  EXPECT_EQ(next_link("</api/v1/jobs>; rel=\"prev\""), "");
  EXPECT_EQ(next_link("nonsense"), "");
}

TEST(ErrorOf, TakesTheServersWordBeforeTheStatus) {
  const auto of = [](int status, std::string body) {
    return error_of({.status = status, .content_type = "", .body = std::move(body), .headers = {}});
  };
  EXPECT_EQ(of(422, R"({"detail":"too big","code":"infeasible","field":"cpus"})"),
            (Error{ErrorCode::infeasible, "too big", "cpus"}));
  EXPECT_EQ(of(429, "{}").code, ErrorCode::exhausted);
  EXPECT_EQ(of(503, "garbage").message, "the server answered 503 Service Unavailable");
  EXPECT_EQ(of(418, "").code, ErrorCode::invalid);
}

TEST(Api, SendsTheTokenAndTellsWhoItIs) {
  testing::TestServer server;
  server.on("GET", "/api/v1/whoami", [](const http::Request& request) {
    return testing::json("{\"name\":\"" + std::string(request.headers.get("Authorization")) +
                         "\"}");
  });
  server.start();
  Target target = server.target();
  target.token = "atl_x";
  auto api = Api::open(target);
  ASSERT_TRUE(api);
  EXPECT_EQ(api->get("/whoami").value().text("name"), "Bearer atl_x");
}

TEST(Json, ReadsLeniently) {
  const Json json =
      Json::parse(R"({"a":{"b":[1,"x",null,2.5,true]},"big":18446744073709551615})").value();
  EXPECT_EQ(json["a"]["b"].items()[0].integer(), 1);
  EXPECT_EQ(json["a"]["b"].items()[1].text(), "x");
  EXPECT_TRUE(json["a"]["b"].items()[2].is_null());
  EXPECT_DOUBLE_EQ(json["a"]["b"].items()[3].number(), 2.5);
  EXPECT_TRUE(json["a"]["b"].items()[4].truth());
  EXPECT_TRUE(json["no"]["such"]["thing"].is_null());
  EXPECT_EQ(json["no"].text(), "");
  EXPECT_EQ(json.text("big"), "18446744073709551615");
  EXPECT_FALSE(Json::parse("{"));
}

}  // namespace
}  // namespace atl::cli
