// What kind of terminal, if any, is at the other end, and what may therefore be written to it.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace atl::cli {

enum class ColorChoice { automatic, always, never };

// Looks up an environment variable; null when unset. Tests hand in their own.
using Environment = std::function<const char*(const char* name)>;

struct Terminal {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool in_is_terminal = false;
  bool color = false;      // on standard output
  bool color_err = false;  // on standard error
  bool live = false;       // lines on standard error may be redrawn: no dumb terminal, no CI
  int width = 0;           // columns of standard output; 0 when it is not a terminal
};

// NO_COLOR and TERM=dumb switch colour off, CLICOLOR_FORCE and FORCE_COLOR on; a flag overrules
// both.
bool wants_color(ColorChoice choice, bool is_terminal, const Environment& environment);

Terminal detect_terminal(ColorChoice choice, const Environment& environment);

int terminal_width();   // now, of standard output; 80 when unknown
int terminal_height();  // 24 when unknown

// A line on standard error that is redrawn in place, and nothing at all where that is not possible.
class StatusLine {
 public:
  explicit StatusLine(const Terminal& terminal) : on_(terminal.live) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text);  // plain text, cut to the width
  void clear();

 private:
  bool on_;
  bool shown_ = false;
  std::string last_;
};

// For a call that blocks: a status line with the seconds that it has taken, once it takes long.
class SlowLine {
 public:
  SlowLine(const Terminal& terminal, std::string what);

 private:
  StatusLine status_;    // destroyed after the thread has ended, so that nothing is left of it
  std::jthread ticker_;  // the only user of status_ while it runs
};

}  // namespace atl::cli
