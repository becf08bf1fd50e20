#include "core/scheduling/estimate.h"

#include <algorithm>

namespace atl::core::scheduling {

Estimates::Estimates(const State& state, int32_t quantile_milli) : quantile_milli_(quantile_milli) {
  if (quantile_milli >= kCertain) return;
  for (const auto& [id, ns] : state.namespaces) {
    for (const auto& [user, pace] : ns.paces) {
      paces_.emplace(std::pair{id, user}, pace);
      add(paces_[{id, UserId{}}], pace);
      add(paces_[{NamespaceId{}, UserId{}}], pace);
    }
  }
}

std::optional<Duration> Estimates::run_time(NamespaceId ns, UserId user, const Terms& terms,
                                            Duration elapsed) const {
  for (const auto& whose : {std::pair{ns, user}, {ns, UserId{}}, {NamespaceId{}, UserId{}}}) {
    const auto pace = paces_.find(whose);
    if (pace == paces_.end()) continue;
    if (const auto known = core::run_time(pace->second, terms.wall, quantile_milli_, elapsed))
      return known;
  }
  if (terms.wall.us > 0) return terms.wall;
  return std::nullopt;
}

Time Estimates::end_of(const State& state, TaskId task, const Holder& holder, Time now) const {
  if (holder.stopping) return holder.until ? std::max(now, holder.until) : Time{};
  const Terms& terms = state.terms.at(holder.terms).terms;
  if (terms.wall.us > 0 && !holder.until) return {};  // its site is out of reach
  const auto runs = run_time(holder.ns, state.jobs.at(task.job).user, terms, now - holder.since);
  return runs ? std::max(now, holder.since + *runs) : Time{};
}

}  // namespace atl::core::scheduling
