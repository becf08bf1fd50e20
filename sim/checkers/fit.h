// Is there room? Counted from the tasks and the reported nodes alone, and by trying every way to
// deal out devices, where the scheduler has one way that it takes.
#pragma once

#include "core/core.h"

namespace atl::sim {

// Whether work may use the site without naming it, and what is there counts: not one that pretends
// beside one that does not.
bool of_platform(const core::State& state, const core::Site& site);

struct Fit {
  bool reported = false;  // some node, even if it drains
  bool any_node = false;
  bool were_it_empty = false;  // of a gang: all members together
  bool now = false;
  bool drained = false;  // were they empty and did nothing drain
};
Fit look_for_room(const core::State& state, const core::Terms& terms);

// How many tasks of these terms fit on the node beside what is there, at most so many.
uint32_t members_on(const core::State& state, SiteId site, const core::Node& node,
                    const core::Terms& terms, uint32_t most, bool were_it_empty);

// In thousandths for devices.
int64_t amount_of(const core::Resources& each, const core::Placement& placement,
                  const std::string& resource);

}  // namespace atl::sim
