#include "core/scheduling/rank.h"

#include <algorithm>

namespace atl::core::scheduling {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return b.first < a.first; };

}  // namespace

Ranking::Ranking(Counting& counting, Tier tier, bool own_only)
    : world_(counting.world()), counting_(counting), tier_(tier), own_only_(own_only) {
  branches_.emplace_back();
  const std::vector<Candidate> all = candidates(world_, tier, own_only);
  branches_.reserve(all.size() * 2);
  for (const Candidate& candidate : all) {
    const CohortId cohort = world_.state->namespaces.at(candidate.ns).stake.cohort;
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
  branch.before = counting_.before(who, tier_);
  branch.share = standing(world_, who, branch.before);
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

const Ranking::Cursor* Ranking::best_queue(Branch& leaf) {
  for (std::vector<Cursor>& queues = leaf.queues; !queues.empty(); queues.pop_back()) {
    const Cursor& top = queues.front();
    if (!world_.full.contains(top.shape) && !dropped(leaf, top.shape)) return &top;
    std::pop_heap(queues.begin(), queues.end(), kLater);
  }
  return nullptr;
}

// What the namespace may have more in this round; what others make room for is not lost.
Left Ranking::left_to(NamespaceId ns) const {
  Left left;
  if (own_only_) lower_to_own(world_, ns, left);
  const bool more_may_come = own_only_ ? world_.some_yield : world_.some_yield_to_all;
  if (!more_may_come) lower_to_quota(world_, ns, left);
  left.devices_milli.resize(world_.device_keys.size(), INT64_MAX);
  return left;
}

// Leaves out what is lost, all at once: one by one would cost the square of the shapes.
void Ranking::prune(Branch& leaf) {
  const Left left = left_to(leaf.who.ns);
  std::erase_if(leaf.queues, [&](const Cursor& cursor) {
    return world_.full.contains(cursor.shape) || dropped(leaf, cursor.shape) ||
           !holds(left, world_.ask(cursor.shape));
  });
  std::make_heap(leaf.queues.begin(), leaf.queues.end(), kLater);
}

void Ranking::add_users(int at) {
  const NamespaceId ns = branches_[static_cast<size_t>(at)].who.ns;
  const auto* users = std::exchange(branches_[static_cast<size_t>(at)].users, nullptr);
  for (const auto& [user, queues] : *users) {
    const int member = add_branch({{}, ns, user}, at);
    branches_[static_cast<size_t>(member)].waiting = &queues;
  }
  std::vector<int>& members = branches_[static_cast<size_t>(at)].members;
  std::make_heap(members.begin(), members.end(), [this](int a, int b) { return behind(b, a); });
}

void Ranking::line_up(Branch& leaf) {
  const Queues& waiting = *std::exchange(leaf.waiting, nullptr);
  const Left left = left_to(leaf.who.ns);
  leaf.queues.reserve(waiting.size());
  for (const auto& [shape, queue] : waiting) {
    if (!world_.full.contains(shape) && holds(left, world_.ask(shape)))
      leaf.queues.push_back({queue.first(), shape, queue.begin()});
  }
  std::make_heap(leaf.queues.begin(), leaf.queues.end(), kLater);
}

// Opens the branch; false when nothing is left in it.
bool Ranking::look_into(int at) {
  Branch& branch = branches_[static_cast<size_t>(at)];
  branch.open = true;
  if (branch.waiting) line_up(branch);
  if (branch.users) add_users(at);
  return refresh(at);
}

// Brings `first` up to date with what is below; false when nothing is left.
bool Ranking::refresh(int at) {
  Branch& branch = branches_[static_cast<size_t>(at)];
  if (branch.who.user) {
    const Cursor* queue = best_queue(branch);
    if (queue) branch.first = queue->first;
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

bool Ranking::borrows(NamespaceId ns, ShapeId shape) const {
  Left own;
  lower_to_own(world_, ns, own);
  own.devices_milli.resize(world_.device_keys.size(), INT64_MAX);
  return !holds(own, world_.ask(shape));
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
    Branch& branch = branches_[static_cast<size_t>(at)];
    branch.share = standing(world_, branch.who, branch.before);
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
    Branch& branch = branches_[static_cast<size_t>(at)];
    const Cursor* queue = best_queue(branch);
    if (queue && own_only_ && borrows(branch.who.ns, queue->shape)) {
      prune(branch);
    } else if (queue && queue->first == branch.first) {
      return Head{branch.who.ns, branch.who.user, queue->shape, queue->first.job};
    }
    update_path(at);  // what was its first is out of the question now
  }
}

void Ranking::charged() { update_path(leaf()); }

void Ranking::advance() {
  const int at = leaf();
  std::vector<Cursor>& queues = branches_[static_cast<size_t>(at)].queues;
  std::pop_heap(queues.begin(), queues.end(), kLater);
  Cursor& last = queues.back();
  if ((++last.next).done()) {
    queues.pop_back();
  } else {
    last.first = *last.next;
    std::push_heap(queues.begin(), queues.end(), kLater);
  }
  update_path(at);
}

void Ranking::drop(CohortId cohort) {
  const int at = leaf();
  Branch& branch = branches_[static_cast<size_t>(at)];
  const ShapeId shape = best_queue(branch)->shape;
  const auto known = cohorts_.find(cohort);
  Branch& above =
      branches_[static_cast<size_t>(known == cohorts_.end() ? branch.parent : known->second)];
  if (!above.dropped) above.dropped.emplace(world_.state->counters.shape);
  above.dropped->insert(shape);
  any_dropped_ = true;
  prune(branch);
  // The others find out when their turn comes; this one is on the best path now.
  update_path(at);
}

}  // namespace atl::core::scheduling
