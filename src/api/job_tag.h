// The ETag of a job: it changes whenever anything does that a change could be based on, and not
// with the sentence that explains why it waits.
#pragma once

#include <string>

#include "core/state.h"
#include "journal/journal.h"

namespace atl::api {

std::string job_tag(const core::State& state, const core::Job& job);
std::string job_tag(const journal::EndedJob& ended);

}  // namespace atl::api
