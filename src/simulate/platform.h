// The platform that a trace is run on: its nodes, and a core's state with the namespaces, cohorts
// and policy of a platform file and with everybody whom the trace names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state.h"
#include "simulate/trace.h"
#include "spec/platform_file.h"

namespace atl::simulate {

inline constexpr const char* kSite = "simulated";
inline constexpr UserId kRoot{1};  // who sets the platform up

using Nodes = std::vector<core::NodeCapacity>;

// Those of the file; where it names none, those that the trace's header tells of.
[[nodiscard]] Result<Nodes> nodes_for(const spec::PlatformFile& file, const Trace& trace);

int64_t cores_milli(const Nodes& nodes);

// `name` is the file's, for messages. The calendar goes by the trace's clock, in UTC. Namespaces
// that only the trace names have weight 1.
[[nodiscard]] Result<core::State> build_state(const spec::PlatformFile& file,
                                              const std::string& name, const Nodes& nodes,
                                              const Trace& trace);

// What the core is asked for on behalf of a job of the trace, or nullopt when no node could ever
// hold a task of it. The one place where a parallel job of many nodes would become a gang.
std::optional<core::Terms> terms_for(const TraceJob& job, const Trace& trace, const Nodes& nodes);

}  // namespace atl::simulate
