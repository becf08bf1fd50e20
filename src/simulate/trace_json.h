// For trace_history.cpp only: the members of a line's JSON object, each of its kind or refused by
// its name.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace atl::simulate {

namespace json = boost::json;

tl::unexpected<Error> wrong(const char* key, const std::string& why);

// Null when it is absent, which a null is too.
const json::value* member(const json::object& object, const char* key);

// Zero when it is absent.
[[nodiscard]] Result<Time> read_time(const json::object& object, const char* key);
[[nodiscard]] Result<Duration> read_span(const json::object& object, const char* key);
// "2h", or a number of seconds.
[[nodiscard]] Result<Duration> span_of(const json::value& value);

[[nodiscard]] Result<std::string> read_name(const json::object& object, const char* key,
                                            const char* otherwise);
// To a thousandth.
[[nodiscard]] Result<int64_t> read_milli(const json::object& object, const char* key,
                                         int64_t otherwise, int64_t most);
[[nodiscard]] Result<int64_t> read_count(const json::object& object, const char* key,
                                         int64_t otherwise, int64_t least, int64_t most);

}  // namespace atl::simulate
