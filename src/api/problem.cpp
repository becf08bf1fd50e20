#include "api/problem.h"

#include "spec/json_writer.h"

namespace atl::api {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return 400;
    case ErrorCode::unauthorized:
      return 401;
    case ErrorCode::forbidden:
      return 403;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::stale:
      return 412;
    case ErrorCode::too_large:
      return 413;
    case ErrorCode::infeasible:
      return 422;
    case ErrorCode::exhausted:
      return 429;
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::timeout:
      return 504;
    case ErrorCode::internal:
      return 500;
  }
  return 500;
}

http::Response problem_response(const Error& error, std::string_view request_id) {
  return problem_response(status_of(error.code), error, request_id);
}

http::Response problem_response(int status, const Error& error, std::string_view request_id) {
  http::Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  spec::JsonWriter json(response.body);
  json.begin_object()
      .member("type", "about:blank")
      .member("title", http::reason_phrase(status))
      .member("status", status);
  json.member("detail", error.message).member("code", to_string(error.code));
  if (!error.field.empty()) json.member("field", error.field);
  json.member("request_id", request_id).end_object();
  if (status == 401) response.headers.add("WWW-Authenticate", "Bearer realm=\"atoll\"");
  if (status == 429) response.headers.add("Retry-After", "5");
  if (status == 503) response.headers.add("Retry-After", "2");
  return response;
}

}  // namespace atl::api
