#include "core/scheduling/rank.h"

#include <algorithm>

namespace atl::core::scheduling {

Ranking::Ranking(const World& world, Tier tier, bool own_only)
    : world_(world), tier_(tier), own_only_(own_only) {
  branches_.emplace_back();
  for (const Candidate& candidate : candidates(world, tier, own_only)) {
    const CohortId cohort = world.state->namespaces.at(candidate.ns).stake.cohort;
    const int at = add_branch({{}, candidate.ns, {}}, branch_of(cohort));
    branches_[static_cast<size_t>(at)].users = candidate.users;
  }
  const auto later = [this](int a, int b) { return behind(b, a); };
  for (Branch& branch : branches_)
    std::make_heap(branch.members.begin(), branch.members.end(), later);
  look_into(0);
}

int Ranking::branch_of(CohortId cohort) {
  if (!cohort) return 0;
  if (const auto known = cohorts_.find(cohort); known != cohorts_.end()) return known->second;
  const int parent = branch_of(world_.state->cohorts.at(cohort).stake.cohort);
  return cohorts_[cohort] = add_branch({cohort, {}, {}}, parent);
}

int Ranking::add_branch(Payer who, int parent) {
  const int at = static_cast<int>(branches_.size());
  Branch& branch = branches_.emplace_back();
  branch.who = who;
  branch.parent = parent;
  branch.share = standing(world_, who, tier_);
  branches_[static_cast<size_t>(parent)].members.push_back(at);
  return at;
}

// Whether `a` is served before `b`. One that was not looked into yet comes first among equals, so
// that it will be.
bool Ranking::behind(int a, int b) const {
  const Branch& x = branches_[static_cast<size_t>(a)];
  const Branch& y = branches_[static_cast<size_t>(b)];
  if (x.share != y.share) return x.share < y.share;
  if (x.open != y.open) return !x.open;
  return x.open ? x.first.job < y.first.job : a < b;
}

bool Ranking::dropped(const Branch& leaf, ShapeId shape) const {
  if (!any_dropped_) return false;
  for (int at = leaf.parent; at > 0; at = branches_[static_cast<size_t>(at)].parent) {
    const auto& shapes = branches_[static_cast<size_t>(at)].dropped;
    if (shapes && shapes->contains(shape)) return true;
  }
  return false;
}

const Ranking::Cursor* Ranking::best_queue(const Branch& leaf) const {
  const Cursor* best = nullptr;
  for (const Cursor& cursor : leaf.queues) {
    if (cursor.next == cursor.end || world_.full.contains(cursor.shape) ||
        dropped(leaf, cursor.shape))
      continue;
    if (!best || *cursor.next < *best->next) best = &cursor;
  }
  return best;
}

// Whether one more task of the shape would be more than the namespace is sure of.
bool Ranking::borrows(NamespaceId ns, ShapeId shape) const {
  Terms terms;
  const Resources& resources = world_.state->shapes.at(shape).shape.resources;
  if (resources.devices.empty()) {
    terms.resources.cpu_milli = resources.cpu_milli;
    terms.resources.memory_bytes = resources.memory_bytes;
  } else {
    terms.resources = resources;
  }
  return would_borrow(world_, ns, terms);
}

// Opens the branch; false when nothing is left in it.
bool Ranking::look_into(int at) {
  Branch* branch = &branches_[static_cast<size_t>(at)];
  branch->open = true;
  if (branch->users) {
    const auto* users = std::exchange(branch->users, nullptr);
    const NamespaceId ns = branch->who.ns;
    for (const auto& [user, queues] : *users) {
      const int member = add_branch({{}, ns, user}, at);
      for (const auto& [shape, queue] : queues) {
        if (!world_.full.contains(shape) && !(own_only_ && borrows(ns, shape)))
          branches_[static_cast<size_t>(member)].queues.push_back(
              {shape, queue.begin(), queue.end()});
      }
    }
    branch = &branches_[static_cast<size_t>(at)];  // adding members may have moved it
    std::make_heap(branch->members.begin(), branch->members.end(),
                   [this](int a, int b) { return behind(b, a); });
  }
  return refresh(at);
}

// Brings `first` up to date with what is below; false when nothing is left.
bool Ranking::refresh(int at) {
  Branch& branch = branches_[static_cast<size_t>(at)];
  if (branch.who.user) {
    const Cursor* queue = best_queue(branch);
    if (queue) branch.first = *queue->next;
    return queue != nullptr;
  }
  return choose(at);
}

// Makes sure that the member on top of the heap has been looked into.
bool Ranking::choose(int at) {
  const auto later = [this](int a, int b) { return behind(b, a); };
  for (;;) {
    std::vector<int>& members = branches_[static_cast<size_t>(at)].members;
    if (members.empty()) return false;
    const int top = members.front();
    if (branches_[static_cast<size_t>(top)].open) {
      branches_[static_cast<size_t>(at)].first = branches_[static_cast<size_t>(top)].first;
      return true;
    }
    std::pop_heap(members.begin(), members.end(), later);
    members.pop_back();
    if (!look_into(top)) continue;
    auto& again = branches_[static_cast<size_t>(at)].members;  // looking into one may move it
    again.push_back(top);
    std::push_heap(again.begin(), again.end(), later);
  }
}

int Ranking::leaf() const {
  int at = 0;
  while (!branches_[static_cast<size_t>(at)].who.user) {
    const Branch& branch = branches_[static_cast<size_t>(at)];
    if (branch.members.empty()) return -1;
    at = branch.members.front();
  }
  return at;
}

// The leaf on the best path has changed: it and those above it find their new places.
void Ranking::update_path(int from) {
  const auto later = [this](int a, int b) { return behind(b, a); };
  for (int at = from; at != 0; at = branches_[static_cast<size_t>(at)].parent) {
    const int parent = branches_[static_cast<size_t>(at)].parent;
    auto& members = branches_[static_cast<size_t>(parent)].members;
    std::pop_heap(members.begin(), members.end(), later);
    members.pop_back();
    branches_[static_cast<size_t>(at)].share =
        standing(world_, branches_[static_cast<size_t>(at)].who, tier_);
    if (!refresh(at)) continue;
    auto& again = branches_[static_cast<size_t>(parent)].members;
    again.push_back(at);
    std::push_heap(again.begin(), again.end(), later);
  }
  refresh(0);
}

std::optional<Ranking::Head> Ranking::best() {
  for (;;) {
    const int at = leaf();
    if (at < 0) return std::nullopt;
    const Branch& branch = branches_[static_cast<size_t>(at)];
    const Cursor* queue = best_queue(branch);
    if (queue && *queue->next == branch.first)
      return Head{branch.who.ns, branch.who.user, queue->shape, queue->next->job};
    update_path(at);  // the world has become full for what was its first
  }
}

void Ranking::charged() { update_path(leaf()); }

void Ranking::advance() {
  const int at = leaf();
  Branch& branch = branches_[static_cast<size_t>(at)];
  for (Cursor& cursor : branch.queues) {
    if (cursor.next != cursor.end && *cursor.next == branch.first) ++cursor.next;
  }
  update_path(at);
}

void Ranking::drop(CohortId cohort) {
  const int at = leaf();
  const Branch& branch = branches_[static_cast<size_t>(at)];
  const ShapeId shape = best_queue(branch)->shape;
  const auto known = cohorts_.find(cohort);
  Branch& above =
      branches_[static_cast<size_t>(known == cohorts_.end() ? branch.parent : known->second)];
  if (!above.dropped) above.dropped.emplace(world_.state->counters.shape);
  above.dropped->insert(shape);
  any_dropped_ = true;
  // The others find out when their turn comes; this one is on the best path now.
  update_path(at);
}

}  // namespace atl::core::scheduling
