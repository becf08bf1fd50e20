// What reservations keep of each node, now and for times to come.
#pragma once

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

bool may_use(const Reservation& reservation, NamespaceId ns);

// Takes out of every node's room what is reserved there and nobody has yet for whom it is: kept
// now, or lent until its time comes.
void keep_reserved(World& world);

}  // namespace atl::core::scheduling
