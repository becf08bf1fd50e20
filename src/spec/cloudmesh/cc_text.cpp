#include "spec/cloudmesh/cc_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace atl::spec::cc {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// The code point at `at`, of valid UTF-8, and how many bytes it takes.
std::pair<uint32_t, size_t> code_point(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(
        static_cast<unsigned char>(at + i < text.size() ? text[at + i] : 0));
  };
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xe0) return {(first & 0x1f) << 6 | (byte(1) & 0x3f), 2};
  if (first < 0xf0) return {(first & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f), 3};
  return {(first & 7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f), 4};
}

// Whether a reader of YAML takes it as it stands: controls it refuses, line breaks it folds.
bool stands_for_itself(uint32_t point) {
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
  return point != 0x2028 && point != 0x2029 && point != 0xfeff && point != 0xfffe &&
         point != 0xffff;
}

// -12, 0.5, 1e9: what JSON calls a number, short enough to be one that somebody wrote.
bool is_json_number(std::string_view text) {
  if (text.size() > 20) return false;
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool zero = at < text.size() && text[at] == '0';
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.' && (++at, digits() == 0)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const auto [point, size] = code_point(text, at);
    if (point == '"' || point == '\\') {
      (out += '\\') += static_cast<char>(point);
    } else if (point == '\n') {
      out += "\\n";
    } else if (stands_for_itself(point)) {
      out += text.substr(at, size);
    } else {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", point);
      out += escape.data();
    }
    at += size;
  }
  return out += '"';
}

std::string yaml_text(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kWords = {"null", "true", "false", "yes", "no",
                                                              "on",   "off",  "y",     "n",   "~"};
  const auto plain = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.'; };
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool bare = !text.empty() && is_letter(text.front()) &&
                    std::all_of(text.begin(), text.end(), plain) &&
                    std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
  return bare ? std::string(text) : double_quoted(text);
}

std::string json_scalar(std::string_view text) {
  if (text == "true" || text == "false" || is_json_number(text)) return std::string(text);
  return double_quoted(text);
}

}  // namespace atl::spec::cc
