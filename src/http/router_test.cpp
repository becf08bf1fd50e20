#include "http/router.h"

#include <gtest/gtest.h>

namespace atl::http {
namespace {

Handler nothing() {
  return [](std::shared_ptr<Exchange>) {};
}

Router make_router() {
  Router router;
  for (const char* pattern : {"/", "/jobs", "/jobs/{id}", "/jobs/{id}/logs", "/jobs/all/logs",
                              "/jobs/{id}/files/{path...}", "/{any}/{thing}/end"}) {
    router.add("GET", pattern, nothing());
  }
  router.add("DELETE", "/jobs/{id}", nothing());
  return router;
}

std::string found(const Router& router, std::string_view method, std::string_view path) {
  const auto match = router.match(method, path);
  if (!match.route) return match.allow.empty() ? "404" : "405 " + match.allow;
  std::string out = match.route->pattern;
  for (const auto& [name, value] : match.params) out += " " + name + "=" + value;
  return out;
}

TEST(Router, MatchesTheMostLiteralPattern) {
  const Router router = make_router();
  const struct {
    const char* method;
    const char* path;
    const char* expected;
  } table[] = {
      {"GET", "/", "/"},
      {"GET", "/jobs", "/jobs"},
      {"GET", "/jobs/12", "/jobs/{id} id=12"},
      {"HEAD", "/jobs/12", "/jobs/{id} id=12"},
      {"DELETE", "/jobs/12", "/jobs/{id} id=12"},
      {"GET", "/jobs/12/logs", "/jobs/{id}/logs id=12"},
      {"GET", "/jobs/all/logs", "/jobs/all/logs"},
      {"GET", "/jobs/all", "/jobs/{id} id=all"},
      {"GET", "/jobs/12/files/a/b.txt", "/jobs/{id}/files/{path...} id=12 path=a/b.txt"},
      {"GET", "/jobs/all/end", "/{any}/{thing}/end any=jobs thing=all"},
      {"GET", "/jobs/12%5B7%5D", "/jobs/{id} id=12[7]"},
      {"GET", "/jobs/a%2Fb", "/jobs/{id} id=a/b"},
      {"GET", "/%6Aobs", "/jobs"},
      {"GET", "/jobs/", "404"},
      {"GET", "//jobs", "404"},
      {"GET", "/jobs/12/", "404"},
      {"GET", "/jobs//logs", "404"},
      {"GET", "/jobs/12/files", "404"},
      {"GET", "/jobs/12/files/", "404"},
      {"GET", "/Jobs", "404"},
      {"GET", "*", "404"},
      {"GET", "", "404"},
      {"POST", "/jobs/12", "405 GET, HEAD, DELETE, OPTIONS"},
      {"get", "/jobs", "405 GET, HEAD, OPTIONS"},
  };
  for (const auto& row : table) {
    EXPECT_EQ(found(router, row.method, row.path), row.expected) << row.method << " " << row.path;
  }
}

TEST(Router, ADeepHostilePathFindsNothing) {
  std::string path;
  for (int i = 0; i < 5000; ++i) path += "/a";
  EXPECT_EQ(found(make_router(), "GET", path), "404");
}

TEST(RouterDeathTest, ADoubledRouteIsOurMistake) {
  Router router;
  router.add("GET", "/a/{x}", nothing());
  EXPECT_DEATH(router.add("GET", "/a/{y}", nothing()), "/a/");
}

}  // namespace
}  // namespace atl::http
