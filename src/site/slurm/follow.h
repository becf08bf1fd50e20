// What follows for an attempt from what Slurm says of its job and what its run directory holds.
// Pure: the driver asks after every poll, and does what comes back.
//
// The run directory is written by the wrapper on the node, so it is the better witness of how a
// task ended; Slurm is the better witness of why a signal came, and the only one when the wrapper
// was killed or never ran.
#pragma once

#include <optional>

#include "core/types.h"
#include "site/slurm/job_record.h"

namespace atl::site {

// What the run directory holds.
struct RunSeen {
  bool begun = false;
  Time started;
  std::optional<core::AttemptResult> result;
};

// What the driver remembers of an attempt from poll to poll.
struct Followed {
  bool told_start = false;
  bool begun = false;  // its run directory said so, at an earlier poll
  bool stop_asked = false;
  Duration signal_before;  // the time limit, at which Slurm warns
  Time limit;              // when Slurm would end it, as it said while it ran
  Time over_since;         // Slurm says that it is over, and no result has come
  Time missing_since;      // Slurm does not show it
  Time hopeless_since;     // Slurm says that it will never start; a controller just begun errs
};

// What one poll brought.
struct Sighting {
  const JobRecord* record = nullptr;  // of the queue, else of accounting
  RunSeen run;
  Time now;
};

struct Consequence {
  std::optional<Time> started;  // tell it
  std::optional<core::AttemptResult> ended;
  bool cancel = false;          // its job must not stay in Slurm
  bool ask_accounting = false;  // the queue has lost it
};

Consequence follow(Followed& followed, const Sighting& sighting);

}  // namespace atl::site
