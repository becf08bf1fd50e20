// Text as people see it, in a terminal or on a page. Whatever came from outside passes through
// printable() before it is shown, so that a name cannot move the cursor or hide what follows.
#pragma once

#include <string>
#include <string_view>

namespace atl {

// Control characters, invalid UTF-8 and characters that reorder text are written as \xNN or \u{…}.
// Line ends too, unless `keep_lines`.
std::string printable(std::string_view text, bool keep_lines = false);

// Columns that printable text takes.
int display_width(std::string_view text);

// Cut to at most `width` columns, the last being "…" when something was cut.
std::string cut(std::string_view text, int width);

enum class Align { left, right };
std::string pad(std::string_view text, int width, Align align);

// "12.3 J", "1.5 Wh", "24 kWh": rounded.
std::string format_energy(double joules);

}  // namespace atl
