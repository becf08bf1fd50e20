// Between stages: who has to yield. Opportunistic work makes room for any other; borrowed room goes
// back to those who are within their quota. Nobody else is ever stopped.
//
// The victims are a minimal set: with any one of them left alone the task would not fit. Those who
// lose least work come first.
#pragma once

#include "core/scheduling/filter.h"
#include "core/scheduling/world.h"

namespace atl::core::scheduling {

struct Yielding {
  size_t node = 0;                  // of the world's, where the task will fit
  std::vector<TaskStopping> stops;  // none: enough are stopping already
  Placement placement;              // as it would be, with the devices that it would find
};

// A task that may have to yield, or all members of a gang.
struct Yielder {
  struct Member {
    TaskId task;
    const Holder* holder = nullptr;
    size_t node = 0;
  };
  std::vector<Member> members;
  const Terms* terms = nullptr;
  int64_t lost = 0;         // their work so far, in parts of the platform times time
  bool spoken_for = false;  // told to stop in this round
};

// Everybody who may have to yield in one round.
class Yielders {
 public:
  explicit Yielders(const World& world);

  // Goes on with a world that was copied from the one before.
  void look_at(const World& world) { world_ = &world; }

  // The sums without those that stop or yield, with what was promised and placed.
  const World& then() const { return relieved_; }

  // How a task gets its room if others yield, or when those that are stopping have ended; nullopt
  // when that does not help. Only what is `sure`, and borrows nothing, takes back what is borrowed.
  std::optional<Yielding> make_room(const Job& job, const Terms& terms, bool sure);

  // Whether quotas let the task, or all members of the gang, have its room, did all yield who would
  // to it.
  bool frees_quota(const Job& job, const Terms& terms, bool sure) const;

  // The round has decided so: they count as stopping from now on, and the task has its room.
  void settle(const Yielding& yielding, const Job& job, const Terms& terms, World& world);
  // The round has placed one more.
  void placed(const Job& job, const Terms& terms, const Placement& placement);

 private:
  class Choice;
  Guest guest(const Job& job, const Terms& terms) const;
  bool hopeless(const Job& job, const Terms& terms, bool takes_back) const;
  bool yields_to(const Yielder& yielder, const Job& job, const Terms& terms, bool takes_back) const;

  const World* world_;
  Time stopped_by_;  // when all of them have ended, were they told to stop now
  World relieved_;   // only its sums: without those that stop or yield
  World civil_;      // the same without those who yield to all
  World bare_;       // the same without anybody who may have to yield
  bool any_ = false;
  bool any_stopping_ = false;
  bool any_opportunistic_ = false;
  std::vector<Yielder> all_;                  // whom to ask first, first
  std::vector<std::vector<size_t>> by_node_;  // who of them has room there
  std::vector<Room> yield_;                   // of each node, what all of them would give
  std::set<ShapeId> no_room_;                 // shapes for which no node has room even if all yield
};

// The same sums without the tasks that are stopping.
World without_stopping(const World& world);

// Counts one more task of the job into the sums, as if the very devices that it asks for had been
// found.
void promise(World& sums, const Job& job, const Terms& terms);

// Whether one more task of these terms is within what the namespace is sure of.
bool within_nominal(const World& world, NamespaceId ns, const Terms& terms);

// The tasks that run on borrowed room: those that came last, of namespaces that have more than they
// are sure of.
std::set<TaskId> borrowed_tasks(const World& world);

}  // namespace atl::core::scheduling
