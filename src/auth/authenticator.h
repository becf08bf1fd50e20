// From a request to the one who asks. On the unix socket the peer's uid is the account; on TCP it
// takes a bearer token. What they may do is the core's decision; this only finds out who they are.
#pragma once

#include <cstdint>
#include <functional>

#include "auth/directory.h"
#include "core/input.h"
#include "http/message.h"

namespace atl::auth {

struct Options {
  uint32_t server_uid =
      0;  // whose account the server runs under; it and root act as a platform administrator
  std::function<Time()> now;  // for the expiry of tokens; must be callable from any thread
};

class Authenticator {
 public:
  Authenticator(const Directory& directory, Options options)
      : directory_(directory), options_(std::move(options)) {}

  // `unauthorized` when nobody is known behind the request, `forbidden` when the user is disabled.
  // Thread-safe, takes microseconds. A token that is given counts, also on the socket.
  [[nodiscard]] Result<core::Actor> identify(const http::Request& request) const;

 private:
  [[nodiscard]] Result<core::Actor> by_token(const core::State& table,
                                             std::string_view secret) const;
  [[nodiscard]] Result<core::Actor> by_account(const core::State& table, uint32_t uid) const;

  const Directory& directory_;
  const Options options_;
};

}  // namespace atl::auth
