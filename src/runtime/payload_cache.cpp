#include "runtime/payload_cache.h"

#include "base/wire.h"

namespace atl::runtime {
namespace {

constexpr size_t kEntriesMax = 2048;
constexpr size_t kEntriesLargeMax =
    32;  // while a payload of more than kLargeBytes comes in: bounds the memory
constexpr size_t kLargeBytes = 4096;

}  // namespace

void PayloadCache::remember(const Digest& digest, const std::string& bytes) {
  if (entries_.count(digest)) return;
  const size_t entries_max = bytes.size() > kLargeBytes ? kEntriesLargeMax : kEntriesMax;
  while (order_.size() >= entries_max) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
  entries_.emplace(digest, bytes);
  order_.push_back(digest);
}

core::Payload* PayloadCache::find(const Digest& digest) {
  const auto it = entries_.find(digest);
  if (it == entries_.end()) return nullptr;
  if (const auto* bytes = std::get_if<std::string>(&it->second)) {
    auto decoded = wire::decode<core::Payload>(*bytes);
    if (!decoded) return nullptr;
    it->second = std::move(*decoded);
  }
  return &std::get<core::Payload>(it->second);
}

}  // namespace atl::runtime
