#include "cli/yaml_text.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <set>

namespace atl::cli {
namespace {

namespace json = boost::json;

std::string shortest(double number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return {buffer, end};
}

// JSON's quotes are YAML's, but for some characters that YAML does not let stand as they are: DEL
// and the second block of control characters, U+0080 to U+009F.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::string plain = json::serialize(json::string_view(text.data(), text.size()));
  std::string out;
  for (size_t i = 0; i < plain.size(); ++i) {
    const auto byte = static_cast<unsigned char>(plain[i]);
    const auto next = i + 1 < plain.size() ? static_cast<unsigned char>(plain[i + 1]) : 0u;
    const bool control = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (byte == 0x7f)
      out += "\\x7f";
    else if (control)
      out += std::string("\\x") + kHex[next >> 4] + kHex[next & 15];
    else
      out += plain[i];
    i += control;
  }
  return out;
}

std::string key_text(std::string_view key) {
  static const std::set<std::string, std::less<>> kWords = {"yes",  "no",    "on",  "off",
                                                            "true", "false", "null"};
  const auto safe = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ||
           c == ':' || c == '/';
  };
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const bool plain = !key.empty() && std::isalpha(static_cast<unsigned char>(key[0])) &&
                     std::all_of(key.begin(), key.end(), safe) && key.back() != ':' &&
                     !kWords.count(lower);
  return plain ? std::string(key) : quoted(key);
}

bool opens(const json::value& value) {
  return (value.is_object() && !value.as_object().empty()) ||
         (value.is_array() && !value.as_array().empty());
}

// `indent` stands before every line but the first.
void write(std::string& out, const json::value& value, const std::string& indent) {
  if (value.is_string()) {
    out += quoted(value.as_string());
  } else if (value.is_null()) {
    out += "~";
  } else if (!opens(value)) {
    out += value.is_object() ? "{}" : value.is_array() ? "[]" : scalar_text(value);
  } else if (value.is_array()) {
    bool first = true;
    for (const json::value& item : value.as_array()) {
      if (!std::exchange(first, false)) out += "\n" + indent;
      out += "- ";
      write(out, item, indent + "  ");
    }
  } else {
    bool first = true;
    for (const auto& entry : value.as_object()) {
      if (!std::exchange(first, false)) out += "\n" + indent;
      out += key_text(entry.key()) + ":";
      out += opens(entry.value()) ? "\n" + indent + "  " : " ";
      write(out, entry.value(), indent + "  ");
    }
  }
}

}  // namespace

std::string scalar_text(const json::value& value) {
  switch (value.kind()) {
    case json::kind::string:
      return std::string(value.as_string());
    case json::kind::bool_:
      return value.as_bool() ? "true" : "false";
    case json::kind::int64:
      return std::to_string(value.as_int64());
    case json::kind::uint64:
      return std::to_string(value.as_uint64());
    case json::kind::double_:
      return shortest(value.as_double());
    default:
      return {};
  }
}

std::string yaml_text(const json::value& value) {
  std::string out;
  write(out, value, "");
  return out + "\n";
}

}  // namespace atl::cli
