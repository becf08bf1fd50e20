// Stage five: why is it waiting? The same filters that scheduling asks, so the answer is true by
// construction.
#pragma once

#include <string>
#include <vector>

#include "core/scheduling/holders.h"
#include "core/scheduling/whatif.h"

namespace atl::core::scheduling {

struct Explanation {
  Block block;
  std::string sentence;
  std::vector<JobId> waits_for;           // whom it depends on or stands behind, or who makes room
  Time until;                             // when what it waits for is over, if that is known
  uint64_t position = 0;                  // from 1, among the ready jobs of its namespace and tier
  std::vector<HeldBy> held_by;            // what it waits for
  Time starts_by;                         // at the latest, if nobody else comes; zero: nobody knows
  std::vector<Alternative> alternatives;  // that would start now
  std::vector<Alternative> sooner;        // that would not, but before the job itself
  std::optional<Alternative> nearest;     // that could ever start, if the job itself could not
};

// What explanations of one moment share, made when first asked for: the world as it is, and as a
// round leaves it.
class Glance {
 public:
  Glance(const State& state, Time now);
  const State& state() const { return state_; }
  Time now() const { return now_; }
  const World& world();
  const World& after_round();

 private:
  const State& state_;
  const Time now_;
  std::optional<World> world_, after_round_;
};

// Of a live job that has something waiting. `quick` leaves out the position, who holds what it
// waits for, and what would make it start. `now` counts when it is
// later than the last event: a calendar's hour or a reservation begins without one.
// Of one task that waits if an index is named: it may pause while others of its job wait.
Explanation explain(Glance& glance, const Job& job, bool quick = false,
                    std::optional<uint32_t> index = {});
Explanation explain(const State& state, const Job& job, bool quick = false, Time now = {});

// From 1, among the ready jobs of its namespace and tier.
uint64_t position_of(const State& state, const Job& job);
// The same in tasks: of those before it all, and its own first one.
uint64_t tasks_until(const State& state, const Job& job);

// The reason's word for tables: "quota", "capacity".
const char* reason_word(const Explanation& explanation);

std::string format_resources(const Resources& resources);

}  // namespace atl::core::scheduling
