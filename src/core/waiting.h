// The jobs that are ready: by tier, namespace, user and shape.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "base/flat.h"
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
 public:
  class const_iterator {
   public:
    const Waiting& operator*() const { return at_first_ ? queue_->first_ : *at_; }
    const_iterator& operator++() {
      if (!std::exchange(at_first_, false)) ++at_;
      return *this;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    friend Queue;
    const Queue* queue_ = nullptr;
    bool at_first_ = false;
    std::set<Waiting>::const_iterator at_;
  };

  bool empty() const { return !first_.job; }
  const Waiting& first() const { return first_; }
  const_iterator begin() const { return iterator(!empty(), others_.begin()); }
  const_iterator end() const { return iterator(false, others_.end()); }

  void insert(Waiting one) {
    if (empty() || one < first_) std::swap(one, first_);
    if (one.job && one != first_) others_.insert(one);
  }
  void erase(const Waiting& one) {
    if (one != first_) {
      others_.erase(one);
    } else if (others_.empty()) {
      first_ = {};
    } else {
      first_ = *others_.begin();
      others_.erase(others_.begin());
    }
  }
  bool operator==(const Queue&) const = default;

 private:
  const_iterator iterator(bool at_first, std::set<Waiting>::const_iterator at) const {
    const_iterator it;
    it.queue_ = this;
    it.at_first_ = at_first;
    it.at_ = at;
    return it;
  }

  Waiting first_;  // no job: the queue is empty
  std::set<Waiting> others_;
};

// Whether there is room is asked once for each shape.
using Queues = FlatMap<ShapeId, Queue>;
using Backlog = std::map<Tier, std::map<NamespaceId, std::map<UserId, Queues>>>;

}  // namespace atl::core
