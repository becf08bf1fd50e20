// The payloads that starts are likely to need next: those just submitted, and those of arrays whose
// tasks share one. Bounded by count; the oldest goes first. Bytes are decoded on first use.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>
#include <variant>

#include "base/ids.h"
#include "core/payload.h"

namespace atl::runtime {

class PayloadCache {
 public:
  // Keeps the bytes; large ones push out many others.
  void remember(const Digest& digest, const std::string& bytes);
  // Null when unknown, or malformed.
  core::Payload* find(const Digest& digest);

 private:
  struct Hash {
    size_t operator()(const Digest& digest) const {
      size_t value;
      std::memcpy(&value, digest.bytes.data(), sizeof value);
      return value;
    }
  };
  std::unordered_map<Digest, std::variant<std::string, core::Payload>, Hash> entries_;
  std::deque<Digest> order_;
};

}  // namespace atl::runtime
