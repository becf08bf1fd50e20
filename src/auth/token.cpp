#include "auth/token.h"

#include <openssl/rand.h>

#include <array>

#include "base/check.h"
#include "spec/job_spec.h"

namespace atl::auth {
namespace {

constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr size_t kEncodedLength = 43;  // 62^43 > 2^256

std::string base62(std::array<unsigned char, 32> number) {
  std::string text(kEncodedLength, '0');
  for (size_t at = text.size(); at-- > 0;) {
    unsigned remainder = 0;
    for (unsigned char& byte : number) {
      const unsigned value = remainder * 256 + byte;
      byte = static_cast<unsigned char>(value / 62);
      remainder = value % 62;
    }
    text[at] = kDigits[remainder];
  }
  return text;
}

}  // namespace

Digest hash_token(std::string_view secret) { return spec::sha256(secret); }

NewToken make_token() {
  std::array<unsigned char, 32> bytes{};
  CHECK(RAND_bytes(bytes.data(), bytes.size()) == 1, "the system gives no random bytes");
  NewToken token;
  token.secret = std::string(kTokenPrefix) + base62(bytes);
  token.hash = hash_token(token.secret);
  return token;
}

}  // namespace atl::auth
