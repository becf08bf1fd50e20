#include "auth/authenticator.h"

#include "auth/token.h"
#include "base/text.h"
#include "core/authorize.h"

namespace atl::auth {
namespace {

Result<core::Actor> checked(const core::State& table, core::Actor actor) {
  if (auto user = core::known_actor(table, actor); !user) return tl::unexpected(user.error());
  return actor;
}

}  // namespace

Result<core::Actor> Authenticator::by_token(const core::State& table,
                                            std::string_view given) const {
  const auto refuse = [] {
    return fail(ErrorCode::unauthorized,
                "the token is not known or has expired; make one with `atoll token create`");
  };
  const std::string secret = secret_in(given);
  if (secret.empty() || secret.size() > kTokenBytesMax) return refuse();
  const auto hash = table.token_hashes.find(hash_token(secret));
  if (hash == table.token_hashes.end()) return refuse();
  const core::Token& token = table.tokens.at(hash->second);
  if (token.expires && token.expires <= options_.now()) return refuse();
  return checked(table, {token.user, token.read_only, token.namespaces, token.expires});
}

Result<core::Actor> Authenticator::by_account(const core::State& table, uint32_t uid) const {
  if (const auto known = table.user_uids.find(uid); known != table.user_uids.end()) {
    return checked(table, {known->second, false, {}, {}});
  }
  if (uid == 0 || uid == options_.server_uid) {
    for (const auto& [id, user] : table.users) {
      if (user.platform_admin && !user.disabled) return core::Actor{id, false, {}, {}};
    }
  }
  const std::string number = std::to_string(uid);
  return fail(ErrorCode::unauthorized,
              "no user has the account " + number +
                  "; an administrator adds one with `atoll user create NAME --uid " + number + "`");
}

Result<core::Actor> Authenticator::identify(const http::Request& request) const {
  const Directory::Table table = directory_.table();
  if (const std::string* header = request.headers.find("Authorization")) {
    const std::string_view text = *header;
    const size_t space = text.find(' ');
    if (space == std::string_view::npos ||
        !http::equals_ignoring_case(text.substr(0, space), "Bearer")) {
      return fail(ErrorCode::unauthorized, "the Authorization header must be `Bearer TOKEN`");
    }
    return by_token(*table, trim(text.substr(space)));
  }
  if (const std::string* header = request.headers.find("X-Tapis-Token"))
    return by_token(*table, trim(*header));
  if (request.peer.unix_socket) return by_account(*table, request.peer.uid);
  return fail(
      ErrorCode::unauthorized,
      "this needs a token: send `Authorization: Bearer TOKEN`, made with `atoll token create`");
}

}  // namespace atl::auth
