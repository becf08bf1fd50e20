// User's text inside pages, drawings and attributes.
#pragma once

#include <string>
#include <string_view>

namespace atl::report {

// Printable (base/display.h) and with the five characters of markup escaped, so that it may stand
// between tags and inside quotes. At most `bytes_max` of it, then "…".
std::string escaped(std::string_view text, size_t bytes_max = size_t{1} << 20);

// The end of a log for a page: colours and cursor movements of terminals are dropped, of a line
// that was written over with carriage returns the last state is shown, the rest is escaped. Starts
// at a line when more than `bytes_max` is given.
std::string escaped_log(std::string_view log, size_t bytes_max);

// Lines as they are, escaped, from the start.
std::string escaped_lines(std::string_view text, size_t bytes_max);

// By which a Content-Security-Policy allows a script: "sha256-…".
std::string script_hash(std::string_view script);

}  // namespace atl::report
