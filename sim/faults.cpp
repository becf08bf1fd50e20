#include "sim/faults.h"

#include <algorithm>

namespace atl::sim {
namespace {

uint32_t maybe(Rng& rng, uint32_t most) {
  const auto drawn = static_cast<uint32_t>(rng.between(1, most));
  return rng.chance(400) ? drawn : 0;
}

Duration maybe(Rng& rng, Duration least, Duration most) {
  const Duration drawn = rng.between(least, most);
  return rng.chance(400) ? drawn : Duration{};
}

void draw_messages(Rng& rng, Faults& faults) {
  faults.report_lost = maybe(rng, 400);
  faults.report_late = maybe(rng, 500);
  faults.late_max = rng.between(milliseconds(100), minutes(3));
  faults.report_doubled = maybe(rng, 400);
  faults.order_doubled = maybe(rng, 400);
  faults.answer_lost = maybe(rng, 300);
}

void draw_sites(Rng& rng, Faults& faults) {
  faults.start_error = maybe(rng, 150);
  faults.site_crash_every = maybe(rng, minutes(3), minutes(30));
  faults.partition_every = maybe(rng, minutes(2), minutes(30));
  faults.outage_max = rng.between(seconds(2), minutes(10));
  faults.reshape_every = maybe(rng, minutes(1), minutes(20));
}

void draw_server(Rng& rng, Faults& faults) {
  faults.crash_before_commit = maybe(rng, 30);
  faults.crash_after_commit = maybe(rng, 30);
  faults.crash_in_answers = maybe(rng, 30);
  faults.crash_in_effects = maybe(rng, 30);
  faults.crash_in_load = maybe(rng, 200);
  faults.crash_in_trial = maybe(rng, 200);
  faults.crash_every = maybe(rng, minutes(1), minutes(30));
  faults.steward_silent = maybe(rng, 300);
  faults.keep_doubtful = static_cast<uint32_t>(rng.below(1001));
}

void draw_disk(Rng& rng, Faults& faults) {
  faults.commit_refused = maybe(rng, 30);
  faults.commit_doubtful = maybe(rng, 30);
  faults.full_every = maybe(rng, minutes(2), minutes(30));
  faults.jump_every = maybe(rng, minutes(1), minutes(20));
  faults.jump_max = rng.between(seconds(1), hours(1));
  faults.snapshot_every = maybe(rng, seconds(20), minutes(10));
  faults.zone_every = maybe(rng, minutes(2), minutes(30));
}

}  // namespace

Faults draw_faults(Rng& rng) {
  Faults faults;
  if (rng.chance(60)) return faults;  // a calm world is a case too
  draw_messages(rng, faults);
  draw_sites(rng, faults);
  draw_server(rng, faults);
  draw_disk(rng, faults);
  return faults;
}

Result<journal::Loaded> FaultyJournal::load() {
  if (rng_.chance(faults_.crash_in_load)) throw ServerCrash{};
  return inner_.load();
}

// The sabotaged journal drops the first submission that it acknowledges, and pretends to have a
// number for it.
bool FaultyJournal::forgets(const journal::Batch& batch) {
  if (!sabotage_.forget_commit) return false;
  return std::any_of(batch.events.begin(), batch.events.end(), [](const core::Event& event) {
    return std::holds_alternative<core::JobSubmitted>(event.body);
  });
}

Result<uint64_t> FaultyJournal::commit(const journal::Batch& batch) {
  if (rng_.chance(faults_.crash_before_commit)) throw ServerCrash{};
  using Fault = journal::MemoryJournal::Fault;
  const bool refused = rng_.chance(faults_.commit_refused);
  const bool doubtful = !refused && rng_.chance(faults_.commit_doubtful);
  if (refused || doubtful) inner_.fail_commit(1, doubtful ? Fault::doubtful : Fault::refused);
  if (forgets(batch)) return inner_.sequence() + 1;
  const auto done = inner_.commit(batch);
  if (!done) ++failures_;
  const bool crash = rng_.chance(faults_.crash_after_commit);
  if (crash && (done || doubtful)) throw ServerCrash{};
  return done;
}

Result<void> FaultyJournal::trial_write() {
  if (rng_.chance(faults_.crash_in_trial)) throw ServerCrash{};
  return inner_.trial_write();
}

}  // namespace atl::sim
