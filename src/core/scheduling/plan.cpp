#include "core/scheduling/plan.h"

#include <algorithm>

#include "core/scheduling/estimate.h"
#include "core/scheduling/place.h"
#include "core/scheduling/reserved.h"

namespace atl::core::scheduling {
namespace {

// Room for those who are gone before the time for which it is reserved.
struct Spell {
  Time from;
  Time last;  // to begin
  Room room;
  bool comes = false;  // with the end of a task
};

// What becomes of one node by itself.
struct Prospect {
  size_t node = 0;
  Room room;  // when those that are stopping have ended, and those have yielded who do to it
  Time stopped;
  Room yielding;                            // of that, what is theirs
  Duration grace;                           // the longest of theirs
  std::vector<std::pair<Time, Room>> ends;  // by themselves, the first one first
  std::vector<Spell> spells;
};

bool usable(const State& state, const Placement& at) {
  const Site& site = state.sites.at(at.site);
  const auto node = site.nodes.find(at.node);
  return !site.draining && node != site.nodes.end() && !node->second.gone && !node->second.draining;
}

// Whether the task makes room for all that does not do so itself; of a gang only as a whole.
bool gives_way(const World& world, TaskId task, const Holder& holder) {
  const State& state = *world.state;
  const Terms& terms = state.terms.at(holder.terms).terms;
  if (terms.tier != Tier::opportunistic || holder.stopping || world.yielding.count(task) ||
      handed_on(state, task, holder))
    return false;
  if (terms.gang == 0) return true;
  uint32_t members = 0;
  for (const auto& [index, each] : state.jobs.at(task.job).tasks) {
    const Placement* at = placement_of(each.state);
    members += at && usable(state, *at);
  }
  return members == terms.gang;
}

// When the task ends by itself, at the latest or as expected; zero: nobody knows, or its room is
// not for others.
Time own_end(const World& world, TaskId task, const Holder& holder) {
  if (holder.stopping || world.yielding.count(task) || handed_on(*world.state, task, holder))
    return {};
  return world.estimates ? world.estimates->end_of(*world.state, task, holder, world.now)
                         : holder.until;
}

// When a task has to begin to be gone at that time; zero: nobody knows.
Time last_begin(const Terms& terms, Time until) {
  if (terms.tier == Tier::opportunistic) return kNobodyKnows;
  const Duration stay = terms.wall + terms.grace;
  return terms.wall.us > 0 && stay.us <= until.us ? until - stay : Time{};
}

// What of a task's room is reserved for times after its end: until the first of them it is free, at
// last it is for good.
void add_pledged(const World& world, Prospect& prospect, const std::vector<Pledge>& pledges,
                 Time end, bool comes, Room rest, NamespaceId ns, const Terms& terms) {
  Time over = end, first = kNobodyKnows;
  for (const Pledge& pledge : pledges) {
    over = std::max(over, pledge.reservation->until);
    if (pledge.reservation->from > world.now || !may_use(*pledge.reservation, ns))
      first = std::min(first, pledge.reservation->from);
  }
  if (const Time last = last_begin(terms, first); first > world.now && last >= end)
    prospect.spells.push_back({end, last, rest, comes});
  prospect.ends.emplace_back(over, std::move(rest));
}

bool some_yield_to(const World& world, const Terms& terms) {
  return world.some_yield_to_all && terms.tier != Tier::opportunistic;
}

void add_yielding(const World& world, Prospect& prospect, TaskId task, const Holder& holder,
                  NamespaceId ns, const Terms& terms) {
  const NodeView& view = world.nodes[prospect.node];
  const Terms& theirs = world.state->terms.at(holder.terms).terms;
  const Room left = left_by(world, prospect.node, task, holder, {ns, nullptr, {}, false});
  add(prospect.room, left);
  add(prospect.yielding, left);
  prospect.grace = std::max(prospect.grace, theirs.grace);
  const auto pledged = view.pledged.find(task);
  if (pledged == view.pledged.end()) return;
  Room rest = room_of(*view.node, holder, theirs.resources);
  remove(rest, left);
  add_pledged(world, prospect, pledged->second, world.now, false, std::move(rest), ns, terms);
}

Prospect prospect_of(const World& world, size_t node, NamespaceId ns, const Terms& terms) {
  const NodeView& view = world.nodes[node];
  const Guest lasting{ns, nullptr, {}, false};
  Prospect prospect{node, later_for(view, lasting), world.now, {}, {}, {}, {}};
  std::vector<std::tuple<Time, TaskId, const Holder*>> known;
  const bool some_yield = some_yield_to(world, terms);
  for (const auto& [task, holder] : view.node->holders) {
    if (holder.stopping) prospect.stopped = std::max(prospect.stopped, holder.until);
    if (some_yield && gives_way(world, task, holder))
      add_yielding(world, prospect, task, holder, ns, terms);
    else if (const Time until = own_end(world, task, holder))
      known.emplace_back(until, task, &holder);
  }
  std::sort(known.begin(), known.end());
  for (const auto& [until, task, holder] : known) {
    const Room left = left_by(world, node, task, *holder, lasting);
    prospect.ends.emplace_back(until, left);
    const auto pledged = view.pledged.find(task);
    if (pledged == view.pledged.end()) continue;
    Room rest = room_of(*view.node, *holder, world.state->terms.at(holder->terms).terms.resources);
    remove(rest, left);
    add_pledged(world, prospect, pledged->second, until, true, std::move(rest), ns, terms);
  }
  for (const Lent& lent : view.lent) {
    if (const Time last = last_begin(terms, lent.until); lent.reservation && last >= world.now)
      prospect.spells.push_back({world.now, last, lent.later, false});
  }
  for (const Kept& kept : view.kept) {
    if (!may_use(*kept.reservation, ns))
      prospect.ends.emplace_back(kept.reservation->until, kept.later);
  }
  prospect.ends.insert(prospect.ends.end(), view.given_back.begin(), view.given_back.end());
  if (prospect.ends.size() > known.size())
    std::sort(prospect.ends.begin(), prospect.ends.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  return prospect;
}

// The same in cores and memory alone, of a node of which nothing is reserved.
struct End {
  Time at;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
};

// Whether the node has the cores and the memory before `limit`. Most nodes are out of the question
// by that, and nothing but numbers was looked at.
bool enough_before(const World& world, const NodeView& view, const Terms& terms,
                   std::optional<Time> limit, std::vector<End>& ends) {
  ends.clear();
  Time at = world.now;
  const Resources& resources = terms.resources;
  const bool some_yield = some_yield_to(world, terms);
  for (const auto& [task, holder] : view.node->holders) {
    if (holder.stopping) at = std::max(at, holder.until);
    const bool yields = some_yield && gives_way(world, task, holder);
    const Time end = yields ? world.now : own_end(world, task, holder);
    if (!end || (limit && end >= *limit)) continue;
    const Resources& its = world.state->terms.at(holder.terms).terms.resources;
    ends.push_back({end, its.cpu_milli, its.memory_bytes});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.at < b.at; });
  int64_t cpu = view.later.cpu_milli, memory = view.later.memory_bytes;
  for (auto end = ends.begin(); cpu < resources.cpu_milli || memory < resources.memory_bytes;
       ++end) {
    if (end == ends.end()) return false;
    cpu += end->cpu_milli;
    memory += end->memory_bytes;
    at = std::max(at, end->at);
  }
  return !limit || at < *limit;
}

// What of spells there is at a time: that which comes with the end of tasks, or the rest.
void add_spells(const Prospect& prospect, Time at, bool comes, Room& room) {
  for (const Spell& spell : prospect.spells) {
    if (spell.comes == comes && spell.from <= at && at <= spell.last) add(room, spell.room);
  }
}

// What has come free by then.
Opening opening_at(const Prospect& prospect, Time at, uint32_t members) {
  Opening opening{prospect.node, at, {}, members};
  for (const auto& [until, room] : prospect.ends) {
    if (until > at) break;
    add(opening.ending, room);
  }
  add_spells(prospect, at, true, opening.ending);
  return opening;
}

// Those who yield to it do so if it does not fit beside them.
Opening beside(const Prospect& prospect, const Resources& resources, Opening opening) {
  opening.yielding = prospect.yielding;
  if (prospect.grace.us == 0) return opening;
  Room room = prospect.room;
  remove(room, prospect.yielding);
  add(room, opening.ending);
  add_spells(prospect, opening.at, false, room);
  if (members_in(std::move(room), resources, opening.members) < opening.members)
    opening.grace = prospect.grace;
  return opening;
}

uint32_t members_at(const Prospect& prospect, Time at, const Resources& resources, uint32_t max) {
  if (at < prospect.stopped) return 0;
  Room room = prospect.room;
  add(room, opening_at(prospect, at, 0).ending);
  add_spells(prospect, at, false, room);
  return members_in(std::move(room), resources, max);
}

std::optional<Opening> known_opening(const Prospect& prospect, const Terms& terms,
                                     uint32_t tasks = 1) {
  Opening opening{prospect.node, prospect.stopped, {}, tasks};
  Room room = prospect.room;
  const auto holds = [&] {
    if (prospect.spells.empty() && tasks == 1) return fits(room, terms.resources);
    Room with = room;
    for (const bool comes : {false, true}) add_spells(prospect, opening.at, comes, with);
    return members_in(std::move(with), terms.resources, tasks) == tasks;
  };
  for (auto next = prospect.ends.begin(); !holds(); ++next) {
    if (next == prospect.ends.end()) return std::nullopt;
    add(room, next->second);
    add(opening.ending, next->second);
    opening.at = std::max(opening.at, next->first);
  }
  add_spells(prospect, opening.at, true, opening.ending);
  return beside(prospect, terms.resources, std::move(opening));
}

// How many of the gang fit together by then, at most all.
uint32_t all_at(const std::vector<Prospect>& prospects, Time at, const Terms& terms) {
  uint32_t found = 0;
  for (const Prospect& prospect : prospects) {
    found += members_at(prospect, at, terms.resources, terms.gang - found);
    if (found == terms.gang) break;
  }
  return found;
}

std::vector<Opening> openings_at(const std::vector<Prospect>& prospects, Time at,
                                 const Terms& terms) {
  std::vector<Opening> openings;
  uint32_t left = terms.gang;
  for (const Prospect& prospect : prospects) {
    const uint32_t members = members_at(prospect, at, terms.resources, left);
    if (members == 0) continue;
    openings.push_back(beside(prospect, terms.resources, opening_at(prospect, at, members)));
    left -= members;
    if (left == 0) break;
  }
  return openings;
}

// Where nobody can tell: nodes on which all of it would fit, the emptiest first.
std::vector<Opening> roomiest(const World& world, std::vector<Prospect> prospects,
                              const Terms& terms) {
  std::sort(prospects.begin(), prospects.end(), [](const Prospect& a, const Prospect& b) {
    if (a.room.cpu_milli != b.room.cpu_milli) return a.room.cpu_milli > b.room.cpu_milli;
    return a.node < b.node;
  });
  std::vector<Opening> openings;
  uint32_t left = std::max<uint32_t>(1, terms.gang);
  for (const Prospect& prospect : prospects) {
    const uint32_t members =
        members_in(whole(*world.nodes[prospect.node].node), terms.resources, left);
    if (members == 0) continue;
    openings.push_back({prospect.node, {}, {}, members, prospect.yielding, {}});
    left -= members;
    if (left == 0) return openings;
  }
  return {};
}

constexpr size_t kTimesTried = 64;

std::vector<Opening> soonest_together(const World& world, const std::vector<Prospect>& prospects,
                                      const Terms& terms) {
  std::vector<Time> times{world.now};
  for (const Prospect& prospect : prospects) {
    times.push_back(prospect.stopped);
    for (const auto& [until, room] : prospect.ends) times.push_back(until);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto lacks = [&](Time at) { return all_at(prospects, at, terms) < terms.gang; };
  // What is free for a spell only makes that a search by halves may miss the first time.
  const bool spells = std::any_of(prospects.begin(), prospects.end(),
                                  [](const Prospect& each) { return !each.spells.empty(); });
  const auto soon =
      times.begin() + static_cast<std::ptrdiff_t>(spells ? std::min(times.size(), kTimesTried) : 0);
  auto first = std::find_if_not(times.begin(), soon, lacks);
  if (first == soon) first = std::partition_point(soon, times.end(), lacks);
  return first == times.end() ? roomiest(world, prospects, terms)
                              : openings_at(prospects, *first, terms);
}

}  // namespace

std::vector<Opening> soonest(const World& world, NamespaceId ns, const Terms& terms) {
  std::vector<size_t> nodes;
  Able able(terms.resources);
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    const NodeView& view = world.nodes[i];
    if (!view.awaited && meant(view, terms) && able(view)) nodes.push_back(i);
  }
  const auto prospects = [&] {
    std::vector<Prospect> all;
    for (const size_t node : nodes) all.push_back(prospect_of(world, node, ns, terms));
    return all;
  };
  if (terms.gang > 0) return soonest_together(world, prospects(), terms);
  std::optional<Opening> best;
  std::vector<End> ends;
  for (const size_t node : nodes) {
    const auto limit = best ? std::optional(best->at) : std::nullopt;
    const NodeView& view = world.nodes[node];
    const bool reserved = !view.kept.empty() || !view.pledged.empty() || !view.given_back.empty();
    if (!reserved && !enough_before(world, view, terms, limit, ends)) continue;
    auto opening = known_opening(prospect_of(world, node, ns, terms), terms);
    if (opening && (!best || opening->at < best->at)) best = std::move(opening);
  }
  if (best) return {std::move(*best)};
  return roomiest(world, prospects(), terms);
}

Time soonest_on(const World& world, size_t node, NamespaceId ns, const Terms& terms,
                uint32_t tasks) {
  const auto opening = known_opening(prospect_of(world, node, ns, terms), terms, tasks);
  return opening ? opening->at + opening->grace : Time{};
}

}  // namespace atl::core::scheduling
