#include <charconv>

#include "http/client.h"

namespace atl::http {
namespace {

tl::unexpected<Error> bad_url(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid,
              "\"" + std::string(text) + "\" is not a usable URL: " + std::string(why) +
                  "; write http://host:port, https://host or unix:/path/of/socket");
}

bool parse_port(std::string_view text, std::uint16_t& port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

// Splits "host", "host:port", "[v6]", "[v6]:port". False when it is none of them.
bool parse_authority(std::string_view text, Url& url) {
  std::size_t host_end = text.find(':');
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return false;
    url.host = text.substr(1, bracket - 1);
    host_end = bracket + 1;
  } else {
    url.host = text.substr(0, host_end);
  }
  if (url.host.empty()) return false;
  if (host_end >= text.size()) return true;
  return text[host_end] == ':' && parse_port(text.substr(host_end + 1), url.port);
}

bool is_visible(std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return false;
  }
  return true;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  Url url;
  std::string_view rest = text;
  auto skip = [&rest](std::string_view prefix) {
    const bool found = rest.starts_with(prefix);
    if (found) rest.remove_prefix(prefix.size());
    return found;
  };
  if (skip("unix://") || skip("unix:")) {
    if (!rest.starts_with('/')) return bad_url(text, "the socket's path must be absolute");
    url.scheme = Scheme::unix_socket;
    url.host = rest;
    return url;
  }
  if (!is_visible(text)) return bad_url(text, "it has a space or a control character");
  if (skip("https://")) {
    url.scheme = Scheme::https;
    url.port = 443;
  } else if (skip("http://")) {
    url.port = 80;
  } else {
    return bad_url(text, "it has no scheme known here");
  }
  rest = rest.substr(0, rest.find('#'));
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, path);
  if (authority.find('@') != std::string_view::npos)
    return bad_url(text, "user names belong in a header");
  if (!parse_authority(authority, url)) return bad_url(text, "the host or the port is malformed");
  url.target =
      rest.substr(path).starts_with('/') ? rest.substr(path) : "/" + std::string(rest.substr(path));
  return url;
}

std::string Url::origin() const {
  if (scheme == Scheme::unix_socket) return host;
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return (scheme == Scheme::https ? "https://" : "http://") + name + ":" + std::to_string(port);
}

}  // namespace atl::http
