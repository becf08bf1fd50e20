#include "api/lease_waiters.h"

#include <algorithm>
#include <set>

#include "api/context.h"
#include "base/overloaded.h"

namespace atl::api {
namespace {

constexpr size_t kWaitersMax = 10'000;  // more than connections; each holds one

// The queue that an event is about; zero when it is about none.
QueueId queue_of(const core::EventBody& body) {
  return std::visit(overloaded{[](const core::QueueSet& e) { return e.id; },
                               [](const core::QueueDeleted& e) { return e.id; },
                               [](const auto& e) {
                                 if constexpr (requires { QueueId{e.queue}; })
                                   return e.queue;
                                 else
                                   return QueueId{};
                               }},
                    body);
}

}  // namespace

bool LeaseWaiters::add(QueueId queue, Waiter waiter) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || count_ >= kWaitersMax) return false;
  waiting_[queue].push_back(std::move(waiter));
  ++count_;
  return true;
}

void LeaseWaiters::on_commit(const core::State& state, const core::Events& events) {
  std::set<QueueId> touched;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    for (const core::Event& event : events) {
      if (const QueueId queue = queue_of(event.body); waiting_.count(queue)) touched.insert(queue);
    }
  }
  for (const QueueId queue : touched) wake(state, queue);
}

// Outside the lock, because who asks again may come back here.
void LeaseWaiters::wake(const core::State& state, QueueId id) {
  std::vector<Waiter> woken;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    std::deque<Waiter>& line = found->second;
    const auto queue = state.queues.find(id);
    const bool gone = queue == state.queues.end();
    const bool dry = gone || queue->second.left() == 0;
    const bool all = gone || (dry && queue->second.closed);
    const uint64_t some = gone ? 0 : queue->second.ready;
    for (auto at = line.begin(); at != line.end();) {
      if (!all && woken.size() >= some && !(dry && at->until_dry)) {
        ++at;
        continue;
      }
      woken.push_back(std::move(*at));
      at = line.erase(at);
    }
    count_ -= woken.size();
    if (line.empty()) waiting_.erase(found);
  }
  for (const Waiter& waiter : woken) waiter.again();
}

void LeaseWaiters::on_turn() {
  std::vector<Waiter> over;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    const Time now = context_.options.now();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      std::deque<Waiter>& line = at->second;
      for (auto each = line.begin(); each != line.end();) {
        if (each->until > now) {
          ++each;
          continue;
        }
        over.push_back(std::move(*each));
        each = line.erase(each);
      }
      at = line.empty() ? waiting_.erase(at) : std::next(at);
    }
    count_ -= over.size();
  }
  for (const Waiter& waiter : over) waiter.over();
}

void LeaseWaiters::stop() {
  std::map<QueueId, std::deque<Waiter>> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    all.swap(waiting_);
    count_ = 0;
  }
  for (const auto& [queue, line] : all) {
    for (const Waiter& waiter : line) waiter.over();
  }
}

}  // namespace atl::api
