// One thread for blocking chores that nobody waits for.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace atl::bin {

class Background {
 public:
  Background() : thread_([this] { run(); }) {}
  ~Background() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  // What is still queued when the object ends is dropped.
  void post(std::function<void()> chore) {
    std::lock_guard lock(mutex_);
    chores_.push_back(std::move(chore));
    wake_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || !chores_.empty(); });
      if (stopping_) return;
      const std::function<void()> chore = std::move(chores_.front());
      chores_.pop_front();
      lock.unlock();
      chore();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> chores_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace atl::bin
