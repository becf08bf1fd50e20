// Workers that wait for an item: a lease that found nothing is asked for again when something has
// come, or answered with nothing when its time is over. All of it on the runtime's thread, but for
// stop().
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "core/event.h"
#include "core/state.h"

namespace atl::api {

struct Context;

class LeaseWaiters {
 public:
  explicit LeaseWaiters(Context& context) : context_(context) {}

  struct Waiter {
    Time until;
    std::function<void()> again;  // ask once more
    std::function<void()> over;   // answer with nothing
    bool until_dry = false;       // also when nothing is left to wait for
  };
  // False when too many wait already or the server stops; the waiter is then dropped.
  bool add(QueueId queue, Waiter waiter);

  // Wakes as many as there are items for, and all when the queue is finished or gone.
  void on_commit(const core::State& state, const core::Events& events);
  // Ends those whose time is over. A turn comes at least once a second.
  void on_turn();
  void stop();

 private:
  void wake(const core::State& state, QueueId queue);

  Context& context_;
  std::mutex mutex_;  // stop() comes from another thread
  std::map<QueueId, std::deque<Waiter>> waiting_;
  size_t count_ = 0;
  bool stopped_ = false;
};

}  // namespace atl::api
