// JSON as YAML for people: one value a line. Texts are quoted, so that "12", "no" and "1e3" are
// still texts when they are read again.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

namespace atl::cli {

std::string yaml_text(const boost::json::value& value);

// A text, a number or a truth without quotes.
std::string scalar_text(const boost::json::value& value);

}  // namespace atl::cli
