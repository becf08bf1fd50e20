// From a Launch to what execve wants: environment, argument vector, sandbox. Pure, apart from
// looking at the file system where the comment says so.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "site/local/protocol.h"

namespace atl::site {

// The directory of one task: the job's own, or one per index of an array.
std::string checkpoint_directory(const Launch& launch);
std::string checkpoint_note(const Launch& launch);
// Where a task that is being stopped finds out why, and how long it has.
std::string notice_file(const Launch& launch);
// Where a task may write progress lines, unless it names another file itself.
inline constexpr const char* kProgressFileVariable = "ATOLL_PROGRESS_FILE";
std::string progress_file(const Launch& launch);
std::string script_path(const Launch& launch);
bool shares_script(const Launch& launch);

// A clean login environment, then what the task is told about itself, then payload.env, which wins;
// "KEY=value".
std::vector<std::string> build_environment(const Launch& launch);
std::string_view environment_value(const std::vector<std::string>& environment,
                                   std::string_view key);

// The command inside any sandbox.
std::vector<std::string> build_command(const Launch& launch);

// The files execve is tried with, in order: the path itself when it has a slash, else one per entry
// of PATH.
std::vector<std::string> executable_candidates(const std::string& name, std::string_view path);

// bwrap and its arguments in front of `command`. Looks which of the system's directories exist.
std::vector<std::string> wrap_in_sandbox(const Launch& launch,
                                         const std::vector<std::string>& command);

// What makes a task impossible before any process is made, as a sentence. Looks at the file system.
[[nodiscard]] Result<void> check_launch(const Launch& launch);

}  // namespace atl::site
