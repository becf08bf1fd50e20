// Text as a terminal shows it. Whatever came from a server or a file passes through printable()
// before it reaches the terminal, so that a name cannot move the cursor or hide what follows.
#pragma once

#include <string>
#include <string_view>

namespace atl::cli {

// Control characters, invalid UTF-8 and characters that reorder text are written as \xNN or \u{…}.
// Line ends too, unless `keep_lines`.
std::string printable(std::string_view text, bool keep_lines = false);

// Columns that printable text takes.
int display_width(std::string_view text);

// Cut to at most `width` columns, the last being "…" when something was cut.
std::string cut(std::string_view text, int width);

enum class Align { left, right };
std::string pad(std::string_view text, int width, Align align);

// The fixed palette, each a meaning rather than a taste.
enum class Color { plain, good, bad, warning, active, waiting, faint, strong };

std::string paint(std::string_view text, Color color, bool on);

}  // namespace atl::cli
