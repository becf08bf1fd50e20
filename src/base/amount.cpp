#include "base/amount.h"

#include <array>
#include <optional>

#include "base/text.h"

namespace atl {
namespace {

// A decimal number with at most three digits after the point, times 1000; wide enough for every
// whole number that is read.
std::optional<__int128> parse_thousandths(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (point != std::string_view::npos && fraction.empty()) return std::nullopt;
  while (fraction.size() > 3 && fraction.back() == '0') fraction.remove_suffix(1);
  const auto units = whole.empty() && !fraction.empty() ? 0 : parse_int(whole);
  if (!units || whole.starts_with('+') || whole.starts_with('-') || fraction.size() > 3)
    return std::nullopt;
  int64_t milli = 0;
  int64_t scale = 100;
  for (const char c : fraction) {
    if (c < '0' || c > '9') return std::nullopt;
    milli += (c - '0') * scale;
    scale /= 10;
  }
  return static_cast<__int128>(*units) * 1000 + milli;
}

struct Unit {
  std::string_view suffix;
  int64_t factor;
};
constexpr int64_t kKi = 1024;
constexpr std::array<Unit, 10> kUnits{{{"Ki", kKi},
                                       {"Mi", kKi* kKi},
                                       {"Gi", kKi* kKi* kKi},
                                       {"Ti", kKi* kKi* kKi* kKi},
                                       {"Pi", kKi* kKi* kKi* kKi* kKi},
                                       {"K", 1000},
                                       {"M", 1000'000},
                                       {"G", 1000'000'000},
                                       {"T", 1000'000'000'000},
                                       {"P", 1000'000'000'000'000}}};

}  // namespace

Result<int64_t> parse_milli(std::string_view text) {
  if (text.ends_with('m')) {
    const auto milli = parse_int(text.substr(0, text.size() - 1));
    if (milli && *milli >= 0) return *milli;
  } else if (const auto milli = parse_thousandths(text); milli && *milli <= INT64_MAX) {
    return static_cast<int64_t>(*milli);
  }
  return fail(ErrorCode::invalid, quote(text) + " is not a number of cores: write 2, 0.5 or 500m");
}

std::string format_milli(int64_t milli) {
  std::string out = std::to_string(milli / 1000);
  int64_t rest = milli % 1000;
  if (rest == 0) return out;
  out += '.';
  for (int64_t scale = 100; rest > 0; scale /= 10) {
    out += static_cast<char>('0' + rest / scale);
    rest %= scale;
  }
  return out;
}

Result<int64_t> parse_bytes(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with('B')) number.remove_suffix(1);
  int64_t factor = 1;
  for (const Unit& unit : kUnits) {
    if (!number.ends_with(unit.suffix)) continue;
    factor = unit.factor;
    number.remove_suffix(unit.suffix.size());
    break;
  }
  const auto milli = parse_thousandths(trim(number));
  // Divided first where it would overflow; so much is too much either way.
  const bool fits = milli && *milli / 1000 <= INT64_MAX / factor;
  const auto bytes = fits ? *milli * factor / 1000 : -1;
  if (bytes < 0 || bytes > INT64_MAX) {
    return fail(ErrorCode::invalid,
                quote(text) + " is not an amount of memory: write 512Mi, 10G or 4096");
  }
  return static_cast<int64_t>(bytes);
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<const char*, 6> kSuffix{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  int64_t unit = 1;
  size_t step = 0;
  while (step + 1 < kSuffix.size() && bytes / unit >= 1024) {
    unit *= 1024;
    ++step;
  }
  // Rounded to one digit after the point, which is left away when it is zero.
  const int64_t tenths =
      static_cast<int64_t>((static_cast<__int128>(bytes) * 10 + unit / 2) / unit);
  std::string out = std::to_string(tenths / 10);
  if (tenths % 10 != 0) out += '.' + std::to_string(tenths % 10);
  return out + kSuffix[step];
}

std::string exact_bytes(int64_t bytes) {
  std::string shown = format_bytes(bytes);
  if (parse_bytes(shown) == bytes) return shown;
  int64_t largest = 1;
  shown = std::to_string(bytes);
  for (const Unit& unit : kUnits) {
    if (bytes % unit.factor != 0 || unit.factor < largest) continue;
    largest = unit.factor;
    shown = std::to_string(bytes / unit.factor) + std::string(unit.suffix);
  }
  return shown;
}

}  // namespace atl
