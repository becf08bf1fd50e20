// A few threads for work that blocks or takes long: history queries, log files, rendering.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace atl::runtime {

class Pool {
 public:
  // Without threads, post() runs the work itself: what tests want.
  Pool(size_t threads, size_t queue_max);
  ~Pool();  // stop()

  // False when the queue is full or the pool has stopped; the work is then dropped.
  [[nodiscard]] bool post(std::function<void()> work);

  // Drops what has not begun and waits for what has.
  void stop();

 private:
  void run();

  const size_t queue_max_;
  const bool inline_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace atl::runtime
