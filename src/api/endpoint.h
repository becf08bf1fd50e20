// One definition per route. The router, the OpenAPI document, the documentation page and the table
// test of routes and roles are all made from it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spec/fields.h"

namespace atl::api {

struct Call;
using CallPtr = std::shared_ptr<Call>;

enum class Place { path, query, header };

struct Param {
  Place place = Place::query;
  spec::Field field;
  bool repeated = false;
};

// The least that an actor needs. Roles are those in the namespace of what the path names; the core
// enforces them, and the table test holds both together.
enum class Needs { nothing, user, viewer, member, admin, platform_admin };
const char* to_string(Needs needs);

struct Endpoint {
  const char* method = "GET";
  const char* path = "";
  const char* summary = "";
  const char* tag = "";
  Needs needs = Needs::user;
  std::vector<Param> params = {};
  const spec::Shape& (*request)() = nullptr;   // the JSON body
  const char* request_type = nullptr;          // the content type of a body that is not JSON
  int status = 200;                            // of success
  const spec::Shape& (*response)() = nullptr;  // null: no JSON body
  const spec::Shape& (*tried)() = nullptr;     // what ?dry_run=true gets, with 200
  const char* response_type = nullptr;         // the content type of an answer that is not JSON
  std::vector<const char*> also_types = {};    // others that may be asked for
  const char* example = nullptr;               // of the answer, JSON
  void (*handle)(const CallPtr& call) = nullptr;
  bool changes = false;  // a read-only token may not
  std::optional<uint64_t> body_max = {};
  bool tapis = false;  // errors come in the envelope of Tapis too
};

std::vector<Endpoint> job_endpoints();
std::vector<Endpoint> job_output_endpoints();
std::vector<Endpoint> workflow_endpoints();
std::vector<Endpoint> cloudmesh_endpoints();
std::vector<Endpoint> platform_endpoints();
std::vector<Endpoint> sharing_endpoints();
std::vector<Endpoint> when_endpoints();
std::vector<Endpoint> site_endpoints();
std::vector<Endpoint> event_endpoints();
std::vector<Endpoint> server_endpoints();
std::vector<Endpoint> queue_endpoints();
std::vector<Endpoint> tapis_endpoints();
std::vector<Endpoint> secret_endpoints();
std::vector<Endpoint> schedule_endpoints();

// All of them, in the order of the documentation. Constant.
const std::vector<Endpoint>& endpoints();

Param path_param(const char* name, const char* sentence, const char* example);
Param query_param(spec::Kind kind, spec::Doc doc, bool repeated = false);
Param header_param(const char* name, const char* sentence, const char* example);

}  // namespace atl::api
