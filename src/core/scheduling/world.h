// What a scheduling round sees: free capacity of every usable node, what everybody uses, and the
// time, as of the state plus what the round itself has placed so far.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/scheduling/room.h"
#include "core/scheduling/stock.h"
#include "core/state.h"

namespace atl::core::scheduling {

// Free until somebody's claim on it begins.
struct Lent {
  Time until;
  Room room;
  const Reservation* reservation = nullptr;  // whose it is: work that yields may stay
  Room later;                                // when those that are stopping have ended
};

// Kept now for those who have reserved it.
struct Kept {
  const Reservation* reservation = nullptr;
  Room free;
  Room later;
};

inline constexpr Time kNobodyKnows{INT64_MAX};

// What of a task's room is counted for a reservation: it is not for whoever has the task stopped,
// or waits for its end.
struct Pledge {
  const Reservation* reservation = nullptr;
  Room room;
};

struct NodeView {
  SiteId site;
  const std::string* site_name = nullptr;
  const Node* node = nullptr;
  uint64_t make = 0;                   // the same for nodes that are alike when empty
  std::vector<uint64_t> device_makes;  // of each device
  bool only_by_name = false;           // no place for work that does not ask for it
  Room free;                           // for anybody, now
  Room later;  // when those that are stopping have ended, without what is claimed of it
  std::vector<Lent> lent;
  std::vector<Kept> kept;
  bool awaited = false;  // somebody waits for work here to end by itself
  Time counted_on;       // until then it does, and makes room for nobody else
  std::map<TaskId, std::vector<Pledge>> pledged;
  std::vector<std::pair<Time, Room>> given_back;  // of what is kept for times to come, for good
};

// Whose account: a cohort, a namespace, or a user in a namespace.
struct Payer {
  CohortId cohort;
  NamespaceId ns;
  UserId user;
  auto operator<=>(const Payer&) const = default;
  friend size_t hash_value(const Payer& payer) {
    return uint64_t{payer.cohort.value} << 42 ^ uint64_t { payer.ns.value } << 21 ^
           payer.user.value;
  }
};

// Work that would come to a node: whose, what, and when it has ended at the latest.
struct Guest {
  NamespaceId ns;
  const Terms* terms = nullptr;
  Time end;             // zero: nobody knows
  bool yields = false;  // it may be where room is reserved for times to come: it will make room
};

// Room that is kept for a job which was served before others.
struct Claim {
  JobId job;
  size_t node = 0;        // of the world's
  Time until;             // when it begins; zero: nobody knows
  bool promised = false;  // others make room for it: quotas count it already
};

class ShapeSet {
 public:
  explicit ShapeSet(uint32_t last = 0) : has_(size_t{last} + 1) {}
  bool contains(ShapeId id) const { return has_[id.value]; }
  void insert(ShapeId id) {
    size_ += !has_[id.value];
    has_[id.value] = true;
  }
  void erase(ShapeId id) {
    size_ -= has_[id.value];
    has_[id.value] = false;
  }
  size_t size() const { return size_; }

 private:
  std::vector<bool> has_;
  size_t size_ = 0;
};

// What a shape asks for as plain numbers: they are compared with what is left to every namespace.
struct Ask {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  SmallVector<std::pair<size_t, int64_t>, 2> devices_milli;  // by the place of the quotas' key
};

// Where one more may line up: the last one in a line, and the place that the line is for.
struct Tail {
  uint32_t before = 0;  // so many are before it, counting who has the room
  AttemptId attempt;
  const Placement* placement = nullptr;
};

// How far a round has come with the lines of a group: those there were, and then those that it has
// made longer.
struct Led {
  std::set<std::pair<uint32_t, AttemptId>>::const_iterator at;
  std::deque<Tail> longer;
};

struct World {
  const State* state = nullptr;
  Time now;
  std::vector<NodeView> nodes;     // usable: reported, not gone, not draining
  std::vector<Time> busy_until;    // each of them, by those who are there, at the latest
  bool some_yield = false;         // some of the work on them may have to make room, or is about to
  bool some_yield_to_all = false;  // and not only to those who are sure of it
  Stock stock;
  Terms smallest;                        // of each resource the least that anybody waits for
  std::vector<std::string> device_keys;  // that some quota limits: "gpu", "gpu:a100"
  std::vector<Ask> asks;                 // of each shape there is
  std::vector<uint32_t> ask_of;          // of a shape, by its number
  bool models_limited = false;           // by a quota, or by the calendar
  ShapeSet full;                         // shapes for which the round has found no room
  // To see what is expected: work ends as these say, not at its limit. A round has none.
  const class Estimates* estimates = nullptr;

  // Only of those for whom this round has placed something.
  HashMap<NamespaceId, InUse> in_use;
  HashMap<CohortId, InUse> cohort_in_use;
  std::map<Tier, InUse> tier_in_use;
  HashMap<Payer, Amounts> charged;
  HashMap<JobId, uint32_t> placed_of_job;
  std::vector<Claim> claims;
  std::set<TaskId> yielding;  // that this round has told to stop
  // Others have made room for it and it has not found any: what yields would be in its way again.
  JobId owed;
  // After a round: the sums when those that stop have ended and others have what they were
  // promised; a quota must do for that too. Null: nobody stops.
  std::shared_ptr<const World> then;

  // How far the lines of a group, or of one job in it, have been made longer by this round.
  std::map<std::tuple<NamespaceId, TermsId, JobId>, Led> led;

  const Ask& ask(ShapeId shape) const { return asks[ask_of[shape.value]]; }
  const InUse& in_use_of(NamespaceId ns) const;
  const InUse& in_use_of(CohortId cohort) const;
  const InUse& in_use_of(Tier tier) const;
};

// Whether work of these terms counts in shares and for the calendar: it does, unless it has named a
// site that is no part of the platform.
bool counts(const State& state, const Terms& terms);

World look(const State& state, Time now);

// When a task that is placed then has ended at the latest; zero: nobody knows.
Time ends_by(Time start, const Terms& terms);

// A task of the namespace that is placed now.
Guest guest_now(const World& world, NamespaceId ns, const Terms& terms);

// There is no room for the shape: nor for one that asks for the same and may stay as long, and, as
// long as nothing is lent, for any that asks for the same.
void mark_full(World& world, ShapeId shape);

// Whether it may use what is lent.
bool lends(const Lent& lent, const Guest& guest);

// Keeps room on a node for a task that cannot start yet: out of what ends by itself until then
// (`ending`, which has less afterwards), of what is stopping or of those who yield to it, and for
// the rest of what is free, which is lent until then.
void claim(World& world, size_t node, const Guest& guest, Room& ending, const Room& yielding,
           Time until);
void claim(World& world, size_t node, const Guest& guest, Takings takings, Room& ending,
           Time until);

// What the node has for it, now or when those that stop have ended: with what is reserved for it,
// and what it is lent.
Room free_for(const NodeView& view, const Guest& guest);
Room later_for(const NodeView& view, const Guest& guest);

// What it may have of a task's room when the task is gone.
Room left_by(const World& world, size_t node, TaskId task, const Holder& holder,
             const Guest& guest);

// The task goes: its room counts as room to come, for those for whom it is.
void give_up(World& world, size_t node, TaskId task, const Holder& holder);

// Records a placement that the round has decided.
void take(World& world, const Job& job, const Terms& terms, const Placement& placement,
          size_t node);

}  // namespace atl::core::scheduling
