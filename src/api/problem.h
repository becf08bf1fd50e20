// Errors to HTTP, in one place: application/problem+json (RFC 9457).
#pragma once

#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace atl::api {

int status_of(ErrorCode code);

// `request_id` is what the client quotes when it asks about the error.
http::Response problem_response(const Error& error, std::string_view request_id);
// With a status that no code stands for, such as 416.
http::Response problem_response(int status, const Error& error, std::string_view request_id);

}  // namespace atl::api
