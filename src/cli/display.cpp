#include "cli/display.h"

namespace atl::cli {
namespace {

const char* code_of(Color color) {
  switch (color) {
    case Color::good:
      return "32";
    case Color::bad:
      return "31";
    case Color::warning:
      return "33";
    case Color::active:
      return "36";
    case Color::waiting:
      return "34";
    case Color::faint:
      return "2";
    case Color::strong:
      return "1";
    case Color::plain:
      break;
  }
  return nullptr;
}

}  // namespace

std::string paint(std::string_view text, Color color, bool on) {
  const char* code = on && !text.empty() ? code_of(color) : nullptr;
  if (!code) return std::string(text);
  return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace atl::cli
