// What travels: a request as a handler sees it, and a whole answer. Streams are in exchange.h.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atl::http {

struct Header {
  std::string name;
  std::string value;

  bool operator==(const Header&) const = default;
};

bool equals_ignoring_case(std::string_view a, std::string_view b);

// Fields in the order they came; names are compared without case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  void add(std::string name, std::string value);
  void set(std::string_view name, std::string value);

  // The first value of that name, or null.
  const std::string* find(std::string_view name) const;
  std::string_view get(std::string_view name) const;  // empty when absent
  bool has(std::string_view name) const { return find(name) != nullptr; }

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

 private:
  std::vector<Header> fields_;
};

// Who is at the other end. On a unix socket the kernel vouches for uid, gid and pid as of
// connect(); on TCP they are meaningless and only the address is known.
struct Peer {
  bool unix_socket = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;
  std::string address;  // "127.0.0.1:40312", "[::1]:40312", or "unix"
  bool tls = false;
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;
  std::string target;  // as sent, before decoding
  std::string path;  // decoded; valid UTF-8 without control characters and without . or .. segments
  Pairs query;       // decoded, in order; a name may repeat
  Pairs params;      // what the route's {names} matched, decoded
  Headers headers;
  std::string body;
  Peer peer;
  std::string id;  // also answered as X-Request-Id

  std::optional<std::string> query_param(std::string_view name) const;

  // The value of a {name} in the route's pattern. Asking for one the pattern lacks gives "".
  std::string_view param(std::string_view name) const;
};

// Date, Content-Length, X-Request-Id and Connection are the server's to write. Control characters
// in header values are replaced by spaces, so that a value taken from a user cannot split the
// answer.
struct Response {
  int status = 200;
  std::string content_type;  // no Content-Type when empty
  std::string body;
  Headers headers;
};

// "Not Found" for 404; "Unknown" for a status nobody registered.
std::string_view reason_phrase(int status);

// The answer of this room itself to what never reaches a handler: problem+json with a detail.
Response problem(int status, std::string_view detail, std::string_view request_id = {});

// What no header and no path may hold.
inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace atl::http
