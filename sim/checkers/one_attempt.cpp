#include "sim/checkers/one_attempt.h"

namespace atl::sim {

void OneAttempt::recorded(uint64_t, const core::Event& event, const core::State&) {
  const auto* placed = std::get_if<core::TaskPlaced>(&event.body);
  if (!placed) return;
  const auto live = live_.find(placed->attempt.task());
  if (live != live_.end()) {
    broke(to_string(placed->attempt) + " is placed while " + to_string(live->second) +
          " still runs");
  }
}

void OneAttempt::began(const RunBegan& run) {
  if (!begun_.insert(run.attempt).second) return broke(to_string(run.attempt) + " began twice");
  const auto [live, alone] = live_.emplace(run.attempt.task(), run.attempt);
  if (!alone)
    broke(to_string(run.attempt) + " began while " + to_string(live->second) + " still runs");
}

void OneAttempt::ended(const RunEnded& run) { live_.erase(run.attempt.task()); }

void OneAttempt::looked(const Glimpse& glimpse) {
  for (const auto& [task, attempt] : live_) {
    const core::Job* job = glimpse.replayed.job(task.job);
    const auto held =
        job ? job->tasks.find(task.index) : std::map<uint32_t, core::Task>::const_iterator{};
    const bool placed = job && held != job->tasks.end() &&
                        held->second.attempt == attempt.attempt &&
                        core::placement_of(held->second.state);
    if (!placed) return broke(to_string(attempt) + " runs although its task is not placed as such");
  }
}

}  // namespace atl::sim
