// Texts of Cloudmesh files as YAML and as JSON.
#pragma once

#include <string>
#include <string_view>

namespace atl::spec::cc {

// In double quotes and on one line; the same in YAML and in JSON.
std::string double_quoted(std::string_view text);

// As YAML reads it back: bare where that is the same text.
std::string yaml_text(std::string_view text);

// A value that YAML gave without saying its type: a number, true, false, or a text.
std::string json_scalar(std::string_view text);

}  // namespace atl::spec::cc
