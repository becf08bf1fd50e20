// Stage two: who is next. Inside a namespace a higher priority goes first, then who came first;
// between namespaces the one whose next job came first.
#pragma once

#include <optional>
#include <queue>

#include "core/scheduling/candidates.h"

namespace atl::core::scheduling {

// A candidate with the place the round has reached in it.
struct Cursor {
  const Candidate* candidate = nullptr;
  std::set<JobId>::const_iterator next;

  JobId head() const { return *next; }
};

// Hands out the next job to try until every candidate is used up or dropped.
class Ranking {
 public:
  explicit Ranking(const std::vector<Candidate>& candidates);

  // The best cursor, or null when none is left. It stays the best until one of the calls below.
  const Cursor* best() const;
  // The best cursor's head is done with (placed out, or stuck by itself): its group goes on with
  // the next job.
  void advance();
  // Nothing of the best cursor's group can be placed in this round.
  void drop();

 private:
  struct ByRank {
    bool operator()(const Cursor& a, const Cursor& b) const;
  };
  using Groups = std::priority_queue<Cursor, std::vector<Cursor>, ByRank>;  // of one namespace

  struct ByArrival {
    bool operator()(const Groups& a, const Groups& b) const {
      return b.top().head() < a.top().head();
    }
  };
  // Takes the best cursor out; `put_back` returns its namespace to the heap unless it is empty.
  Cursor take_best(Groups& rest);
  void put_back(Groups groups);

  std::vector<Groups> heap_;  // of namespaces, by the arrival of their next job
};

}  // namespace atl::core::scheduling
