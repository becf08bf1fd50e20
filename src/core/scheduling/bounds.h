// What could ever be had: by the quotas if nobody else used anything of them, and by the nodes if
// they were empty. A request beyond that does not wait for its turn; it waits for others to decide
// otherwise.
#pragma once

#include "core/scheduling/filter.h"

namespace atl::core::scheduling {

// The quota, with what may be borrowed, that is smaller than one task of these terms, or than all
// members of a gang together.
std::optional<Block> beyond_quota(const State& state, NamespaceId ns, const Terms& terms);

// Whether quotas or the calendar, as they are used now, keep one task of these terms, or all
// members of a gang together, from starting.
bool over_limits(const World& world, NamespaceId ns, const Terms& terms);

// The calendar's entry that, at the time that leaves most to the tier, leaves less than that.
std::optional<Block> beyond_calendar(const State& state, const Terms& terms, Time now);

// When the calendar will first leave enough for the terms if nothing ends; zero: never. `block` is
// what it says now.
Time calendar_opens(const World& world, const Terms& terms, const Block& block);

// The largest request of the same kind that both quotas and nodes could hold. Nullopt: there is
// none.
std::optional<Terms> nearest_possible(const State& state, NamespaceId ns, const Terms& terms);

}  // namespace atl::core::scheduling
