// The jobs that are ready: by tier, namespace, user and shape.
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/flat.h"
#include "base/id_map.h"
#include "core/types.h"

namespace atl::core {

// A ready job's place among those of its user: by when it came, as if earlier by its priority, so
// that a high priority is served first and a low one is not passed for ever.
struct Waiting {
  bool fresh = true;  // false: it had to yield, and comes before the others
  Time arrival;
  JobId job;
  auto operator<=>(const Waiting&) const = default;
};

// The first one has a place of its own: each round looks at it, and rarely at the others.
class Queue {
  using Others = std::set<Waiting>;

 public:
  Queue() = default;
  Queue(const Queue& other)
      : first_(other.first_),
        others_(other.others_ ? std::make_unique<Others>(*other.others_) : nullptr) {}
  Queue(Queue&&) noexcept = default;
  Queue& operator=(Queue other) noexcept {
    first_ = other.first_;
    others_ = std::move(other.others_);
    return *this;
  }

  class const_iterator {
   public:
    const Waiting& operator*() const { return at_first_ ? queue_->first_ : *at_; }
    const_iterator& operator++() {
      at_ = std::exchange(at_first_, false) ? queue_->others().begin() : std::next(at_);
      return *this;
    }
    bool done() const { return *this == queue_->end(); }
    bool operator==(const const_iterator&) const = default;

   private:
    friend Queue;
    const Queue* queue_ = nullptr;
    bool at_first_ = false;
    Others::const_iterator at_{};  // of the others
  };

  bool empty() const { return !first_.job; }
  const Waiting& first() const { return first_; }
  const_iterator begin() const { return empty() ? end() : iterator(true, {}); }
  const_iterator end() const { return iterator(false, others().end()); }

  void insert(Waiting one) {
    if (empty() || one < first_) std::swap(one, first_);
    if (!one.job || one == first_) return;
    if (!others_) others_ = std::make_unique<Others>();
    others_->insert(one);
  }
  void erase(const Waiting& one) {
    if (one != first_) {
      if (others_) others_->erase(one);
    } else {
      first_ = others_ ? *others_->begin() : Waiting{};
      if (others_) others_->erase(others_->begin());
    }
    if (others_ && others_->empty()) others_.reset();
  }
  friend bool operator==(const Queue& a, const Queue& b) {
    return a.first_ == b.first_ && a.others() == b.others();
  }

 private:
  const Others& others() const {
    static const Others kNone;
    return others_ ? *others_ : kNone;
  }
  const_iterator iterator(bool at_first, Others::const_iterator at) const {
    const_iterator it;
    it.queue_ = this;
    it.at_first_ = at_first;
    it.at_ = at;
    return it;
  }

  Waiting first_;                   // no job: the queue is empty
  std::unique_ptr<Others> others_;  // null: none
};

// Whether there is room is asked once for each shape.
using Queues = FlatMap<ShapeId, Queue>;
using Backlog = std::map<Tier, IdMap<NamespaceId, std::map<UserId, Queues>>>;

}  // namespace atl::core
