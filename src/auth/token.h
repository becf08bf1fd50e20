// API tokens: a prefix that secret scanners know, 32 random bytes, and only the hash is ever
// stored.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace atl::auth {

inline constexpr std::string_view kTokenPrefix = "atl_";
inline constexpr size_t kTokenBytesMax = 128;  // longer ones are refused before they are hashed

struct NewToken {
  std::string secret;  // shown once
  Digest hash;
};
NewToken make_token();
Digest hash_token(std::string_view secret);

// A token in the shape of a JWT, for clients that read its claims: who it is for and until when.
// The last part, where others have a signature, is the token itself in base64url; the claims are
// for the client alone and believed by nobody here.
std::string as_jwt(std::string_view secret, std::string_view user, std::string_view tenant,
                   Time expires);
// The token within one of that shape, or the text as it is.
std::string secret_in(std::string_view token);

}  // namespace atl::auth
