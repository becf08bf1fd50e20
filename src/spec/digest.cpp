#include "spec/digest.h"

#include <openssl/evp.h>

#include <fstream>
#include <memory>
#include <vector>

#include "base/check.h"
#include "spec/job_spec.h"

namespace atl::spec {

Digest sha256(std::string_view bytes) {
  // The algorithm is looked up once and the context reused: both cost more than hashing a small
  // payload.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  static thread_local const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(
      EVP_MD_CTX_new(), EVP_MD_CTX_free);
  Digest digest;
  unsigned length = 0;
  const bool ok = EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1 &&
                  EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                  EVP_DigestFinal_ex(context.get(), digest.bytes.data(), &length) == 1;
  CHECK(ok && length == digest.bytes.size(), "SHA-256 of OpenSSL failed");
  return digest;
}

std::optional<Digest> sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  bool ok = EVP_DigestInit_ex2(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> part(1 << 20);
  while (ok && file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    ok = EVP_DigestUpdate(context.get(), part.data(), static_cast<size_t>(file.gcount())) == 1;
  }
  Digest digest;
  unsigned length = 0;
  ok = ok && file.eof() && EVP_DigestFinal_ex(context.get(), digest.bytes.data(), &length) == 1;
  return ok ? std::optional(digest) : std::nullopt;
}

}  // namespace atl::spec
