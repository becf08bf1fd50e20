// One worker of `queue work`: leases an item, runs the command with it, tells the server how it
// went, and begins again until the queue is dry. Each worker is a thread with connections of its
// own.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/api.h"
#include "cli/json.h"

namespace atl::cli {

struct WorkOrder {
  Target target;
  std::string path;  // of the queue
  std::vector<std::string> command;
  std::string visibility;   // of each lease; empty: the queue's
  Duration lease_holds;     // what that comes to
  std::string retry_delay;  // before an item that failed is tried again
  std::int64_t attempts = 0;
  bool follow = false;  // a dry queue that is not closed is waited for
};

// Shared by the workers of one command.
struct WorkTally {
  std::atomic<bool> stop{false};  // nobody leases any more
  std::atomic<std::int64_t> done{0};
  std::atomic<std::int64_t> given_back{0};
  std::atomic<std::int64_t> dead{0};
  std::atomic<std::int64_t> lost{0};  // the lease ran out before the command ended
  std::atomic<std::int64_t> left{0};  // in the queue, as the last lease said
};

// Returns when the queue is dry, `tally.stop` is set, or with the error that made it give up.
[[nodiscard]] Result<void> work(const WorkOrder& order, WorkTally& tally);

// Runs the command with the bytes as its standard input and in ATOLL_ITEM; the exit code, or 128
// and the signal. `child` is its process while it runs, which leads a group of its own.
[[nodiscard]] Result<int> run_item(const std::vector<std::string>& command, const Json& item,
                                   std::atomic<int>& child);

}  // namespace atl::cli
