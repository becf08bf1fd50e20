#include "auth/hook.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "auth/token.h"
#include "base/check.h"
#include "base/text.h"

namespace atl::auth {
namespace {

constexpr const char* kOurs = "X-Atoll-Signature";
constexpr const char* kStamp = "X-Atoll-Timestamp";
constexpr const char* kHubs = "X-Hub-Signature-256";

tl::unexpected<Error> unproven(std::string why) {
  return fail(ErrorCode::unauthorized, std::move(why));
}

bool same_signature(std::string_view given, const std::string& right) {
  const std::string whole = "sha256=" + right;
  return given.size() == whole.size() &&
         CRYPTO_memcmp(given.data(), whole.data(), whole.size()) == 0;
}

Result<void> check_stamp(std::string_view stamp, Time now) {
  const auto at = parse_int(stamp);
  if (!at || *at < 0 || *at > int64_t{1} << 40)
    return unproven(std::string(kStamp) + " must be the time in seconds since 1970");
  const Duration off = now - Time{*at * 1'000'000};
  if (off <= kHookWindow && off >= Duration{} - kHookWindow) return {};
  return unproven(std::string(kStamp) +
                  " is more than 5 minutes off: the delivery is old, or a clock is wrong");
}

}  // namespace

std::string make_hook_secret() {
  std::string secret = make_token().secret;
  return "whs_" + secret.substr(kTokenPrefix.size());
}

std::string hmac_sha256(std::string_view secret, std::string_view text) {
  Digest digest;
  unsigned size = 0;
  const auto* done = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          digest.bytes.data(), &size);
  CHECK(done && size == digest.bytes.size(), "HMAC-SHA-256 is there");
  return to_hex(digest);
}

bool is_signed(const http::Headers& headers) { return headers.has(kOurs) || headers.has(kHubs); }

Result<std::vector<std::string>> check_delivery(std::string_view secret,
                                                const http::Headers& headers, std::string_view body,
                                                Time now) {
  std::string right;
  if (headers.has(kOurs)) {
    const std::string stamp(headers.get(kStamp));
    right = hmac_sha256(secret, stamp + "." + std::string(body));
    if (!same_signature(headers.get(kOurs), right)) return unproven("the signature is wrong");
    if (auto ok = check_stamp(stamp, now); !ok) return tl::unexpected(ok.error());
  } else {
    right = hmac_sha256(secret, body);
    if (!same_signature(headers.get(kHubs), right)) return unproven("the signature is wrong");
  }
  std::vector<std::string> keys{right};
  if (const std::string_view named = headers.get("X-Atoll-Delivery"); !named.empty()) {
    if (named.size() > kDeliveryBytesMax || !valid_utf8(named))
      return fail(ErrorCode::invalid, "X-Atoll-Delivery must be text of at most 200 bytes");
    keys.push_back("delivery " + std::string(named));
  }
  return keys;
}

}  // namespace atl::auth
