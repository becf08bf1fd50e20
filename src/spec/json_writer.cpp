#include "spec/json_writer.h"

#include <array>
#include <charconv>

#include "base/amount.h"
#include "base/text.h"

namespace atl::spec {
namespace {

// Bytes that go as they are.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0x20; c < 0x7f; ++c) table[c] = c != '"' && c != '\\';
  return table;
}();

void append_escape(std::string& out, unsigned char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      ((out += "\\u00") += kHex[c >> 4]) += kHex[c & 15];
  }
}

// The length of the well-formed UTF-8 sequence that starts with a byte >= 0x80; zero when there is
// none.
size_t sequence_length(std::string_view text) {
  for (size_t length = 2; length <= 4 && length <= text.size(); ++length) {
    if (valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t n = 0;
    while (n < text.size() && kPlain[static_cast<unsigned char>(text[n])]) ++n;
    out.append(text.data(), n);
    text.remove_prefix(n);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text.front());
    size_t taken = 1;
    if (c < 0x80) {
      append_escape(out, c);
    } else if (const size_t length = sequence_length(text)) {
      out.append(text.substr(0, length));
      taken = length;
    } else {
      out += "\xef\xbf\xbd";
    }
    text.remove_prefix(taken);
  }
  out += '"';
}

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::shut(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_text(out_, name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  append_json_text(out_, value);
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::number(int64_t value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return raw({buffer, static_cast<size_t>(end - buffer)});
}

JsonWriter& JsonWriter::number(uint64_t value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return raw({buffer, static_cast<size_t>(end - buffer)});
}

JsonWriter& JsonWriter::time(Time value) { return value ? text(format_time(value)) : null(); }

JsonWriter& JsonWriter::milli(int64_t value) {
  if (value >= 0) return raw(format_milli(value));
  return raw("-" + format_milli(-value));
}

JsonWriter& JsonWriter::member(std::string_view name, const std::vector<std::string>& texts) {
  key(name).begin_array();
  for (const std::string& each : texts) text(each);
  return end_array();
}

JsonWriter& JsonWriter::seconds(Duration value) { return milli(value.us / 1000); }

}  // namespace atl::spec
