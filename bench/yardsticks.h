// The schedulers that others are measured by, on the same machine as ours: a task takes cores of
// one node, and of the nodes that fit the one with the least left over. First come, first served;
// and the same with EASY backfill: the head of the queue is promised the node where it fits
// soonest, by the times that were asked for, and whoever comes after may start now if that does not
// delay it. Both act at the very instant of each submission and end.
#pragma once

#include "simulate/engine.h"

namespace atl::bench {

enum class Backfill { none, easy };

// Looks at cores only; every job has one task that fits a node.
simulate::Outcome run_yardstick(const simulate::Trace& trace, const simulate::Nodes& nodes,
                                Backfill backfill);

}  // namespace atl::bench
