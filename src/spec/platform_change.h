// From a platform file to what is in force and back: what the state says as a file, what a file
// asks of the core, and what would change by it.
#pragma once

#include <string>
#include <vector>

#include "core/core.h"
#include "spec/platform_file.h"

namespace atl::spec {

PlatformFile in_force(const core::State& state);
core::ApplyPlatform to_command(const PlatformFile& file, bool prune);

// One difference, its values as they are written in the file.
struct Change {
  char sign = '~';    // + is new, - is gone, ~ is otherwise
  std::string kind;   // policy, cohort, namespace
  std::string name;   // empty for the policy
  std::string field;  // empty when it is about all of it
  std::string from;
  std::string to;
  bool operator==(const Change&) const = default;
};
std::vector<Change> difference(const PlatformFile& from, const PlatformFile& to);

// What the command would change if it were given now, or why it is refused. Changes nothing.
[[nodiscard]] Result<std::vector<Change>> preview(const core::State& state,
                                                  const core::Actor& actor,
                                                  const core::ApplyPlatform& command);

}  // namespace atl::spec
