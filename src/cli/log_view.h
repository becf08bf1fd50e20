// Output on its way to the console: streams of one task as they are, or those of an array's tasks
// with each line behind the name of its task.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/console.h"
#include "cli/log_stream.h"

namespace atl::cli {

// One stream of one task, and where it goes.
struct LogView {
  LogWish wish;
  int fd = 1;                  // of ours
  std::int64_t tail = -1;      // begins with that many lines, unless it is negative
  bool tell_attempts = false;  // a note when output of another attempt follows
  std::string prefix;          // before each line; empty: bytes go as they come
};

// What is there now.
[[nodiscard]] Result<void> print_log(Api& api, Console& console, const LogView& view);

// All streams of a task at once, each over a connection of its own, until the task has ended: how
// it ended. A stream that fails ends the others at the next sign of the server, as `stop` does.
[[nodiscard]] Result<Json> follow_task(const Target& target, Console& console,
                                       const std::vector<LogView>& views,
                                       const std::function<bool()>& stop = {});

// The streams of a task of an array that are to be seen.
using TaskViews = std::function<std::vector<LogView>(const std::string& task)>;

inline constexpr std::size_t kTasksShown = 100;   // more than anybody reads; a note names the rest
inline constexpr std::size_t kTasksAtOnce = 16;   // two of the server's streams each
inline constexpr std::size_t kLineMax = 1 << 16;  // held back until it ends; a longer one is broken

// "12[7] | ", which is faint where colours are wanted.
std::string task_prefix(const std::string& task, bool color);

// The tasks with the lowest indices, one after the other; those that have not started are left out.
[[nodiscard]] Result<void> print_array(Api& api, Console& console, const Json& job,
                                       const TaskViews& views);

// The same tasks, some at a time in order of their index, until the whole array has ended: the job.
// What one of them fails with is told at once, and the others are not followed further.
[[nodiscard]] Result<Json> follow_array(Api& api, Console& console, const std::string& id,
                                        const TaskViews& views);

// Gives out whole lines, each with a prefix, so that those of several writers do not mix.
class PrefixedLines {
 public:
  using Write = std::function<void(std::string_view)>;
  PrefixedLines(std::string prefix, Write write)
      : prefix_(std::move(prefix)), write_(std::move(write)) {}

  void add(std::string_view bytes);
  void end();  // what is left of a line becomes one

 private:
  std::string prefix_;
  Write write_;
  std::string rest_;  // of a line that has not ended
};

}  // namespace atl::cli
