#include "api/documents.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "api/endpoint.h"

namespace atl::api {
namespace {

namespace json = boost::json;

void collect_references(const json::value& value, std::set<std::string>& found) {
  if (const auto* object = value.if_object()) {
    for (const auto& entry : *object) {
      if (entry.key() == "$ref") found.insert(std::string(entry.value().as_string()));
      collect_references(entry.value(), found);
    }
  } else if (const auto* list = value.if_array()) {
    for (const json::value& item : *list) collect_references(item, found);
  }
}

TEST(OpenApi, IsJsonWithEveryRouteAndEveryReferenceResolves) {
  const json::value document = json::parse(openapi_document("1"));
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  size_t operations = 0;
  std::set<std::string> ids;
  for (const auto& path : document.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      ++operations;
      EXPECT_TRUE(ids.insert(std::string(operation.value().at("operationId").as_string())).second);
    }
  }
  EXPECT_EQ(operations, endpoints().size());
  std::set<std::string> references;
  collect_references(document, references);
  for (const std::string& reference : references) {
    EXPECT_TRUE(reference.starts_with("#/components/"));
    json::error_code missing;
    EXPECT_TRUE(document.find_pointer(reference.substr(1), missing)) << reference;
  }
}

TEST(OpenApi, SaysWhatItsFieldsNeedAndWhichAnswersARouteGives) {
  const json::value document = json::parse(openapi_document("1"));
  const json::value& max = document.at_pointer("/components/schemas/Retries/properties/max");
  EXPECT_NE(max.at("description").as_string().find("needed as soon as"), std::string::npos);
  EXPECT_FALSE(max.as_object().contains("default")) << "retries without max is refused";
  const json::object& paths = document.at("paths").as_object();
  const auto answers = [&](const char* path, const char* method) {
    return paths.at(path).at(method).at("responses").as_object();
  };
  EXPECT_TRUE(answers("/api/v1/jobs/{id}/exec", "post").contains("504"));
  EXPECT_FALSE(answers("/api/v1/jobs/{id}", "get").contains("504"));
}

TEST(OpenApi, ExamplesAreJsonAndParametersMatchThePath) {
  for (const Endpoint& endpoint : endpoints()) {
    if (endpoint.example) {
      json::error_code bad;
      json::parse(endpoint.example, bad);
      EXPECT_FALSE(bad) << endpoint.path;
    }
    for (const Param& param : endpoint.params) {
      if (param.place != Place::path) continue;
      const std::string name = std::string("{") + param.field.name;
      EXPECT_NE(std::string(endpoint.path).find(name), std::string::npos)
          << endpoint.path << " " << name;
    }
    // Cloudmesh runs a workflow by GET.
    const bool runs = endpoint.path == std::string("/cloudmesh/workflow/run/{workflow}");
    EXPECT_EQ(endpoint.changes, runs || std::string(endpoint.method) != "GET") << endpoint.path;
    EXPECT_STRNE(endpoint.summary, "") << endpoint.path;
  }
}

TEST(DocsPage, AsksForNothingOutside) {
  const std::string page = docs_page("1", "http://127.0.0.1:7380");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_NE(page.find("/api/v1/jobs/{id}/logs"), std::string::npos);
}

TEST(DocsPage, ExamplesAreForTheAddressItWasAskedUnder) {
  const std::string page = docs_page("1", "https://atoll.example.org:8443");
  EXPECT_NE(page.find("https://atoll.example.org:8443/api/v1/jobs -d"), std::string::npos);
  EXPECT_EQ(page.find("7380"), std::string::npos);
  EXPECT_EQ(docs_page("1", "http://<b>").find("<b>/api"), std::string::npos);
}

TEST(DocsPage, AHostThatIsNoneIsNotRepeated) {
  EXPECT_EQ(origin_of("atoll.example.org", true), "https://atoll.example.org");
  EXPECT_EQ(origin_of("[::1]:7380", false), "http://[::1]:7380");
  for (const char* wrong : {"", "a b", "x;rm", "<script>", "a/b", "$(id)", "a'b", "a\"b", "a`b`"})
    EXPECT_EQ(origin_of(wrong, false), "") << wrong;
}

}  // namespace
}  // namespace atl::api
