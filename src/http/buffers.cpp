#include "http/buffers.h"

namespace atl::http {

std::span<char> ReadBuffer::prepare(std::size_t wanted, std::size_t max) {
  const std::size_t held = end_ - begin_;
  if (held >= max) return {};
  if (held == 0) begin_ = end_ = 0;
  const bool oversized = held == 0 && storage_.size() > 4 * wanted;
  if (oversized || storage_.size() - end_ < wanted / 2) {
    std::vector<char> fresh(held + wanted);
    std::copy_n(storage_.data() + begin_, held, fresh.data());
    storage_ = std::move(fresh);
    begin_ = 0;
    end_ = held;
  }
  return std::span(storage_).subspan(end_);
}

std::string_view WriteBuffer::body() const {
  const std::size_t from = sent_ > head_.size() ? sent_ - head_.size() : 0;
  return std::string_view(body_).substr(from);
}

void WriteBuffer::clear() {
  if (head_.capacity() > 4 * kOutputGatherMax) head_ = {};
  head_.clear();
  body_ = {};
  sent_ = 0;
}

}  // namespace atl::http
