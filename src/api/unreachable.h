// What is told of work on a node that cannot be asked.
#pragma once

#include <optional>
#include <string>

#include "core/state.h"
#include "site/driver_table.h"

namespace atl::api {

// A sentence with what its site knows to be wrong, of the job or of that task; empty: its place
// answers. On the core's thread.
std::string unreachable_sentence(const core::State& state, const site::DriverTable& drivers,
                                 const core::Job& job, std::optional<uint32_t> index);

}  // namespace atl::api
