// The namespace is `atl` because the C library owns the name `atoll`.
//
// Errors as values. A function that may fail in the domain or at an edge returns Result<T>; a
// broken promise of our own is a CHECK (check.h), never an Error.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace atl {

// The codes are few on purpose: each maps once to an HTTP status and an exit code (api/problem.h,
// cli/exit.h).
enum class ErrorCode {
  invalid,       // the request is malformed: `field` says where
  unauthorized,  // nobody is known behind the request
  forbidden,     // somebody is, and may not
  not_found,
  conflict,     // it exists already, or its state does not allow it
  stale,        // it has changed since it was read (If-Match)
  infeasible,   // no capacity that exists could ever satisfy it
  exhausted,    // a quota or limit is reached: try again later
  unavailable,  // the platform cannot do it now (disk full, site away)
  too_large,
  timeout,  // it was begun and did not end in its time
  internal,
};

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // a sentence: what was wrong, where, and what to write instead
  std::string field;    // path of the offending field, such as "resources.cpus", or empty

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string field = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(field)});
}

}  // namespace atl
