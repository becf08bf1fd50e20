#include "auth/seal.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"

namespace atl::auth {
namespace {

constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;

using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

CipherPtr cipher() {
  CipherPtr made(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  CHECK(made, "no memory for a cipher");
  return made;
}

unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

tl::unexpected<Error> unusable(const std::string& path, const std::string& why) {
  return fail(ErrorCode::internal, "the key of the secrets, " + path + ": " + why);
}

// Written beside and linked into place, so that two who begin at once use the same key and nobody
// sees half of one.
Result<void> make_key(const std::string& path) {
  SealKey key;
  CHECK(RAND_bytes(key.data(), static_cast<int>(key.size())) == 1, "no random bytes");
  const std::string draft = path + "." + std::to_string(::getpid());
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return unusable(path, std::strerror(errno));
  const bool written = ::write(file, key.data(), key.size()) == static_cast<ssize_t>(key.size()) &&
                       ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  const bool placed = written && (::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int link_error = errno;
  ::unlink(draft.c_str());
  if (!placed) return unusable(path, std::strerror(written ? link_error : error));
  return {};
}

}  // namespace

Result<SealKey> seal_key(const std::string& path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 && errno == ENOENT) {
    if (auto made = make_key(path); !made) return tl::unexpected(made.error());
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  }
  if (file < 0) return unusable(path, std::strerror(errno));
  SealKey key;
  const ssize_t got = ::read(file, key.data(), key.size());
  ::close(file);
  if (got != static_cast<ssize_t>(key.size())) return unusable(path, "it has not 32 bytes");
  return key;
}

std::string seal(const SealKey& key, std::string_view text) {
  std::string sealed(kNonceBytes + text.size() + kTagBytes, '\0');
  CHECK(RAND_bytes(bytes(sealed), kNonceBytes) == 1, "no random bytes");
  const CipherPtr with = cipher();
  int length = 0;
  const bool done =
      EVP_EncryptInit_ex(with.get(), EVP_aes_256_gcm(), nullptr, key.data(), bytes(sealed)) == 1 &&
      EVP_EncryptUpdate(with.get(), bytes(sealed) + kNonceBytes, &length, bytes(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_EncryptFinal_ex(with.get(), bytes(sealed) + kNonceBytes + length, &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(with.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                          bytes(sealed) + kNonceBytes + text.size()) == 1;
  CHECK(done, "a secret could not be sealed");
  return sealed;
}

Result<std::string> open_sealed(const SealKey& key, std::string_view sealed) {
  const auto refuse = [] {
    return fail(ErrorCode::internal,
                "a secret cannot be opened: it was sealed with another key; set it again");
  };
  if (sealed.size() < kNonceBytes + kTagBytes) return refuse();
  std::string text(sealed.size() - kNonceBytes - kTagBytes, '\0');
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  const CipherPtr with = cipher();
  int length = 0;
  const bool done =
      EVP_DecryptInit_ex(with.get(), EVP_aes_256_gcm(), nullptr, key.data(), bytes(sealed)) == 1 &&
      EVP_DecryptUpdate(with.get(), bytes(text), &length, bytes(sealed) + kNonceBytes,
                        static_cast<int>(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(with.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(with.get(), bytes(text) + length, &length) == 1;
  if (!done) return refuse();
  return text;
}

}  // namespace atl::auth
