#include "site/local/task_line.h"

#include <utility>

namespace atl::site {

void TaskLine::add(StartTask order) {
  const AttemptId attempt = order.attempt;
  AttemptId last = *order.behind;
  for (auto at = next_.find(last); at != next_.end(); at = next_.find(last)) last = at->second;
  order.behind = last;
  next_.emplace(last, attempt);
  waiting_.emplace(attempt, std::move(order));
}

std::optional<StartTask> TaskLine::take_behind(AttemptId ended) {
  const auto next = next_.extract(ended);
  if (!next) return std::nullopt;
  return std::move(waiting_.extract(next.mapped()).mapped());
}

bool TaskLine::leave(AttemptId attempt) {
  const auto left = waiting_.extract(attempt);
  if (!left) return false;
  const AttemptId before = *left.mapped().behind;
  next_.erase(before);
  if (const auto next = next_.extract(attempt)) {
    waiting_.at(next.mapped()).behind = before;
    next_.emplace(before, next.mapped());
  }
  return true;
}

bool TaskLine::longer_than(AttemptId first, int count) const {
  auto at = next_.find(first);
  for (; count > 0 && at != next_.end(); --count) at = next_.find(at->second);
  return at != next_.end();
}

void TaskLine::clear() {
  waiting_.clear();
  next_.clear();
}

}  // namespace atl::site
