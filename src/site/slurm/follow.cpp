#include "site/slurm/follow.h"

#include "site/slurm/limits.h"
#include "site/slurm/verdict.h"

namespace atl::site {
namespace {

core::AttemptResult lost_because(std::string message) {
  return {.cause = core::EndCause::lost, .message = std::move(message)};
}

bool waited(Time& since, Time now, Duration patience) {
  if (!since) since = now;
  return now - since >= patience;
}

core::AttemptResult completed(core::AttemptResult result, const Sighting& sighting) {
  if (!result.usage.started) result.usage.started = sighting.run.started;
  if (!result.usage.started) result.usage.started = sighting.now;
  if (result.usage.ended < result.usage.started) result.usage.ended = sighting.now;
  result.usage.ended = std::max(result.usage.ended, result.usage.started);
  return result;
}

// The signal that comes before the time limit looks like any other, but for when it comes. Slurm
// may send it a minute early.
bool near_limit(const Followed& followed, const core::AttemptResult& result) {
  return followed.limit &&
         result.usage.ended + followed.signal_before + kKillMargin + seconds(10) >= followed.limit;
}

void explain(const Followed& followed, const Sighting& sighting, core::AttemptResult& result) {
  explain_end(*sighting.record, followed.stop_asked, result);
  if (followed.stop_asked || result.cause != core::EndCause::stopped) return;
  if (near_limit(followed, result)) {
    result.cause = core::EndCause::wall_time;
    result.message = "Slurm warned it before the time limit of its partition or its own";
  } else {
    result.cause = core::EndCause::signalled;
    result.message = "its batch shell was told to end in Slurm, not by Atoll";
  }
}

// The queue is asked before the run directories are looked at, so a job that waits there may have
// begun by now: only one that had begun at an earlier look was put back.
bool waits_again(const Followed& followed, const JobRecord& record) {
  return phase_of(record.state) == Phase::waiting && followed.begun;
}

bool was_put_back(const Followed& followed, const JobRecord& record) {
  return waits_again(followed, record) || record.restarts > 0;
}

Consequence put_back(const Sighting& sighting) {
  return {.ended = completed(
              lost_because("Slurm job " + std::to_string(sighting.record->id) +
                           " had begun and was put back into the queue behind Atoll's back; it was "
                           "cancelled there, because Atoll decides what is tried again"),
              sighting),
          .cancel = true};
}

// The wrapper told a result. A signal that we did not send is explained by how Slurm ended the job,
// which it may not know yet.
Consequence with_result(Followed& followed, const Sighting& sighting) {
  core::AttemptResult result = *sighting.run.result;
  const bool known = sighting.record && phase_of(sighting.record->state) == Phase::over;
  const bool unasked = needs_reason(result) && !followed.stop_asked;
  if (unasked && sighting.record && was_put_back(followed, *sighting.record))
    return put_back(sighting);
  if (unasked && !known && !waited(followed.over_since, sighting.now, kVanishedAfter))
    return {.ask_accounting = !sighting.record};
  if (known) explain(followed, sighting, result);
  if (!known && unasked && result.cause == core::EndCause::stopped) {
    // A controller that lost its state has the nodes end what it does not know.
    result.cause = core::EndCause::lost;
    result.message = "its job was told to end on its node, and Slurm does not say why";
  }
  Consequence consequence;
  // One that Slurm put back would run again.
  consequence.cancel = sighting.record && waits_again(followed, *sighting.record);
  consequence.ended = completed(std::move(result), sighting);
  return consequence;
}

Consequence while_waiting(Followed& followed, const Sighting& sighting) {
  const JobRecord& record = *sighting.record;
  if (was_put_back(followed, record)) return put_back(sighting);
  const std::optional<std::string> never = never_starts(record);
  if (!never) followed.hopeless_since = {};
  if (never && waited(followed.hopeless_since, sighting.now, kHopelessAfter)) {
    return {.ended = completed({.cause = core::EndCause::start_error, .message = *never}, sighting),
            .cancel = true};
  }
  return {};
}

core::AttemptResult without_result(const Followed& followed, const Sighting& sighting) {
  const JobRecord& record = *sighting.record;
  if (followed.stop_asked) {
    core::AttemptResult stopped{.cause = core::EndCause::stopped, .exit_code = 143, .signal = 15};
    stopped.usage.started = record.started;
    stopped.usage.ended = record.ended;
    return stopped;
  }
  if (record.state != "COMPLETED") return verdict_of(record);
  return lost_because(
      "Slurm job " + std::to_string(record.id) +
      " completed and left no result in its run directory: is that on a file system "
      "that the nodes share?");
}

Consequence while_missing(Followed& followed, const Sighting& sighting) {
  if (!waited(followed.missing_since, sighting.now, kVanishedAfter))
    return {.ask_accounting = true};
  core::AttemptResult result =
      followed.stop_asked
          ? core::AttemptResult{.cause = core::EndCause::stopped}
          : lost_because(
                "its job is no longer in Slurm's queue, accounting does not know it, and "
                "its run directory has no result");
  return {.ended = completed(std::move(result), sighting)};
}

Consequence judge(Followed& followed, const Sighting& sighting) {
  if (sighting.run.result) return with_result(followed, sighting);
  if (!sighting.record) return while_missing(followed, sighting);
  followed.missing_since = {};
  const Phase phase = phase_of(sighting.record->state);
  if (phase == Phase::waiting) return while_waiting(followed, sighting);
  if (phase == Phase::running) {
    followed.limit = sighting.record->ended;
    if (!sighting.run.begun || followed.told_start) return {};
    followed.told_start = true;
    return {.started = sighting.run.started};
  }
  // What the wrapper wrote last may take a moment to come through a network file system.
  if (!waited(followed.over_since, sighting.now, kSettle)) return {};
  return {.ended = completed(without_result(followed, sighting), sighting)};
}

}  // namespace

Consequence follow(Followed& followed, const Sighting& sighting) {
  Consequence consequence = judge(followed, sighting);
  followed.begun |= sighting.run.begun;
  return consequence;
}

}  // namespace atl::site
