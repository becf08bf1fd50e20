// Completion scripts for shells. Sees CLI11; for the sources of this room only.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/verbs.h"

namespace atl::cli {

[[nodiscard]] Result<std::string> completion_script(const Verbs& verbs, const std::string& shell);

}  // namespace atl::cli
