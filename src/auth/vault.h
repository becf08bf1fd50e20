// Secrets: sealed in the state, opened only when they are used. Those of a namespace are among its
// documents, for tasks that name them. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "auth/seal.h"
#include "core/state.h"

namespace atl::auth {

inline constexpr const char* kSecretKind = "secret";  // of document
inline constexpr size_t kSecretBytesMax = 64 << 10;

class Vault {
 public:
  // The key's file is made when the first secret is set.
  explicit Vault(std::string key_file) : key_file_(std::move(key_file)) {}

  [[nodiscard]] Result<std::string> seal(std::string_view text);
  [[nodiscard]] Result<std::string> open(std::string_view sealed);

  // NAME, or NAME/FIELD/… of a secret that is a JSON object.
  [[nodiscard]] Result<std::string> reveal(const core::State& state, NamespaceId ns,
                                           const std::string& reference);

 private:
  [[nodiscard]] Result<SealKey> key();

  const std::string key_file_;
  std::mutex mutex_;
  std::optional<SealKey> key_;
};

}  // namespace atl::auth
