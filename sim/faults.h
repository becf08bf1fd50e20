// What goes wrong. A swarm: each seed draws which faults are on and how often, so that rare
// combinations get whole runs to themselves instead of drowning in all faults at once.
#pragma once

#include <cstdint>
#include <exception>

#include "journal/journal.h"
#include "journal/memory_journal.h"
#include "sim/rng.h"

namespace atl::sim {

// Chances are per mille of the thing named; spans are the mean between two; zero is off.
struct Faults {
  // Between sites and server.
  uint32_t report_lost = 0;
  uint32_t report_late = 0;
  Duration late_max = seconds(1);
  uint32_t report_doubled = 0;
  uint32_t order_doubled = 0;
  uint32_t answer_lost = 0;  // the client hears nothing although the command is done

  // Of a site.
  uint32_t start_error = 0;
  Duration site_crash_every;  // its work dies, its memory does not
  Duration partition_every;   // its work goes on, nobody hears of it
  Duration outage_max = minutes(5);
  Duration reshape_every;  // nodes and devices come and go

  // Of the server, at each point of a commit, and at any other moment.
  uint32_t crash_before_commit = 0;
  uint32_t crash_after_commit = 0;
  uint32_t crash_in_answers = 0;
  uint32_t crash_in_effects = 0;
  uint32_t crash_in_load = 0;
  uint32_t crash_in_trial = 0;
  Duration crash_every;
  uint32_t keep_doubtful = 500;  // whether a doubtful commit is found after a crash

  // Of its disk and clock.
  uint32_t commit_refused = 0;
  uint32_t commit_doubtful = 0;
  Duration full_every;
  Duration jump_every;
  Duration jump_max = minutes(10);
  Duration zone_every;  // the clock on the wall is in another zone
  Duration snapshot_every;

  // Of its steward: an answer that does not come until the server is another one.
  uint32_t steward_silent = 0;
};

Faults draw_faults(Rng& rng);

// The server process dies here: thrown out of Runtime, whose remains are then destroyed.
struct ServerCrash : std::exception {
  const char* what() const noexcept override { return "server crash"; }
};

// Mischief that tests use to show that a checker can fail. Never drawn by a seed.
struct Sabotage {
  bool start_twice = false;    // a site runs a doubled order again
  bool deaf_to_stop = false;   // a site reports a stop as done while the work goes on
  bool forget_commit = false;  // the journal acknowledges a commit and drops it
  bool jump_the_line = false;  // a site begins at once what is behind something that runs
  bool never_end = false;      // some work never ends by itself and cannot be stopped
};

// The journal with crashes at its points and failures drawn by chance, in front of the one that
// keeps the bytes.
class FaultyJournal : public journal::Journal {
 public:
  FaultyJournal(journal::MemoryJournal& inner, Rng rng) : inner_(inner), rng_(rng) {}

  Result<journal::Loaded> load() override;
  Result<uint64_t> commit(const journal::Batch& batch) override;
  Result<void> trial_write() override;
  Result<std::string> payload(JobId job) override { return inner_.payload(job); }
  Result<journal::Audit> audit(uint64_t sequence, size_t max) override {
    return inner_.audit(sequence, max);
  }
  Result<std::vector<journal::Committed>> read(uint64_t sequence, size_t max) override {
    return inner_.read(sequence, max);
  }

  void set_faults(const Faults& faults) { faults_ = faults; }
  void set_sabotage(const Sabotage& sabotage) { sabotage_ = sabotage; }
  uint64_t failures() const { return failures_; }

 private:
  bool forgets(const journal::Batch& batch);

  journal::MemoryJournal& inner_;
  Rng rng_;
  Faults faults_;
  Sabotage sabotage_;
  uint64_t failures_ = 0;
};

}  // namespace atl::sim
