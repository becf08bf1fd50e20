// How a script and its answer travel through a shell that may print other things before and behind.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "site/remote/shell.h"

namespace atl::site {

// A word that no profile prints; another for every exchange.
std::string new_mark();

// The command that is given to the account's shell: it reads the script from stdin, up to the mark,
// and has `sh` run it. It means the same to sh, csh and fish, so it has neither newlines,
// backslashes, exclamation marks nor single quotes within its quotes.
std::string framed_command(const std::string& mark);
// The same as an argument vector for this machine.
std::string framed_program(const std::string& mark);
std::string framed_input(const ShellCommand& command, const std::string& mark);

// What the script said, out of all that came; nothing when the end is missing.
std::optional<Said> unframe(std::string_view out, const std::string& mark);
// What came before the script began, for messages.
std::string_view before_frame(std::string_view out, const std::string& mark);

}  // namespace atl::site
