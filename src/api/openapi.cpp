#include <algorithm>
#include <map>

#include "api/documents.h"
#include "api/endpoint.h"
#include "api/requests.h"
#include "api/views.h"
#include "base/text.h"
#include "spec/job_spec.h"
#include "spec/json_writer.h"

namespace atl::api {
namespace {

using spec::JsonWriter;

const char* place_word(Place place) {
  return place == Place::path ? "path" : place == Place::query ? "query" : "header";
}

// {path...} is {path} to OpenAPI, which has no word for several segments.
std::string openapi_path(std::string path) {
  const size_t dots = path.find("...}");
  if (dots != std::string::npos) path.erase(dots, 3);
  return path;
}

// "listJobs" from GET /api/v1/jobs would need words of its own; method and path are unique already.
std::string operation_id(const Endpoint& endpoint) {
  std::string id = endpoint.method;
  for (const char c : std::string_view(endpoint.path)) {
    if (c == '/' || c == '.' || c == '_')
      id += '_';
    else if (c != '{' && c != '}')
      id += c;
  }
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
  return id;
}

void write_param_schema(JsonWriter& json, const Param& param) {
  const spec::Field& field = param.field;
  json.begin_object().member("type", field.kind == spec::Kind::integer   ? "integer"
                                     : field.kind == spec::Kind::boolean ? "boolean"
                                                                         : "string");
  if (field.low) json.member("minimum", *field.low);
  if (field.high) json.member("maximum", *field.high);
  if (field.fallback) json.key("default").raw(field.fallback);
  if (!field.choices.empty()) {
    json.key("enum").begin_array();
    for (const char* choice : field.choices) json.text(choice);
    json.end_array();
  }
  json.end_object();
}

void write_params(JsonWriter& json, const Endpoint& endpoint) {
  if (endpoint.params.empty()) return;
  json.key("parameters").begin_array();
  for (const Param& param : endpoint.params) {
    json.begin_object()
        .member("name", param.field.name)
        .member("in", place_word(param.place))
        .member("description", param.field.sentence);
    json.member("required", param.field.required).key("schema");
    if (param.repeated) {
      json.begin_object().member("type", "array").key("items");
      write_param_schema(json, param);
      json.end_object();
    } else {
      write_param_schema(json, param);
    }
    if (param.field.example && !param.repeated) json.key("example").raw(param.field.example);
    json.end_object();
  }
  json.end_array();
}

void write_reference(JsonWriter& json, const spec::Shape& shape) {
  json.begin_object()
      .member("$ref", std::string("#/components/schemas/") + shape.name)
      .end_object();
}

void write_request(JsonWriter& json, const Endpoint& endpoint) {
  if (!endpoint.request && !endpoint.request_type) return;
  json.key("requestBody").begin_object().key("content").begin_object();
  json.key(endpoint.request ? "application/json" : endpoint.request_type)
      .begin_object()
      .key("schema");
  if (!endpoint.request && endpoint.tapis) {
    json.begin_object().member("type", "object").end_object();
  } else if (!endpoint.request) {
    json.begin_object().member("type", "string").member("format", "binary").end_object();
  } else if (&endpoint.request() == &spec::shape_of<spec::JobSpec>()) {
    json.begin_object().key("oneOf").begin_array();
    write_reference(json, endpoint.request());
    json.begin_object()
        .member("type", "object")
        .key("properties")
        .begin_object()
        .key("jobs")
        .begin_object()
        .member("type", "array");
    json.member("minItems", 1).member("maxItems", 10000).key("items");
    write_reference(json, endpoint.request());
    json.end_object()
        .end_object()
        .key("required")
        .begin_array()
        .text("jobs")
        .end_array()
        .member("additionalProperties", false)
        .end_object();
    json.end_array().end_object();
  } else {
    write_reference(json, endpoint.request());
  }
  json.end_object().end_object().end_object();
}

void write_content(JsonWriter& json, const Endpoint& endpoint) {
  if (!endpoint.response && !endpoint.response_type) return;
  const std::string_view path = endpoint.path;
  json.key("content").begin_object();
  json.key(endpoint.response ? "application/json" : endpoint.response_type).begin_object();
  if (endpoint.response) {
    json.key("schema");
    // One task of an array is shown by the same route as a whole job.
    if (&endpoint.response() == &job_shape()) {
      json.begin_object().key("anyOf").begin_array();
      write_reference(json, job_shape());
      write_reference(json, task_shape());
      json.end_array().end_object();
    } else {
      write_reference(json, endpoint.response());
    }
    if (endpoint.example) json.key("example").raw(endpoint.example);
  }
  json.end_object();
  for (const char* type : endpoint.also_types) json.key(type).begin_object().end_object();
  if (path.ends_with("/logs")) json.key("application/octet-stream").begin_object().end_object();
  if (path.ends_with("/logs") || path.ends_with("/events"))
    json.key("text/event-stream").begin_object().end_object();
  json.end_object();
}

void write_responses(JsonWriter& json, const Endpoint& endpoint) {
  const std::string wrong =
      std::string("#/components/responses/") + (endpoint.tapis ? "TapisError" : "Problem");
  json.key("responses").begin_object();
  json.key(std::to_string(endpoint.status)).begin_object().member("description", "As asked.");
  write_content(json, endpoint);
  json.end_object();
  if (endpoint.tried) {
    json.key("200").begin_object().member("description", "Of a dry run.").key("content");
    json.begin_object().key("application/json").begin_object().key("schema");
    write_reference(json, endpoint.tried());
    json.end_object().end_object().end_object();
  }
  json.key("default").begin_object().member("$ref", wrong).end_object();
  // Named one by one, because some checkers do not take `default` for an answer.
  for (const int status : {400, 401, 403, 404, 409, 412, 413, 422, 429, 503, 504}) {
    const bool open = endpoint.needs == Needs::nothing;
    if (open && status != 400 && status != 503) continue;
    if (status == 504 && !std::string_view(endpoint.path).ends_with("/exec")) continue;
    json.key(std::to_string(status)).begin_object().member("$ref", wrong).end_object();
  }
  json.end_object();
}

void write_operation(JsonWriter& json, const Endpoint& endpoint) {
  std::string method = endpoint.method;
  std::transform(method.begin(), method.end(), method.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  json.key(method)
      .begin_object()
      .member("operationId", operation_id(endpoint))
      .member("summary", endpoint.summary);
  json.member("description", std::string("Needs ") + to_string(endpoint.needs) + ".");
  json.key("tags").begin_array().text(endpoint.tag).end_array();
  if (endpoint.needs == Needs::nothing) json.key("security").begin_array().end_array();
  write_params(json, endpoint);
  write_request(json, endpoint);
  write_responses(json, endpoint);
  json.end_object();
}

void write_paths(JsonWriter& json) {
  std::vector<std::pair<std::string, std::vector<const Endpoint*>>> paths;
  for (const Endpoint& endpoint : endpoints()) {
    const std::string path = openapi_path(endpoint.path);
    auto it = std::find_if(paths.begin(), paths.end(),
                           [&](const auto& entry) { return entry.first == path; });
    if (it == paths.end()) it = paths.insert(paths.end(), {path, {}});
    it->second.push_back(&endpoint);
  }
  json.key("paths").begin_object();
  for (const auto& [path, operations] : paths) {
    json.key(path).begin_object();
    for (const Endpoint* endpoint : operations) write_operation(json, *endpoint);
    json.end_object();
  }
  json.end_object();
}

void write_components(JsonWriter& json) {
  std::vector<const spec::Shape*> shapes;
  spec::collect_shapes(problem_shape(), shapes);
  spec::collect_shapes(task_shape(), shapes);
  for (const Endpoint& endpoint : endpoints()) {
    if (endpoint.request) spec::collect_shapes(endpoint.request(), shapes);
    if (endpoint.response) spec::collect_shapes(endpoint.response(), shapes);
    if (endpoint.tried) spec::collect_shapes(endpoint.tried(), shapes);
  }
  json.key("components").begin_object().key("schemas").begin_object();
  for (const spec::Shape* shape : shapes) {
    std::string schema;
    spec::write_schema(schema, *shape);
    json.key(shape->name).raw(schema);
  }
  json.end_object()
      .key("responses")
      .begin_object()
      .key("Problem")
      .begin_object()
      .member("description", "What went wrong.");
  json.key("content").begin_object().key("application/problem+json").begin_object().key("schema");
  write_reference(json, problem_shape());
  json.end_object().end_object().end_object();
  json.key("TapisError").begin_object().member("description", "What went wrong, as Tapis says it.");
  json.key("content").begin_object().key("application/json").begin_object().key("schema");
  write_reference(json, tapis_answer_shape());
  // What is refused before it reaches a route, such as a path with control characters.
  json.end_object().key("application/problem+json").begin_object().key("schema");
  write_reference(json, problem_shape());
  json.end_object().end_object().end_object().end_object();
  json.key("securitySchemes")
      .begin_object()
      .key("token")
      .begin_object()
      .member("type", "http")
      .member("scheme", "bearer");
  json.member("description",
              "Made with `atoll token create`. On the unix socket the account is enough.")
      .end_object()
      .end_object();
  json.end_object();
}

}  // namespace

std::string openapi_document(const std::string& version) {
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .member("openapi", "3.1.0")
      .key("info")
      .begin_object()
      .member("title", "Atoll")
      .member("version", version);
  json.member("description",
              "One platform over the computers a research group has. Times are RFC 3339 in UTC. "
              "Durations are written as texts such as 1h30m "
              "or numbers of seconds; where they are measured, a field ends in _seconds. Amounts "
              "of memory are bytes, or texts such as 512Mi on the way in.");
  json.key("license")
      .begin_object()
      .member("name", "Apache-2.0")
      .member("identifier", "Apache-2.0")
      .end_object()
      .end_object();
  json.key("servers").begin_array().begin_object().member("url", "/").end_object().end_array();
  json.key("security")
      .begin_array()
      .begin_object()
      .key("token")
      .begin_array()
      .end_array()
      .end_object()
      .end_array();
  write_paths(json);
  write_components(json);
  json.end_object();
  return out;
}

}  // namespace atl::api
