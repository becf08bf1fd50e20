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
  yielding,    // others are making room for it
  claimed,     // what it needs is kept for one that is served before it
  calendar,    // its tier has what it may have at this time of the week
  reserved,    // what it needs is reserved for others
  members,     // of a gang: others of it have not stopped yet
};
BOOST_DESCRIBE_ENUM(Obstacle, held, dependency, backoff, array_limit, quota, no_site, draining,
                    infeasible, capacity, turn, in_line, yielding, claimed, calendar, reserved,
                    members)

// One thing in the way, with how much of it.
struct Block {
  Obstacle obstacle = Obstacle::turn;
  std::string resource;  // "cpu", "memory", "gpu:a100", "tasks", or a site's name
  int64_t asked = 0;
  int64_t in_use = 0;
  int64_t limit = 0;
  // Whose quota: "namespace bio", "cohort physics"; of capacity the node: "local/n1".
  std::string holder;
  uint32_t members = 1;  // of a gang, that ask for it together
  bool never = false;    // it is more than that allows even if nobody else uses any
  bool operator==(const Block&) const = default;
};

// What the quotas of the namespace and of the cohorts above it, with what may be borrowed, say to
// one more task of these terms. The narrowest comes first: the namespace's own.
std::optional<Block> over_quota(const World& world, NamespaceId ns, const Terms& terms);

// Whose quota that is: a cohort; none for the namespace's own, and when there is no such block.
CohortId over_quota_of(const World& world, NamespaceId ns, const Terms& terms);

// What quotas leave to a namespace, as plain numbers; without a limit the largest there is.
struct Left {
  int64_t cpu_milli = INT64_MAX;
  int64_t memory_bytes = INT64_MAX;
  int64_t tasks = INT64_MAX;
  SmallVector<int64_t, 4> devices_milli;  // by the place of the world's key
};
bool holds(const Left& left, const Ask& ask);
// Of what the namespace is sure of.
void lower_to_own(const World& world, NamespaceId ns, Left& left);
// Of what it, and the cohorts above it, may have with what they borrow.
void lower_to_quota(const World& world, NamespaceId ns, Left& left);
// How many thousandths of devices of a quota's key ("gpu" or "gpu:a100") are asked for. One that
// takes several models may find another.
int64_t asked_of(const Resources& resources, const std::string& key);

// Whether the namespace would have more than it is sure of with one more such task, and so has it
// only as long as nobody who is sure of it wants it.
bool would_borrow(const World& world, NamespaceId ns, const Resources& resources);

// The same for the namespace's own quota alone.
std::optional<Block> over_own_quota(const World& world, NamespaceId ns, const Terms& terms);

// Whether all of them still hold what is in use, after one of them shrank.
bool within_quota(const World& world, NamespaceId ns);

// What they, and the calendar for the terms' tier, leave of each limited kind or model of device
// ("gpu:a100").
struct DevicesLeft {
  int64_t left = 0;
  int64_t limit = 0;
  std::string holder;
  Obstacle obstacle = Obstacle::quota;
};
std::map<std::string, DevicesLeft> devices_left(const World& world, NamespaceId ns,
                                                const Terms& terms, bool without_borrowing = false);

// What the calendar says to one more task of its tier at this time.
std::optional<Block> over_calendar(const World& world, const Terms& terms);
// The same at another time, while its tier uses so much.
std::optional<Block> over_calendar(const State& state, const InUse& used, const Terms& terms,
                                   Time at);

// Of what is in use, by the word of quotas: "cpu", "memory", "tasks", "gpu:a100".
int64_t amount_of(const InUse& in_use, const std::string& resource);

// What the job itself says: its own limit of tasks at once.
std::optional<Block> over_array_limit(const World& world, const Job& job, const Terms& terms);

}  // namespace atl::core::scheduling
