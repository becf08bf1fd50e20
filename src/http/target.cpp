#include "http/target.h"

#include <algorithm>
#include <cstdint>

#include "http/limits.h"
#include "http/message.h"

namespace atl::http {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Length of the sequence a lead byte opens, with the smallest code point it may carry; 0 for none.
std::size_t utf8_length(unsigned char lead, std::uint32_t& smallest) {
  if (lead < 0x80) return smallest = 0, 1;
  if ((lead & 0xe0) == 0xc0) return smallest = 0x80, 2;
  if ((lead & 0xf0) == 0xe0) return smallest = 0x800, 3;
  if ((lead & 0xf8) == 0xf0) return smallest = 0x10000, 4;
  return 0;
}

// Bytes of the valid sequence at the front of text, 0 when there is none.
std::size_t utf8_sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::uint32_t smallest = 0;
  const std::size_t length = utf8_length(lead, smallest);
  if (length <= 1) return length;
  if (text.size() < length) return 0;
  std::uint32_t point = lead & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    point = (point << 6) | (byte & 0x3f);
  }
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < smallest || point > 0x10ffff || surrogate ? 0 : length;
}

bool has_dot_segment(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    if (segment == "." || segment == "..") return true;
    at = end + 1;
  }
  return false;
}

// "http://host/path" to "/path": clients that think we are a proxy send it so.
std::string_view strip_authority(std::string_view raw) {
  const std::size_t scheme = raw.find("://");
  if (raw.starts_with('/') || scheme == std::string_view::npos) return raw;
  const std::size_t path = raw.find_first_of("/?", scheme + 3);
  return path == std::string_view::npos || raw[path] == '?' ? std::string_view("/")
                                                            : raw.substr(path);
}

Result<void> decode_path(std::string_view raw, std::string& path) {
  if (raw.find('%') == std::string_view::npos) {
    path.assign(raw);
  } else if (auto decoded = percent_decode(raw)) {
    path = std::move(*decoded);
  } else {
    return fail(ErrorCode::invalid, "the path has a % that is not followed by two hex digits");
  }
  if (!path.starts_with('/'))
    return fail(ErrorCode::invalid, "the request target must begin with /");
  if (std::ranges::any_of(path, is_control)) {
    return fail(ErrorCode::invalid, "the path has a control character");
  }
  if (!is_utf8(path)) return fail(ErrorCode::invalid, "the path is not valid UTF-8");
  if (has_dot_segment(path)) return fail(ErrorCode::invalid, "the path has a . or .. segment");
  return {};
}

Result<void> add_query_pair(std::string_view text, Pairs& query) {
  if (text.empty()) return {};
  if (query.size() == kQueryParamsMax) {
    return fail(ErrorCode::invalid, "the query has too many parameters");
  }
  const std::size_t equals = std::min(text.find('='), text.size());
  auto name = percent_decode(text.substr(0, equals), true);
  auto value = percent_decode(text.substr(std::min(equals + 1, text.size())), true);
  if (!name || !value) {
    return fail(ErrorCode::invalid, "the query has a % that is not followed by two hex digits");
  }
  const bool nul = name->find('\0') != std::string::npos || value->find('\0') != std::string::npos;
  if (nul || !is_utf8(*name) || !is_utf8(*value)) {
    return fail(ErrorCode::invalid, "the query has a NUL or is not valid UTF-8");
  }
  query.emplace_back(std::move(*name), std::move(*value));
  return {};
}

Result<void> decode_query(std::string_view raw, Pairs& query) {
  for (std::size_t at = 0; at <= raw.size();) {
    const std::size_t end = std::min(raw.find('&', at), raw.size());
    if (auto added = add_query_pair(raw.substr(at, end - at), query); !added) return added;
    at = end + 1;
  }
  return {};
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (byte < 0x80 && std::isalnum(byte)) || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<Target> parse_target(std::string_view raw) {
  Target target;
  if (raw == "*") return Target{.path = "*", .raw_path = raw, .query = {}};
  const std::string_view origin = strip_authority(raw.substr(0, raw.find('#')));
  const std::size_t mark = origin.find('?');
  target.raw_path = origin.substr(0, mark);
  if (auto decoded = decode_path(target.raw_path, target.path); !decoded) {
    return tl::unexpected(decoded.error());
  }
  if (mark != std::string_view::npos) {
    auto decoded = decode_query(origin.substr(mark + 1), target.query);
    if (!decoded) return tl::unexpected(decoded.error());
  }
  return target;
}

}  // namespace atl::http
