// Waiting for jobs to end: by looking again and again, with patience for a server that restarts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/api.h"
#include "cli/terminal.h"

namespace atl::cli {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

// How long a server may be away before a verb that waits gives up.
inline constexpr std::chrono::minutes kServerAwayMax{5};

// An end that one thread tells and others nap towards: it wakes them at once.
class Ending {
 public:
  void tell();
  bool told() const;
  // Sleeps that long, or until the end: whether it has come.
  bool within(std::chrono::milliseconds time);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool told_ = false;
};

struct Pace {
  std::chrono::milliseconds first{20};
  std::chrono::milliseconds last{500};
  Ending* ending = nullptr;  // ends the waiting as the deadline does, also in the middle of a nap
};

// The job once it has ended; nothing at the deadline. `look` sees it each time before, and may end
// the waiting by returning false.
[[nodiscard]] Result<std::optional<Json>> wait_for_end(Api& api, const std::string& id,
                                                       const Deadline& deadline,
                                                       const std::function<bool(const Json&)>& look,
                                                       const Pace& pace = {});

// Done, running, waiting and failed of an array, with rate and time left, in one line.
class ArrayProgress {
 public:
  std::string line(const Json& job, std::chrono::steady_clock::time_point now);

 private:
  std::optional<std::chrono::steady_clock::time_point> begun_;
  std::int64_t done_at_start_ = 0;
};

// What a status line says of a job that has not ended: progress of an array, or why it waits.
std::string status_of(const Json& job, ArrayProgress& progress);

}  // namespace atl::cli
