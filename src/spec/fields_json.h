// For the sources of this room only: the parser over a tree that somebody else has made. Sees
// Boost.JSON.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "spec/fields.h"

namespace atl::spec {

[[nodiscard]] Result<boost::json::value> parse_tree(std::string_view text);

// `path` is where the value stands, such as "jobs[3]", and empty at the top.
[[nodiscard]] Result<void> parse_value(const Shape& shape, void* object,
                                       const boost::json::value& value, const std::string& path);

// "a number", "a list": for messages.
std::string_view word_for(const boost::json::value& value);

}  // namespace atl::spec
