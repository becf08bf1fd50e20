// Stage three: may it run now? Says what stands in the way, as data that explain turns into a
// sentence.
#pragma once

#include <optional>
#include <string>

#include "core/scheduling/world.h"

namespace atl::core::scheduling {

enum class Obstacle {
  held,
  dependency,
  backoff,
  array_limit,  // of the job's own choosing
  quota,
  no_site,     // no site of that name, or none that reports
  draining,    // a site that would do starts nothing new
  infeasible,  // no node is large enough even when empty
  capacity,    // nodes are large enough but busy
  turn,        // nothing: it starts in the next round
  in_line,     // nothing: it starts when the task before it ends
};
BOOST_DESCRIBE_ENUM(Obstacle, held, dependency, backoff, array_limit, quota, no_site, draining,
                    infeasible, capacity, turn, in_line)

// One thing in the way, with how much of it.
struct Block {
  Obstacle obstacle = Obstacle::turn;
  std::string resource;  // "cpu", "memory", "gpu:a100", "tasks", or a site's name
  int64_t asked = 0;
  int64_t in_use = 0;
  int64_t limit = 0;
  bool operator==(const Block&) const = default;
};

// What the namespace's quota says to one more task of these terms.
std::optional<Block> over_quota(const World& world, NamespaceId ns, const Terms& terms);

// What the job itself says: its own limit of tasks at once.
std::optional<Block> over_array_limit(const World& world, const Job& job, const Terms& terms);

}  // namespace atl::core::scheduling
