#include "sim/checkers/agenda.h"

#include <algorithm>

#include "base/overloaded.h"
#include "sim/checkers/fit.h"

namespace atl::sim {
namespace {

constexpr int64_t kDayMinutes = 24 * 60;

int64_t platform_has(const core::State& state, const std::string& resource) {
  int64_t sum = 0;
  for (const auto& [id, site] : state.sites) {
    if (!of_platform(state, site)) continue;
    for (const auto& [name, node] : site.nodes) {
      if (node.gone) continue;
      if (resource == "cpu") sum += node.capacity.cpu_milli;
      if (resource == "memory") sum += node.capacity.memory_bytes;
      for (const core::Device& device : node.capacity.devices)
        sum += resource == device.kind ? 1000 : 0;
    }
  }
  return sum;
}

std::optional<int64_t> limit_in(const core::Quota& limit, const std::string& resource) {
  if (resource == "cpu") return limit.cpu_milli;
  if (resource == "memory") return limit.memory_bytes;
  if (resource == "tasks") return limit.running;
  const auto found = limit.devices.find(resource);
  if (found == limit.devices.end()) return std::nullopt;
  return int64_t{found->second} * 1000;
}

// Until when the work stays at most; zero: nobody knows.
Time stays_until(const core::Terms& terms, Time since) {
  return terms.wall.us > 0 ? since + terms.wall + terms.grace : Time{};
}

}  // namespace

bool in_force(const core::Calendar& calendar, const core::CalendarEntry& entry, Time at) {
  const int64_t local = at.us / 60'000'000 + calendar.utc_offset;
  const int64_t day = local >= 0 ? local / kDayMinutes : -((kDayMinutes - 1 - local) / kDayMinutes);
  const auto minute = static_cast<uint32_t>(local - day * kDayMinutes);
  const auto named = [&](int64_t which) {  // the first day of all was a Thursday
    return (entry.days >> ((which + 3) % 7)) & 1;
  };
  if (entry.from < entry.until) return named(day) && minute >= entry.from && minute < entry.until;
  return (named(day) && minute >= entry.from) || (named(day + 6) && minute < entry.until);
}

std::optional<int64_t> leaves(const core::CalendarEntry& entry, const std::string& resource,
                              const core::State& state) {
  std::optional<int64_t> limit = limit_in(entry.limit, resource);
  if (!entry.share_milli || resource == "tasks" || resource.find(':') != std::string::npos)
    return limit;
  const int64_t share = platform_has(state, resource) * *entry.share_milli / 1000;
  return std::min(limit.value_or(share), share);
}

bool reserved_for(const core::Reservation& reservation, NamespaceId ns) {
  const auto& all = reservation.namespaces;
  return std::find(all.begin(), all.end(), ns) != all.end();
}

void Agenda::recorded(uint64_t, const core::Event& event, const core::State& after) {
  match(
      event.body, [&](const core::TaskPlaced& e) { place(e, event.at, after); },
      [&](const core::TaskStarted& e) {
        held_.at(e.attempt).since = e.started;
        held_.at(e.attempt).started = true;
      },
      [&](const core::TaskStopping& e) { held_.at(e.attempt).stopping = true; },
      [&](const core::TaskEnded& e) { release(e.attempt, event.at); },
      [&](const core::TaskRetried& e) { release(e.attempt, event.at); },
      [&](const core::JobChanged& e) {
        for (auto& [attempt, held] : held_) {
          if (attempt.job == e.id) held.terms = e.terms;
        }
      },
      [](const auto&) {});
}

void Agenda::place(const core::TaskPlaced& placed, Time at, const core::State& after) {
  const core::Job* job = after.job(placed.attempt.job);
  if (!job) return broke(to_string(placed.attempt) + " is placed without a job");
  const Held held{placed.placement, after.terms_of(*job), job->ns, placed.behind, at};
  held_[placed.attempt] = held;
  if (!held.behind) check_calendar(placed.attempt, held, at, after);
  check_reserved(placed.attempt, held, at, after);
}

// Whoever is in line behind it has its room now, or its place in the line; that it has started may
// be known before.
void Agenda::release(AttemptId attempt, Time at) {
  const auto left = held_.extract(attempt);
  for (auto& [other, held] : held_) {
    if (held.behind != attempt) continue;
    held.behind = left ? left.mapped().behind : std::nullopt;
    if (!held.behind && !held.started) held.since = at;
  }
}

int64_t Agenda::used_by(core::Tier tier, const std::string& resource,
                        const core::State& after) const {
  int64_t sum = 0;
  for (const auto& [attempt, held] : held_) {
    if (held.terms.tier == tier && !held.behind &&
        of_platform(after, after.sites.at(held.placement.site)))
      sum += amount_of(held.terms.resources, held.placement, resource);
  }
  return sum;
}

void Agenda::check_calendar(AttemptId attempt, const Held& held, Time at,
                            const core::State& after) {
  if (!of_platform(after, after.sites.at(held.placement.site))) return;
  std::set<std::string> resources{"cpu", "memory", "tasks"};
  for (const core::HeldDevice& part : held.placement.devices) {
    resources.insert(part.kind);
    resources.insert(part.kind + ":" + part.model);
  }
  for (const core::CalendarEntry& entry : after.calendar.entries) {
    if (entry.tier != held.terms.tier || !in_force(after.calendar, entry, at)) continue;
    for (const std::string& resource : resources) {
      if (amount_of(held.terms.resources, held.placement, resource) == 0) continue;
      const auto limit = leaves(entry, resource, after);
      if (limit && used_by(entry.tier, resource, after) > *limit)
        broke(to_string(attempt) + " is placed over the calendar's limit of " + resource +
              " (entry " + entry.name + ")");
    }
  }
}

void Agenda::check_reserved(AttemptId attempt, const Held& held, Time at,
                            const core::State& after) {
  check_at(attempt, held, at, after);
  // Who has reserved room there may use it, whoever comes after.
  const bool own =
      std::any_of(after.reservations.begin(), after.reservations.end(), [&](const auto& entry) {
        const core::Reservation& each = entry.second;
        return each.from <= at && at < each.until && reserved_for(each, held.ns);
      });
  if (held.terms.tier == core::Tier::opportunistic || held.behind || own) return;
  const Time until = stays_until(held.terms, at);
  for (const auto& [id, reservation] : after.reservations) {
    if (reservation.from > at && (!until || until > reservation.from))
      check_at(attempt, held, reservation.from, after);
  }
}

// The room on the node at that time: what is there then, and what of the reserved room those for
// whom it is do not have yet, must be no more than the node has.
void Agenda::check_at(AttemptId attempt, const Held& held, Time at, const core::State& after) {
  const core::Placement& place = held.placement;
  const core::Node& node = after.sites.at(place.site).nodes.at(place.node);
  Amount all, of_members, reserved, own;
  std::vector<const core::Reservation*> others;
  for (const auto& [id, reservation] : after.reservations) {
    if (reservation.from > at || reservation.until <= at) continue;
    for (const core::ReservedPart& part : reservation.parts) {
      if (part.site != place.site || part.node != place.node) continue;
      if (reserved_for(reservation, held.ns)) {
        own.cpu_milli += part.cpu_milli;
        own.memory_bytes += part.memory_bytes;
        continue;
      }
      reserved.cpu_milli += part.cpu_milli;
      reserved.memory_bytes += part.memory_bytes;
      reserved.units.insert(part.units.begin(), part.units.end());
      others.push_back(&reservation);
    }
  }
  if (others.empty()) return;
  for (const auto& [other, each] : held_) {
    if (each.behind || each.placement.site != place.site || each.placement.node != place.node)
      continue;
    const bool may = std::any_of(others.begin(), others.end(), [&](const core::Reservation* one) {
      return reserved_for(*one, each.ns);
    });
    // Of those that may use it, what they have counts even if it ends before: it is theirs then.
    // Work that yields is out of the way when a reservation begins, if anybody wants the room.
    const Time until = stays_until(each.terms, each.since);
    const bool yields = at > held.since && each.terms.tier == core::Tier::opportunistic;
    const bool gone = each.stopping || yields || (until && until <= at);
    if (gone && !may) continue;
    Amount& to = may ? of_members : all;
    to.cpu_milli += each.terms.resources.cpu_milli;
    to.memory_bytes += each.terms.resources.memory_bytes;
    if (each.ns != held.ns) continue;
    own.cpu_milli -= each.terms.resources.cpu_milli;
    own.memory_bytes -= each.terms.resources.memory_bytes;
  }
  // What is within its own reservation is its own, even where work that was there before leaves too
  // little for all that have reserved.
  const auto over = [](int64_t theirs, int64_t members, int64_t kept, int64_t has) {
    return theirs + std::max(members, kept) > has;
  };
  const std::string name = to_string(attempt) + " is given room on " + place.node +
                           " that is reserved for others (" + others.front()->name + "): ";
  if (own.cpu_milli < 0 &&
      over(all.cpu_milli, of_members.cpu_milli, reserved.cpu_milli, node.capacity.cpu_milli))
    broke(name + "cores");
  if (held.terms.resources.memory_bytes > 0 && own.memory_bytes < 0 &&
      over(all.memory_bytes, of_members.memory_bytes, reserved.memory_bytes,
           node.capacity.memory_bytes))
    broke(name + "memory");
  for (const core::HeldDevice& part : place.devices) {
    if (reserved.units.count(part.unit)) broke(name + "device " + part.unit);
  }
}

}  // namespace atl::sim
