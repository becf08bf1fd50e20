// Completion scripts for shells. Sees CLI11; for the sources of this room only.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"

namespace atl::cli {

[[nodiscard]] Result<std::string> completion_script(const CLI::App& root, const std::string& shell);

}  // namespace atl::cli
