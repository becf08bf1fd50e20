#include "spec/workflow/schema.h"

#include <algorithm>

#include "spec/json_writer.h"
#include "spec/workflow/workflow_file.h"

namespace atl::spec {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// References between shapes are to this document's own definitions, and YAML takes a number or a
// truth where a text is meant.
std::string as_file(std::string text) {
  replace_all(text, "#/components/schemas/", "#/$defs/");
  replace_all(text, R"("additionalProperties":{"type":"string"})",
              R"("additionalProperties":{"type":["string","number","boolean","null"]})");
  replace_all(text, R"("type":["string","integer"])", R"("type":["string","number","boolean"])");
  return text;
}

void reference(JsonWriter& json, const char* name, const std::string& shape) {
  json.key(name).begin_object().member("$ref", "#/$defs/" + shape).end_object();
}

void named(JsonWriter& json, const char* name, const char* sentence, const std::string& items) {
  json.key(name).begin_object().member("type", "object").member("description", sentence);
  json.key("additionalProperties").raw(items).end_object();
}

}  // namespace

std::string workflow_schema() {
  std::vector<const Shape*> shapes;
  collect_shapes(shape_of<StepSpec>(), shapes);
  std::vector<const Shape*> more;
  collect_shapes(shape_of<ParamSpec>(), more);
  shapes.insert(shapes.end(), more.begin(), more.end());
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.member("title", "Atoll workflow").member("type", "object");
  json.member("additionalProperties", false).key("required").raw(R"(["steps"])");
  json.key("properties").begin_object();
  json.key("name").raw(
      R"({"type":"string","description":"Its name; that of the file when left out."})");
  json.key("include").raw(
      R"({"type":["string","array"],"items":{"type":"string"},"description":"Files whose sections come first."})");
  json.key("fail_fast")
      .raw(
          R"({"type":"boolean","default":false,"description":"The first failure that nobody puts up with ends it."})");
  json.key("parallel")
      .raw(
          R"({"type":"integer","minimum":1,"description":"How many steps may be under way at once."})");
  named(
      json, "params", "Parameters: a value, or what may be given.",
      R"({"anyOf":[{"type":["string","number","boolean","null"]},{"$ref":"#/$defs/WorkflowParam"}]})");
  named(json, "env", "Environment variables of all steps.",
        R"({"type":["string","number","boolean"]})");
  reference(json, "defaults", "WorkflowStep");
  named(json, "templates", "Steps that others use.", R"({"$ref":"#/$defs/WorkflowStep"})");
  named(json, "steps", "What is done.", R"({"$ref":"#/$defs/WorkflowStep"})");
  json.end_object().key("$defs").begin_object();
  for (const Shape* shape : shapes) {
    std::string one;
    write_schema(one, *shape);
    json.key(shape->name).raw(one);
  }
  json.end_object().end_object();
  return as_file(std::move(text));
}

}  // namespace atl::spec
