// JSON with numbers as people write them: 0.9, where Boost.JSON says 9E-1.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

namespace atl::spec {

std::string plain_json(const boost::json::value& value);

// A text as it is, without quotes; anything else as JSON.
std::string plain_text(const boost::json::value& value);

}  // namespace atl::spec
