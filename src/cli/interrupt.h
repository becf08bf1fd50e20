// Ctrl-C for verbs that wait: taken by a thread of its own, so that it works whatever the main
// thread is blocked in.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace atl::cli {

class Interrupts {
 public:
  // `on_interrupt` runs on the watching thread; it may ask again() for a second Ctrl-C, and what it
  // returns becomes the exit code of the process.
  explicit Interrupts(std::function<int(Interrupts&)> on_interrupt);
  ~Interrupts();  // Ctrl-C ends the process as usual again
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Whether another Ctrl-C comes within that time.
  bool again(std::chrono::milliseconds within);

  // Set as soon as the first one came: nothing more should be written.
  bool seen() const { return seen_; }

 private:
  void watch();

  std::function<int(Interrupts&)> on_interrupt_;
  std::atomic<bool> seen_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace atl::cli
