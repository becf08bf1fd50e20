#include <openssl/evp.h>

#include <memory>

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

}  // namespace atl::spec
