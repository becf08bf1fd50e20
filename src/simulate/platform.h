// The platform that a trace is run on: its nodes, and a core's state with the namespaces, cohorts
// and policy of a platform file and with everybody whom the trace names.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "simulate/trace.h"
#include "spec/platform_file.h"

namespace atl::simulate {

inline constexpr const char* kSite = "simulated";
inline constexpr UserId kRoot{1};  // who sets the platform up

using Nodes = std::vector<core::NodeCapacity>;

// Those of the file; where it names none, those that the trace tells of. Devices can be cut
// into the parts that the trace asks for.
[[nodiscard]] Result<Nodes> nodes_for(const spec::PlatformFile& file, const Trace& trace);

int64_t cores_milli(const Nodes& nodes);

// `name` is the file's, for messages. The calendar goes by the trace's clock, in UTC. Namespaces
// that only the trace names have weight 1.
[[nodiscard]] Result<core::State> build_state(const spec::PlatformFile& file,
                                              const std::string& name, const Nodes& nodes,
                                              const Trace& trace);

}  // namespace atl::simulate
