// When and where: the time at which work that is there now will have made room, by the limits it
// runs under, or as it is expected to end (World::estimates). The head of the line is given that
// room; others may use it until then.
//
// Work that yields counts as gone for those to whom it does. So where somebody waits does not
// depend on whether it is there: else it would make room for the next in line, who would not get
// it.
#pragma once

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

struct Opening {
  size_t node = 0;       // of the world's
  Time at;               // zero: nobody knows
  Room ending;           // what ends by itself until then
  uint32_t members = 1;  // of a gang
  Room yielding;         // what those have who yield to it: as good as free
  Duration grace;        // theirs, if they have to: they are told when the rest is there
};

// Where the terms will fit first, among nodes that nobody waits for yet; where nobody can tell, the
// node with most room. A gang has one or more openings at the same time. None when no node is large
// enough.
std::vector<Opening> soonest(const World& world, NamespaceId ns, const Terms& terms);

// When so many tasks of them fit on that node together; zero: nobody knows.
Time soonest_on(const World& world, size_t node, NamespaceId ns, const Terms& terms,
                uint32_t tasks);

}  // namespace atl::core::scheduling
