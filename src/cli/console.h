// Where the output of a followed job goes: its streams to ours, byte for byte, with a status line
// in between that never mixes with them. Safe from several threads.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "cli/terminal.h"

namespace atl::cli {

class Console {
 public:
  explicit Console(const Terminal& terminal)
      : status_(terminal), out_is_terminal_(terminal.out_is_terminal) {}

  void write(int fd, std::string_view bytes);  // raw by intent: it is the job's own output
  void status(const std::string& line);        // not shown any more once there was output
  // A last line below the output, in whose place it stays; empty: none. It is not shown while the
  // output stands in the middle of a line.
  void bar(const std::string& line);
  void note(const std::string& line);  // a line of ours on standard error
  void silence();                      // from now on nothing is written
  bool silent() const { return silent_; }

 private:
  std::mutex mutex_;
  StatusLine status_;
  const bool out_is_terminal_;
  std::string bar_;
  bool in_line_ = false;  // what the terminal shows last has no end of line
  bool had_output_ = false;
  std::atomic<bool> silent_{false};
};

}  // namespace atl::cli
