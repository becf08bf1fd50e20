// What is accepted and yet should be told to whoever asked, because it is not quite what they
// wrote, or does not help before something else happens. Pure looks at the state.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace atl::core {

// Shares that are not among those a device can be cut into: "0.33 of a gpu …: 0.35 of a t4".
std::vector<std::string> rounded_shares(const State& state, const Terms& terms);

// Kinds and models of devices in a quota that no node has.
std::vector<std::string> unknown_devices(const State& state, const Quota& quota);

// Whether `who` ("cohort physics") may borrow what nobody could lend it.
void note_idle_borrowing(const std::string& who, bool in_cohort, const Quota& borrow,
                         std::vector<std::string>& notes);

// A task that has room which a reservation is for, and may have it when that begins.
struct Occupant {
  TaskId task;
  NamespaceId ns;
  SiteId site;
  std::string node;
  Time until;  // zero: nobody knows
  bool operator==(const Occupant&) const = default;
};
// Of others than those it is for, ordered by site, node and task.
std::vector<Occupant> occupants(const State& state, const Reservation& reservation);

}  // namespace atl::core
