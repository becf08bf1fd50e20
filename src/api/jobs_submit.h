// Between submitting and trying out. For the sources of this room only.
#pragma once

#include "api/context.h"

namespace atl::api {

// Where and when the jobs would start, or the refusal that they would get; nothing is kept.
void try_submission(const CallPtr& call, core::SubmitJobs command,
                    std::vector<std::string> warnings);  // jobs_explain.cpp

}  // namespace atl::api
