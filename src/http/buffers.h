// What a session has read and not parsed, and what it has to send. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/limits.h"

namespace atl::http {

// Bytes read and not yet parsed, in one piece. It does not move while a read into it is under way.
class ReadBuffer {
 public:
  std::string_view data() const { return {storage_.data() + begin_, end_ - begin_}; }
  void consume_to(std::string_view rest) { begin_ = end_ - rest.size(); }
  void commit(std::size_t bytes) { end_ += bytes; }

  // Makes room for reading; empty when `max` bytes wait already.
  std::span<char> prepare(std::size_t wanted, std::size_t max);

 private:
  std::vector<char> storage_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Bytes to send: heads and small bodies gathered in one string, and at most one large body behind
// it.
class WriteBuffer {
 public:
  std::string& gather() { return head_; }
  void set_body(std::string body) { body_ = std::move(body); }

  bool empty() const { return sent_ == head_.size() + body_.size(); }
  bool full() const { return !body_.empty() || head_.size() > kOutputGatherMax; }
  std::string_view head() const {
    return std::string_view(head_).substr(std::min(sent_, head_.size()));
  }
  std::string_view body() const;
  void sent(std::size_t bytes) { sent_ += bytes; }
  void clear();

 private:
  std::string head_;
  std::string body_;
  std::size_t sent_ = 0;
};

}  // namespace atl::http
