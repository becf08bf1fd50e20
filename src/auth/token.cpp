#include "auth/token.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>

#include "base/check.h"
#include "spec/job_spec.h"
#include "spec/json_writer.h"

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

constexpr int64_t kNeverSeconds = 4'102'444'800;  // the year 2100

std::string base64url(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

// Empty when it is none.
std::string from_base64url(std::string_view text) {
  if (text.size() > kTokenBytesMax * 2) return {};
  std::string padded(text);
  for (char& c : padded) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const size_t fill = (4 - padded.size() % 4) % 4;
  padded.append(fill, '=');
  std::string bytes(padded.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(padded.data()),
                                   static_cast<int>(padded.size()));
  if (size < 0 || fill > 2) return {};
  bytes.resize(static_cast<size_t>(size) - fill);
  return bytes;
}

}  // namespace

std::string as_jwt(std::string_view secret, std::string_view user, std::string_view tenant,
                   Time expires) {
  std::string claims;
  spec::JsonWriter json(claims);
  json.begin_object().member("sub", std::string(user) + "@" + std::string(tenant));
  json.member("iss", tenant).member("exp", expires ? expires.us / 1'000'000 : kNeverSeconds);
  json.member("tapis/tenant_id", tenant).member("tapis/username", user);
  json.member("tapis/account_type", "user").member("tapis/token_type", "access").end_object();
  return base64url(R"({"alg":"none","typ":"JWT"})") + "." + base64url(claims) + "." +
         base64url(secret);
}

std::string secret_in(std::string_view token) {
  const size_t dot = token.rfind('.');
  if (dot == std::string_view::npos) return std::string(token);
  return from_base64url(token.substr(dot + 1));
}

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
