#include "core/scheduling/rank.h"

#include <algorithm>

namespace atl::core::scheduling {

bool Ranking::ByRank::operator()(const Cursor& a, const Cursor& b) const {
  const auto key = [](const Cursor& c) {
    return std::pair(c.candidate->group.priority_inverted, c.head());
  };
  return key(b) < key(a);
}

Ranking::Ranking(const std::vector<Candidate>& candidates) {
  std::map<NamespaceId, Groups> by_namespace;
  for (const Candidate& candidate : candidates) {
    by_namespace[candidate.ns].push({&candidate, candidate.jobs->begin()});
  }
  for (auto& [ns, groups] : by_namespace) heap_.push_back(std::move(groups));
  std::make_heap(heap_.begin(), heap_.end(), ByArrival{});
}

const Cursor* Ranking::best() const { return heap_.empty() ? nullptr : &heap_.front().top(); }

Cursor Ranking::take_best(Groups& rest) {
  std::pop_heap(heap_.begin(), heap_.end(), ByArrival{});
  rest = std::move(heap_.back());
  heap_.pop_back();
  const Cursor cursor = rest.top();
  rest.pop();
  return cursor;
}

void Ranking::put_back(Groups groups) {
  if (groups.empty()) return;
  heap_.push_back(std::move(groups));
  std::push_heap(heap_.begin(), heap_.end(), ByArrival{});
}

void Ranking::advance() {
  Groups rest;
  Cursor cursor = take_best(rest);
  if (++cursor.next != cursor.candidate->jobs->end()) rest.push(cursor);
  put_back(std::move(rest));
}

void Ranking::drop() {
  Groups rest;
  take_best(rest);
  put_back(std::move(rest));
}

}  // namespace atl::core::scheduling
