// Submitting one job, as `submit` and `run` both do.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/job_flags.h"
#include "cli/session.h"

namespace atl::cli {

// The namespace that a command means when it names none: the context's, else the first of the
// user's.
[[nodiscard]] Result<std::string> default_namespace(Session& session);

// The job that flags, script and surroundings describe, with the namespace that is meant when none
// is said; warnings about the script go to the person.
[[nodiscard]] Result<JobDraft> prepare_job(Session& session, const JobFlags& flags);

// The server's answer, with its `id`, once the server has it for good; or of a dry run, where and
// when it would start.
[[nodiscard]] Result<Json> submit_job(Session& session, const JobDraft& job, bool dry_run = false);

// The job as the server would take it.
void print_spec(Session& session, const spec::JobSpec& job);

// Ctrl-C of a verb that stays with a job: says how to come back to it and returns 130; a second
// Ctrl-C cancels the job. On the thread of `interrupts`, so with a connection of its own.
enum class Attached { output, end };  // what was waited for
int detach(Interrupts& interrupts, Console& console, const Target& target, const std::string& id,
           Attached attached);

// `run`: follows what was submitted and returns how it ended.
[[nodiscard]] Result<int> follow_to_end(Session& session, const std::string& id, bool array);

}  // namespace atl::cli
