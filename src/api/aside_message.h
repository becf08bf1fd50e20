// What a copy of the server (runtime/aside.h) says to the one that made it: JSON, one value a line.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/forecast.h"

namespace atl::api {

// A forecast so far; each line is more than the one before.
std::string starts_message(const core::Outlooks& starts);
// The last one that was said in full; empty: none was.
core::Outlooks last_starts(std::string_view said);

// The body of an answer, or why there is none.
std::string answer_message(const Result<std::string>& body);
// `internal` when it is neither.
[[nodiscard]] Result<std::string> answer_of(std::string_view said);

}  // namespace atl::api
