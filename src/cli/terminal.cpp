#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "cli/display.h"

namespace atl::cli {
namespace {

constexpr std::chrono::seconds kSlow{2};  // what a person waits without asking why

bool is_set(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value && *value && std::string_view(value) != "0";
}

bool is_dumb(const Environment& environment) {
  const char* term = environment("TERM");
  return term && std::string_view(term) == "dumb";
}

winsize window(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) size = {};
  return size;
}

int columns_of(int fd) {
  if (const int columns = window(fd).ws_col; columns > 0) return columns;
  const char* variable = std::getenv("COLUMNS");
  const int columns = variable ? std::atoi(variable) : 0;
  return columns > 0 ? columns : 80;
}

void write_err(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

bool wants_color(ColorChoice choice, bool is_terminal, const Environment& environment) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  // The no-color.org rule: any value that is not empty.
  if (const char* no_color = environment("NO_COLOR"); no_color && *no_color) return false;
  if (is_set(environment, "CLICOLOR_FORCE") || is_set(environment, "FORCE_COLOR")) return true;
  return is_terminal && !is_dumb(environment);
}

Terminal detect_terminal(ColorChoice choice, const Environment& environment) {
  Terminal terminal;
  terminal.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  terminal.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  terminal.in_is_terminal = ::isatty(STDIN_FILENO) == 1;
  terminal.color = wants_color(choice, terminal.out_is_terminal, environment);
  terminal.color_err = wants_color(choice, terminal.err_is_terminal, environment);
  terminal.live = terminal.err_is_terminal && !is_dumb(environment) && !is_set(environment, "CI");
  terminal.width = terminal.out_is_terminal ? columns_of(STDOUT_FILENO) : 0;
  return terminal;
}

int terminal_width() { return columns_of(STDOUT_FILENO); }

int terminal_height() {
  const int rows = window(STDOUT_FILENO).ws_row;
  return rows > 0 ? rows : 24;
}

void StatusLine::show(const std::string& text) {
  if (!on_ || text == last_) return;
  last_ = text;
  shown_ = true;
  write_err("\r" + cut(printable(text), columns_of(STDERR_FILENO) - 1) + "\x1b[K");
}

void StatusLine::clear() {
  if (shown_) write_err("\r\x1b[K");
  shown_ = false;
  last_.clear();
}

SlowLine::SlowLine(const Terminal& terminal, std::string what) : status_(terminal) {
  if (!terminal.live) return;
  ticker_ = std::jthread([this, what = std::move(what)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    for (auto seconds = kSlow;; ++seconds) {
      const auto pause = seconds == kSlow ? kSlow : std::chrono::seconds(1);
      if (ended.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) return;
      status_.show(what + " … " + std::to_string(seconds.count()) + " s");
    }
  });
}

}  // namespace atl::cli
