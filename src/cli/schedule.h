// Schedules on the command line. For the sources of this room only.
#pragma once

#include <string>

#include "cli/output.h"
#include "cli/session.h"

namespace atl::cli {

View schedule_view();
std::string schedule_card(const Session& session, const Json& schedule);
// A line for each time, in its zone; what the server's answer says under `next`.
std::string next_lines(const std::vector<std::string>& times, const std::string& zone);

// The zone of this machine: $TZ, what /etc/localtime leads to, or UTC.
std::string local_zone(const Environment& environment);

}  // namespace atl::cli
