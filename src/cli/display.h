// What the command line adds to base/display.h: colours.
#pragma once

#include <string>
#include <string_view>

#include "base/display.h"

namespace atl::cli {

// The fixed palette, each a meaning rather than a taste.
enum class Color { plain, good, bad, warning, active, waiting, faint, strong };

std::string paint(std::string_view text, Color color, bool on);

}  // namespace atl::cli
