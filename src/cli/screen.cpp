#include "cli/screen.h"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <ostream>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/interrupt.h"

namespace atl::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // another page, without cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr auto kKeysInterval = std::chrono::milliseconds(200);  // whether they are ours may change

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Whether we may change that terminal and read from it: one that does so in the background is
// stopped. One that is not ours has no background.
bool in_foreground(int terminal) {
  const pid_t group = ::tcgetpgrp(terminal);
  return group < 0 || group == ::getpgrp();
}

// A page of the terminal, and keys as they are pressed, without echo; Ctrl-C stays a signal. Drawn
// by one thread, given back by any: what is drawn after that is lost.
class Page {
 public:
  explicit Page(bool with_keys) : with_keys_(with_keys) {}
  ~Page() { give_back(); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  // Takes the terminal if we do not have it; nothing is shown from the background.
  void draw(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (closed_ || !in_foreground(STDOUT_FILENO)) return;
    take();
    write_out("\x1b[H" + fit_page(text, terminal_height()) + "\x1b[J");
  }

  // Until the next page is drawn.
  void give_back() {
    const std::lock_guard lock(mutex_);
    release();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    release();
    closed_ = true;
  }

  // Waits that long; whether q was pressed meanwhile.
  bool quit_within(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    for (auto left = time; left.count() > 0;) {
      const auto nap = std::min<std::chrono::milliseconds>(left, kKeysInterval);
      pollfd input{.fd = has_keys() ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
      if (::poll(&input, 1, static_cast<int>(nap.count())) > 0) {
        const char key = read_key();
        if (key == 'q' || key == 'Q') return true;
        if (key == 0) std::this_thread::sleep_for(nap);
      }
      left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    }
    return false;
  }

 private:
  void take() {
    if (!std::exchange(shown_, true)) write_out(kEnter);
    if (keys_ || !with_keys_ || !in_foreground(STDIN_FILENO)) return;
    keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  void release() {
    if (std::exchange(keys_, false) && in_foreground(STDIN_FILENO))
      ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    if (std::exchange(shown_, false)) write_out(kLeave);
  }
  bool has_keys() {
    const std::lock_guard lock(mutex_);
    return keys_;
  }
  // Zero when there is none: the signal's thread must not wait for a key.
  char read_key() {
    const std::lock_guard lock(mutex_);
    char key = 0;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (!keys_ || ::poll(&input, 1, 0) <= 0 || !in_foreground(STDIN_FILENO) ||
        ::read(STDIN_FILENO, &key, 1) != 1)
      return 0;
    return key;
  }

  const bool with_keys_;
  std::mutex mutex_;
  bool shown_ = false;
  bool keys_ = false;  // they come as they are pressed
  bool closed_ = false;
  termios before_{};
};

// What a signal does to a page; the exit code, unless it goes on.
int leave(Interrupts& signals, Page& page) {
  if (signals.signal() == SIGTSTP) {  // Ctrl-Z
    page.give_back();
    signals.do_as_usual();
    return Interrupts::kGoOn;
  }
  page.close();
  return signals.signal() == SIGINT ? kExitOk : kExitSignal + signals.signal();
}

Result<int> redraw(Session& session, std::chrono::milliseconds interval,
                   const std::function<Result<std::string>()>& make) {
  Page page(session.terminal.in_is_terminal);
  const Interrupts interrupts([&page](Interrupts& signals) { return leave(signals, page); },
                              {SIGTERM, SIGHUP, SIGQUIT, SIGTSTP});
  do {
    const auto made = make();
    page.draw(made ? *made : "atoll: " + printable(made.error().message) + "\n");
  } while (!page.quit_within(interval));
  page.close();
  return kExitOk;
}

}  // namespace

std::string fit_page(const std::string& text, int rows) {
  std::string page;
  int line = 0;
  for (std::size_t at = 0; at < text.size() && line < rows; ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    // No line end after the last row, which would scroll the page.
    page += (line > 0 ? "\r\n" : "") + text.substr(at, end - at) + "\x1b[K";
    at = end + 1;
  }
  return page;
}

Result<int> watch(Session& session, std::chrono::milliseconds interval,
                  const std::function<Result<std::string>()>& make) {
  if (session.terminal.out_is_terminal && session.for_people())
    return redraw(session, interval, make);
  const Interrupts interrupts([](Interrupts&) { return kExitOk; });
  while (true) {
    const auto made = make();
    if (!made) return tl::unexpected(made.error());
    if (!interrupts.seen()) session.out << *made << std::flush;
    std::this_thread::sleep_for(interval);
  }
}

}  // namespace atl::cli
