// What one body takes of the memory that all of them together may take. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace atl::http {

using BodyBytes = std::shared_ptr<std::atomic<std::uint64_t>>;

class BodyHold {
 public:
  BodyHold() = default;
  explicit BodyHold(BodyBytes all) : all_(std::move(all)) {}
  BodyHold(BodyHold&& other) noexcept
      : all_(std::move(other.all_)), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyHold& operator=(BodyHold&& other) noexcept {
    std::swap(all_, other.all_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BodyHold() {
    if (all_) all_->fetch_sub(bytes_, std::memory_order_relaxed);
  }

  // The body has grown to this; gives back what all of them hold.
  std::uint64_t grow(std::uint64_t bytes) {
    const std::uint64_t more = bytes - std::exchange(bytes_, bytes);
    return all_->fetch_add(more, std::memory_order_relaxed) + more;
  }

 private:
  BodyBytes all_;
  std::uint64_t bytes_ = 0;
};

}  // namespace atl::http
