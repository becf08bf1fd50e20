#include "report/canvas.h"

#include <algorithm>
#include <array>

#include "base/display.h"

namespace atl::report {
namespace {

constexpr uint8_t kUp = 1, kDown = 2, kLeft = 4, kRight = 8;

// By the sides that a line goes to.
constexpr std::array<std::string_view, 16> kLines{
    " ", "│", "│", "│", "─", "┘", "┐", "┤", "─", "└", "┌", "├", "─", "┴", "┬", "┼",
};
constexpr std::array<std::string_view, 16> kAsciiLines{
    " ", "|", "|", "|", "-", "+", "+", "+", "-", "+", "+", "+", "-", "+", "+", "+",
};

std::string_view color_of(int8_t state) {
  switch (static_cast<StepState>(state)) {
    case StepState::succeeded:
      return "\x1b[32m";
    case StepState::failed:
      return "\x1b[31m";
    case StepState::blocked:
    case StepState::queued:
    case StepState::ready:
      return "\x1b[33m";
    case StepState::running:
      return "\x1b[36m";
    case StepState::cancelled:
      return "\x1b[35m";
    default:
      return "\x1b[2m";
  }
}

}  // namespace

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      cells_(static_cast<size_t>(width) * static_cast<size_t>(height)) {}

void Canvas::join(int x, int y, uint8_t sides, int line) {
  if (!inside(x, y)) return;
  Cell& cell = at(x, y);
  const bool own = cell.sides == 0 || cell.line == line;
  const bool upright = sides == (kUp | kDown), level = sides == (kLeft | kRight);
  if (!own && upright && cell.sides == (kLeft | kRight)) {
    cell.sides = sides;  // a bridge over the level one
    cell.line = line;
  } else if (own || !(level && cell.sides == (kUp | kDown))) {
    cell.sides |= sides;
    cell.line = line;
  }
}

void Canvas::across(int y, int from, int to, int line) {
  if (from > to) std::swap(from, to);
  for (int x = from; x <= to && from < to; ++x)
    join(x, y, static_cast<uint8_t>((x > from ? kLeft : 0) | (x < to ? kRight : 0)), line);
}

void Canvas::down(int x, int from, int to, int line) {
  for (int y = from; y <= to && from < to; ++y)
    join(x, y, static_cast<uint8_t>((y > from ? kUp : 0) | (y < to ? kDown : 0)), line);
}

void Canvas::tip(int x, int y) {
  if (inside(x, y)) at(x, y).tip = true;
}

void Canvas::words(int x, int y, std::string_view text, StepState state) {
  while (!text.empty()) {
    size_t bytes = 1;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) ++bytes;
    const std::string_view one = text.substr(0, bytes);
    const int width = display_width(one);
    text.remove_prefix(bytes);
    if (width == 0 && inside(x - 1, y)) at(x - 1, y).text += one;  // an accent
    for (int i = 0; i < width && inside(x, y); ++i, ++x) {
      Cell& cell = at(x, y);
      cell.written = true;
      cell.color = static_cast<int8_t>(state);
      cell.text = i == 0 ? std::string(one) : "";
    }
  }
}

std::string Canvas::take(bool ascii, bool color) const {
  std::string out;
  for (int y = 0; y < height_; ++y) {
    std::string line;
    int8_t before = -1;
    for (int x = 0; x < width_; ++x) {
      const Cell& cell = at(x, y);
      const int8_t now = cell.written ? cell.color : int8_t{-1};
      if (color && now != before) line += now < 0 ? "\x1b[0m" : color_of(now);
      before = now;
      if (cell.written)
        line += cell.text;
      else if (cell.tip)
        line += ascii ? "v" : "▼";
      else
        line += (ascii ? kAsciiLines : kLines)[cell.sides];
    }
    if (color && before >= 0) line += "\x1b[0m";
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace atl::report
