// Stage two: who is next. Of the members of a cohort, then of the users of a namespace, the one
// whose share is furthest behind its weight; among equals, whose next job came first. A user's jobs
// follow each other by priority and arrival.
#pragma once

#include "core/scheduling/candidates.h"
#include "core/scheduling/fairness.h"
#include "core/scheduling/filter.h"

namespace atl::core::scheduling {

// Hands out the next job of one tier to try, until all are used up or dropped.
class Ranking {
 public:
  Ranking(Counting& counting, Tier tier, bool own_only = false);

  struct Head {
    NamespaceId ns;
    UserId user;
    ShapeId shape;
    JobId job;
    bool operator==(const Head&) const = default;
  };
  // The best one, or nullopt when none is left. It passes over shapes for which the world is full.
  std::optional<Head> best();

  // After something of the best head was placed: its user, namespace and cohorts have more now.
  void charged();
  // The best head's job is done with (placed out, or stuck by itself): the next of its queue
  // follows.
  void advance();
  // Nothing of the best head's shape can be placed in this round for its namespace, or for anybody
  // in that cohort.
  void drop(CohortId cohort = {});

 private:
  struct Cursor {
    Waiting first;
    ShapeId shape;
    Queue::const_iterator next;
  };
  // Somebody among whose members, or from whose queues, one is chosen. Members are only looked into
  // when nobody else has a smaller share: most of a large backlog is never touched.
  struct Branch {
    Payer who;
    int parent = -1;
    Counted before;
    int64_t share = 0;
    bool open = false;                                // looked into: `first` is known
    Waiting first;                                    // the next job below it
    std::vector<int> members;                         // a heap
    std::vector<Cursor> queues;                       // a heap
    const std::map<UserId, Queues>* users = nullptr;  // of a namespace that was not looked into
    const Queues* waiting = nullptr;                  // of such a user
    std::optional<ShapeSet> dropped;                  // shapes that nobody below gets room for
  };

  int branch_of(CohortId cohort);
  int add_branch(Payer who, int parent);
  bool behind(int a, int b) const;
  Left left_to(NamespaceId ns) const;
  void prune(Branch& leaf);
  void add_users(int at);
  void line_up(Branch& leaf);
  bool look_into(int at);
  bool refresh(int at);
  bool choose(int at);
  const Cursor* best_queue(Branch& leaf);
  bool dropped(const Branch& leaf, ShapeId shape) const;
  bool borrows(NamespaceId ns, ShapeId shape) const;
  int leaf() const;
  void update_path(int from);

  const World& world_;
  Counting& counting_;
  const Tier tier_;
  const bool own_only_;
  bool any_dropped_ = false;
  std::vector<Branch> branches_;  // the first is the root
  std::map<CohortId, int> cohorts_;
};

}  // namespace atl::core::scheduling
