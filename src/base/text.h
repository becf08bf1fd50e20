// Small text helpers that every room needs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::optional<int64_t> parse_int(std::string_view text);  // the whole text, decimal
bool valid_utf8(std::string_view text);

// Names of jobs: printable UTF-8 without control characters or '/', at most `bytes_max`.
[[nodiscard]] Result<void> check_name(std::string_view name, std::string_view field,
                                      size_t bytes_max);

// Names that appear in paths and URLs (namespaces, users, sites): [a-z0-9] then [a-z0-9._-], at
// most 63 bytes, no "..".
[[nodiscard]] Result<void> check_identifier(std::string_view name, std::string_view field);
// The same for names that people give within their own files, which may have capitals.
[[nodiscard]] Result<void> check_word(std::string_view name, std::string_view field);

// A name as it may stand within that of a variable: LEARNING_RATE for learning-rate.
std::string variable_part(std::string_view name);

// Shows text inside an error message: quoted, control bytes escaped, cut after 60 bytes.
std::string quote(std::string_view text);

// The candidate nearest to `word`, when near enough to be what was meant.
std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates);

std::string comma_list(const std::set<std::string>& words);  // "a100, t4"

// Lower-case words joined by underscores: "JobSubmitted" -> "job_submitted".
std::string snake_case(std::string_view camel);

}  // namespace atl
