// Tasks handed over in advance, each behind one that runs or behind another in line. Belongs to the
// warden's only thread; in memory alone, for the server knows who is in line.
#pragma once

#include <map>
#include <optional>

#include "site/local/protocol.h"

namespace atl::site {

class TaskLine {
 public:
  bool contains(AttemptId attempt) const { return waiting_.contains(attempt); }

  // Behind the one that it names, after those who are there already.
  void add(StartTask order);
  // The one behind an attempt that has ended: it leaves the line to begin.
  [[nodiscard]] std::optional<StartTask> take_behind(AttemptId ended);
  // Leaves without beginning; the one behind it gets its place. False when it was not in line.
  bool leave(AttemptId attempt);
  // Whether more than so many are in line behind that one.
  bool longer_than(AttemptId first, int count) const;
  void clear();

 private:
  std::map<AttemptId, StartTask> waiting_;
  std::map<AttemptId, AttemptId> next_;  // who is behind whom
};

}  // namespace atl::site
