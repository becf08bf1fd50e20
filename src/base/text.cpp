#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace atl {
namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// Two neighbours that changed places count as one mistake: people type "rnu".
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

// How many bytes the UTF-8 sequence at the start of `text` has; zero when it is malformed.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<void> check_name(std::string_view name, std::string_view field, size_t bytes_max) {
  if (name.size() > bytes_max) {
    return fail(ErrorCode::invalid,
                std::string(field) + " is " + std::to_string(name.size()) +
                    " bytes long; at most " + std::to_string(bytes_max) + " are allowed",
                std::string(field));
  }
  const bool control = std::any_of(name.begin(), name.end(), [](char c) { return is_control(c); });
  if (control || name.find('/') != std::string_view::npos || !valid_utf8(name)) {
    return fail(
        ErrorCode::invalid,
        std::string(field) + " " + quote(name) + " must be UTF-8 without control characters or '/'",
        std::string(field));
  }
  return {};
}

namespace {

Result<void> check_letters(std::string_view name, std::string_view field, bool capitals) {
  const auto letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (capitals && c >= 'A' && c <= 'Z');
  };
  const bool charset = std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || c == '-' || c == '_' || c == '.';
  });
  const bool bounded = !name.empty() && name.size() <= 63 && letter(name.front());
  if (charset && bounded && name.find("..") == std::string_view::npos) return {};
  return fail(ErrorCode::invalid,
              std::string(field) + " " + quote(name) + " must be 1 to 63 of a-z " +
                  (capitals ? "A-Z " : "") +
                  "0-9 . _ - starting with a letter or digit, without \"..\"",
              std::string(field));
}

}  // namespace

Result<void> check_identifier(std::string_view name, std::string_view field) {
  return check_letters(name, field, false);
}

Result<void> check_word(std::string_view name, std::string_view field) {
  return check_letters(name, field, true);
}

std::string variable_part(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += kept ? c : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : '_';
  }
  return out;
}

std::string quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 60) {
      out += "…";
      break;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\')
      (out += '\\') += text[i];
    else if (is_control(c))
      ((out += "\\x") += kHex[c >> 4]) += kHex[c & 15];
    else
      out += text[i];
  }
  return out + '"';
}

std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  const size_t near_enough = std::max<size_t>(1, word.size() / 3);
  std::optional<std::string> best;
  size_t best_distance = near_enough + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word.size() + near_enough ||
        word.size() > candidate.size() + near_enough)
      continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string comma_list(const std::set<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string snake_case(std::string_view camel) {
  std::string out;
  for (const char c : camel) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

}  // namespace atl
