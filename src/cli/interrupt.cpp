#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <iostream>

namespace atl::cli {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);  // how late the destructor may be

sigset_t interrupt_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

bool interrupted_within(std::chrono::milliseconds time) {
  const sigset_t set = interrupt_set();
  const timespec limit{.tv_sec = time.count() / 1000, .tv_nsec = (time.count() % 1000) * 1'000'000};
  return ::sigtimedwait(&set, nullptr, &limit) == SIGINT;
}

}  // namespace

Interrupts::Interrupts(std::function<int(Interrupts&)> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)) {
  const sigset_t set = interrupt_set();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
  done_ = true;
  thread_.join();
  const sigset_t set = interrupt_set();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool Interrupts::again(std::chrono::milliseconds within) { return interrupted_within(within); }

void Interrupts::watch() {
  while (!done_) {
    if (!interrupted_within(kPoll)) continue;
    seen_ = true;
    const int code = on_interrupt_(*this);
    // The main thread may be blocked for long; there is nothing left for it to do.
    std::cout.flush();
    ::_exit(code);
  }
}

}  // namespace atl::cli
