// API tokens: a prefix that secret scanners know, 32 random bytes, and only the hash is ever
// stored.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace atl::auth {

inline constexpr std::string_view kTokenPrefix = "atl_";
inline constexpr size_t kTokenBytesMax = 128;  // longer ones are refused before they are hashed

struct NewToken {
  std::string secret;  // shown once
  Digest hash;
};
NewToken make_token();
Digest hash_token(std::string_view secret);

}  // namespace atl::auth
