// Ctrl-C, and other signals on request, for verbs that wait: taken by a thread of its own, so that
// it works whatever the main thread is blocked in.
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace atl::cli {

class Interrupts {
 public:
  // Returned in place of an exit code: the verb goes on.
  static constexpr int kGoOn = -1;

  // `on_interrupt` runs on the watching thread; it may ask again() for a second Ctrl-C, and what it
  // returns becomes the exit code of the process. `others` are taken as Ctrl-C is, except those
  // that are ignored, as SIGHUP is under nohup.
  explicit Interrupts(std::function<int(Interrupts&)> on_interrupt,
                      const std::vector<int>& others = {});
  ~Interrupts();  // the signals do again what they usually do
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Whether another Ctrl-C comes within that time.
  bool again(std::chrono::milliseconds within);

  // For on_interrupt: the signal that came, and what it does to a program that does not take it.
  int signal() const { return signal_; }
  void do_as_usual() const;

  // Set as soon as the first one came: nothing more should be written.
  bool seen() const { return seen_; }

 private:
  void watch();

  std::function<int(Interrupts&)> on_interrupt_;
  sigset_t signals_;
  int signal_ = 0;  // of the watching thread
  std::atomic<bool> seen_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace atl::cli
