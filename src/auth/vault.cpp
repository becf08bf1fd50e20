#include "auth/vault.h"

#include <boost/json.hpp>

#include "base/text.h"

namespace atl::auth {
namespace {

namespace json = boost::json;

// What stands under the names, one within the other. Its text is told to nobody, also not in
// errors.
Result<std::string> field_of(const std::string& text, std::string_view path,
                             const std::string& reference) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  for (const std::string_view name : split(path, '/')) {
    json::value* inner =
        !error && value.is_object() ? value.as_object().if_contains(name) : nullptr;
    if (!inner)
      return fail(ErrorCode::not_found, "secret " + quote(reference) + " has no such field");
    json::value next = std::move(*inner);
    value = std::move(next);
  }
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

}  // namespace

Result<SealKey> Vault::key() {
  const std::lock_guard lock(mutex_);
  if (!key_) {
    auto made = seal_key(key_file_);
    if (!made) return made;
    key_ = *made;
  }
  return *key_;
}

Result<std::string> Vault::seal(std::string_view text) {
  const auto with = key();
  if (!with) return tl::unexpected(with.error());
  return auth::seal(*with, text);
}

Result<std::string> Vault::open(std::string_view sealed) {
  const auto with = key();
  if (!with) return tl::unexpected(with.error());
  return open_sealed(*with, sealed);
}

Result<std::string> Vault::reveal(const core::State& state, NamespaceId ns,
                                  const std::string& reference) {
  const size_t slash = reference.find('/');
  const std::string name = reference.substr(0, slash);
  const core::KeptDocument* kept = state.document(ns, kSecretKind, name);
  if (!kept)
    return fail(ErrorCode::not_found, "there is no secret " + quote(name) +
                                          ": an administrator of the namespace sets it with "
                                          "`atoll secret set " +
                                          name + "`");
  auto text = open(kept->text);
  if (!text || slash == std::string::npos) return text;
  return field_of(*text, std::string_view(reference).substr(slash + 1), reference);
}

}  // namespace atl::auth
