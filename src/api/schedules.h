// Schedules in the API: what is shown of one. For the sources of this room only.
#pragma once

#include "api/context.h"
#include "api/schedule_requests.h"

namespace atl::api {

// In the namespace of the path.
[[nodiscard]] Result<const core::Schedule*> schedule_named(const CallPtr& call,
                                                           const core::State& state,
                                                           const std::string& name);

// What the wish comes to, with its first times. Reads the workflow's files; off the core's thread.
[[nodiscard]] Result<core::SetSchedule> to_schedule(const ScheduleWish& wish, const std::string& ns,
                                                    const Options& options, std::string& secret);

// `secret`: of one that has just been made.
void respond_schedule(const CallPtr& call, const std::string& name, int status,
                      const std::string& secret = {});

void write_fired(const CallPtr& call, const runtime::Accepted& accepted);

}  // namespace atl::api
