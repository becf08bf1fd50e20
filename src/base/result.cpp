#include "base/result.h"

namespace atl {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::unauthorized:
      return "unauthorized";
    case ErrorCode::forbidden:
      return "forbidden";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::stale:
      return "stale";
    case ErrorCode::infeasible:
      return "infeasible";
    case ErrorCode::exhausted:
      return "exhausted";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace atl
