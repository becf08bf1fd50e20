#include "cli/screen.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <ostream>
#include <string_view>
#include <thread>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/interrupt.h"

namespace atl::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // another page, without cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Keys as they are pressed, without echo, where a person is at the other end; Ctrl-C stays a
// signal.
class Keys {
 public:
  explicit Keys(bool wanted) : on_(wanted && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    if (on_) ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  ~Keys() { restore(); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // From the thread of Ctrl-C too.
  void restore() {
    if (on_.exchange(false)) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  // Waits that long; whether q was pressed meanwhile.
  bool quit_within(std::chrono::milliseconds time) const {
    if (!on_) {
      std::this_thread::sleep_for(time);
      return false;
    }
    const auto end = std::chrono::steady_clock::now() + time;
    for (auto left = time; left.count() > 0;) {
      pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      char key = 0;
      if (::poll(&input, 1, static_cast<int>(left.count())) > 0) {
        if (::read(STDIN_FILENO, &key, 1) != 1) std::this_thread::sleep_for(left);
        if (key == 'q' || key == 'Q') return true;
      }
      left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    }
    return false;
  }

 private:
  termios before_{};
  std::atomic<bool> on_;
};

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
  const bool live = session.terminal.out_is_terminal && session.for_people();
  if (live) write_out(kEnter);
  Keys keys(live && session.terminal.in_is_terminal);
  const Interrupts interrupts([live, &keys](Interrupts&) {
    keys.restore();
    if (live) write_out(kLeave);
    return kExitOk;
  });
  while (true) {
    const auto made = make();
    if (interrupts.seen()) continue;
    const std::string text = made ? *made : "atoll: " + printable(made.error().message) + "\n";
    if (live) {
      write_out("\x1b[H" + fit_page(text, terminal_height()) + "\x1b[J");
    } else if (made) {
      session.out << text << std::flush;
    } else {
      return tl::unexpected(made.error());
    }
    if (keys.quit_within(interval) && !interrupts.seen()) {
      write_out(kLeave);
      return kExitOk;
    }
  }
}

}  // namespace atl::cli
