#include "cli/screen.h"

#include <unistd.h>

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
  const Interrupts interrupts([live](Interrupts&) {
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
    std::this_thread::sleep_for(interval);
  }
}

}  // namespace atl::cli
