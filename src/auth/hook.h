// Signed deliveries: who calls a hook proves that they know its secret, and that the call is fresh.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "http/message.h"

namespace atl::auth {

inline constexpr Duration kHookWindow = minutes(5);  // how far the caller's clock may be off
inline constexpr size_t kDeliveryBytesMax = 200;

std::string make_hook_secret();

// In hex.
std::string hmac_sha256(std::string_view secret, std::string_view text);

// What the delivery is known by, so that it is taken once. Two ways to sign are understood:
//   X-Atoll-Timestamp: SECONDS and X-Atoll-Signature: sha256=HEX over "SECONDS.BODY",
//   X-Hub-Signature-256: sha256=HEX over the body, as GitHub does. That one bears no time, so the
//   same body counts as the same delivery.
[[nodiscard]] Result<std::vector<std::string>> check_delivery(std::string_view secret,
                                                              const http::Headers& headers,
                                                              std::string_view body, Time now);

// Whether the request is signed at all, rightly or not.
bool is_signed(const http::Headers& headers);

}  // namespace atl::auth
