// What Slurm's words mean for an attempt: its state and reason, and sbatch's refusals, as results
// with sentences that say what to change. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"
#include "site/slurm/job_record.h"

namespace atl::site {

enum class Phase : uint8_t {
  waiting,  // in Slurm's queue; also one that is held or being configured
  running,  // also suspended or completing: its processes may be there
  over,
};
Phase phase_of(std::string_view state);

// How a job that is over ended, when its run directory does not tell: as far as Slurm knows.
core::AttemptResult verdict_of(const JobRecord& record);

// Whether Slurm knows more of it: a signal, or a wrapper that was killed.
bool needs_reason(const core::AttemptResult& result);
// Of one that ran and whose wrapper told a result: Slurm knows better why a signal
// came.
void explain_end(const JobRecord& record, bool stop_asked, core::AttemptResult& result);

// Why a job that waits will never start, as a sentence; nothing when it may.
std::optional<std::string> never_starts(const JobRecord& record);

enum class Refusal : uint8_t {
  refused,  // it never will be accepted as it is
  later,    // not now; whether it was accepted must be looked up by its name
};
struct SubmitFailure {
  Refusal kind = Refusal::later;
  std::string message;
};
// What sbatch said on stderr when it failed.
SubmitFailure submit_failure(std::string_view said);

// Another program's words for a message: one line, printable, cut.
std::string said_words(std::string_view said);

}  // namespace atl::site
