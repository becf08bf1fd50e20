#include "cli/console.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cli/display.h"
#include "cli/exit.h"

namespace atl::cli {
namespace {

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      // Nobody reads, or the disk is full: there is no use in following further.
      ::_exit(kExitFailure);
    }
  }
}

}  // namespace

void Console::write(int fd, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (silent_) return;
  status_.clear();
  had_output_ = true;
  write_all(fd, bytes);
  const bool seen = fd != STDOUT_FILENO || out_is_terminal_;
  if (seen && !bytes.empty()) in_line_ = bytes.back() != '\n';
  if (!bar_.empty() && !in_line_) status_.show(bar_);
}

void Console::bar(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (silent_) return;
  if (line.empty() && !bar_.empty()) status_.clear();
  bar_ = line;
  if (!bar_.empty() && !in_line_) status_.show(bar_);
}

void Console::status(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (!silent_ && !had_output_) line.empty() ? status_.clear() : status_.show(line);
}

void Console::note(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (silent_) return;
  status_.clear();
  write_all(STDERR_FILENO, printable(line, true) + "\n");
}

void Console::silence() {
  const std::lock_guard lock(mutex_);
  status_.clear();
  silent_ = true;
}

}  // namespace atl::cli
