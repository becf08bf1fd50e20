// References in texts: {params.year}, {env.HOME}, {steps.fetch.outputs.file}. Only what begins with
// one of these words and a dot is one; other braces are left to the shell. {{params.year}} is the
// text {params.year}.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl {

struct Reference {
  size_t at = 0;     // where its brace opens
  size_t size = 0;   // with both braces
  std::string root;  // "params"
  std::string path;  // "year"; of others "fetch.outputs.file"
};

std::vector<Reference> references_in(std::string_view text);

// The text with what `value` gives for each; nullopt leaves it as it stands.
std::string expand(std::string_view text,
                   const std::function<std::optional<std::string>(const Reference&)>& value);

}  // namespace atl
