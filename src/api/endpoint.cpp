#include "api/endpoint.h"

namespace atl::api {

const char* to_string(Needs needs) {
  switch (needs) {
    case Needs::nothing:
      return "nobody in particular";
    case Needs::user:
      return "any user";
    case Needs::viewer:
      return "role viewer in the namespace";
    case Needs::member:
      return "role member in the namespace, and for the jobs of others role admin";
    case Needs::admin:
      return "role admin in the namespace";
    case Needs::platform_admin:
      return "a platform administrator";
  }
  return "";
}

const std::vector<Endpoint>& endpoints() {
  static const std::vector<Endpoint> all = [] {
    std::vector<Endpoint> list;
    for (auto* group : {job_endpoints, job_output_endpoints, workflow_endpoints,
                        cloudmesh_endpoints, event_endpoints, platform_endpoints, sharing_endpoints,
                        when_endpoints, site_endpoints, server_endpoints, queue_endpoints,
                        secret_endpoints, tapis_endpoints, schedule_endpoints}) {
      for (Endpoint& endpoint : group()) list.push_back(std::move(endpoint));
    }
    return list;
  }();
  return all;
}

Param path_param(const char* name, const char* sentence, const char* example) {
  return {Place::path,
          spec::answer(spec::Kind::text,
                       {.name = name, .sentence = sentence, .example = example, .required = true})};
}

Param query_param(spec::Kind kind, spec::Doc doc, bool repeated) {
  return {Place::query, spec::answer(kind, doc), repeated};
}

Param header_param(const char* name, const char* sentence, const char* example) {
  return {Place::header,
          spec::answer(spec::Kind::text, {.name = name, .sentence = sentence, .example = example})};
}

}  // namespace atl::api
