#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <iostream>

namespace atl::cli {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);  // how late the destructor may be

bool is_ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t set_of(const std::vector<int>& others) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  for (const int signal : others) {
    if (!is_ignored(signal)) sigaddset(&set, signal);
  }
  return set;
}

// The signal that came; negative when none did.
int signal_within(const sigset_t& set, std::chrono::milliseconds time) {
  const timespec limit{.tv_sec = time.count() / 1000, .tv_nsec = (time.count() % 1000) * 1'000'000};
  return ::sigtimedwait(&set, nullptr, &limit);
}

}  // namespace

Interrupts::Interrupts(std::function<int(Interrupts&)> on_interrupt, const std::vector<int>& others)
    : on_interrupt_(std::move(on_interrupt)), signals_(set_of(others)) {
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
  done_ = true;
  thread_.join();
  ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

bool Interrupts::again(std::chrono::milliseconds within) {
  return signal_within(set_of({}), within) == SIGINT;
}

void Interrupts::do_as_usual() const {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal_);
  ::pthread_kill(::pthread_self(), signal_);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

void Interrupts::watch() {
  while (!done_) {
    const int signal = signal_within(signals_, kPoll);
    if (signal < 0) continue;
    signal_ = signal;
    seen_ = true;
    const int code = on_interrupt_(*this);
    if (code == kGoOn) {
      seen_ = false;
      continue;
    }
    // The main thread may be blocked for long; there is nothing left for it to do.
    std::cout.flush();
    ::_exit(code);
  }
}

}  // namespace atl::cli
