#include "base/display.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace atl {
namespace {

// Widths are those of the C library's Unicode tables, whatever the user's own locale is.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  int width(char32_t point) const {
    if (!locale_) return 1;
    const locale_t before = uselocale(locale_);
    const int width = wcwidth(static_cast<wchar_t>(point));
    uselocale(before);
    return width;
  }

 private:
  locale_t locale_;
};

int width_of(char32_t point) {
  static const Utf8Locale locale;
  if (point < 0x7f) return point >= 0x20 ? 1 : -1;
  return locale.width(point);
}

struct Point {
  char32_t value = 0;
  int bytes = 0;
};

// The code point at the start of `text`; nothing when it is not UTF-8 (RFC 3629: no overlong forms,
// no surrogates).
std::optional<Point> decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return Point{first, 1};
  const int bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < static_cast<std::size_t>(bytes)) return {};
  char32_t value = first & (0x7f >> bytes);
  for (int i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    if ((next & 0xc0) != 0x80) return {};
    value = (value << 6) | (next & 0x3f);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
  return Point{value, bytes};
}

bool reorders_text(char32_t point) {
  return (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
         point == 0x200e || point == 0x200f || point == 0x061c || point == 0x2028 ||
         point == 0x2029;
}

std::string escaped(char32_t point) {
  if (point == '\n') return "\\n";
  if (point == '\t') return "\\t";
  if (point == '\r') return "\\r";
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, point < 0x100 ? "\\x%02x" : "\\u{%x}",
                static_cast<unsigned>(point));
  return buffer;
}

}  // namespace

std::string printable(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto point = decode(text);
    if (!point) {
      out += escaped(static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    const bool kept = keep_lines && (point->value == '\n' || point->value == '\t');
    const bool shown = kept || (width_of(point->value) >= 0 && !reorders_text(point->value));
    shown ? void(out.append(text.substr(0, static_cast<std::size_t>(point->bytes))))
          : void(out += escaped(point->value));
    text.remove_prefix(static_cast<std::size_t>(point->bytes));
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Point point = decode(text).value_or(Point{'?', 1});
    width += std::max(0, width_of(point.value));
    text.remove_prefix(static_cast<std::size_t>(point.bytes));
  }
  return width;
}

std::string cut(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return {};
  std::size_t kept = 0;
  int used = 0;
  while (kept < text.size()) {
    const Point point = decode(text.substr(kept)).value_or(Point{'?', 1});
    const int more = std::max(0, width_of(point.value));
    if (used + more > width - 1) break;
    used += more;
    kept += static_cast<std::size_t>(point.bytes);
  }
  return std::string(text.substr(0, kept)) + "…";
}

std::string pad(std::string_view text, int width, Align align) {
  const int missing = width - display_width(text);
  const std::string gap(static_cast<std::size_t>(std::max(0, missing)), ' ');
  return align == Align::right ? gap + std::string(text) : std::string(text) + gap;
}

std::string format_energy(double joules) {
  char text[64];
  const double watt_hours = joules / 3600;
  if (joules < 3600)
    std::snprintf(text, sizeof text, "%.3g J", joules);
  else if (watt_hours < 1000)
    std::snprintf(text, sizeof text, "%.3g Wh", watt_hours);
  else
    std::snprintf(text, sizeof text, "%.0f kWh", watt_hours / 1000);
  return text;
}

}  // namespace atl
