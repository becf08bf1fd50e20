#include "core/scheduling/whatif.h"

#include <algorithm>
#include <functional>

#include "core/decide.h"
#include "core/scheduling/bounds.h"
#include "core/scheduling/estimate.h"
#include "core/scheduling/filter.h"
#include "core/scheduling/flags.h"
#include "core/scheduling/place.h"
#include "core/scheduling/plan.h"
#include "core/scheduling/round.h"
#include "core/site_choice.h"

namespace atl::core::scheduling {
namespace {

constexpr size_t kAlternativesMax = 6;
constexpr size_t kSoonerMax = 4;
constexpr int64_t kMib = int64_t{1} << 20;
// Of a state for which more rounds are tried, to find out who would yield. In a larger one each is
// dear, and nobody would have the time to confirm what they say (core/forecast.h).
constexpr size_t kTriedJobsMax = 500;

std::optional<Place> room_now(const World& world, const World* then, const Job& job,
                              const Terms& terms, bool sure) {
  if (over_array_limit(world, job, terms) || over_calendar(world, terms) ||
      over_quota(world, job.ns, terms) || (then && over_quota(*then, job.ns, terms)))
    return std::nullopt;
  return find_place(world, terms, allowance(world, then, job.ns, terms, sure), job.ns);
}

class Trial {
 public:
  Trial(const World& world, const Job& job) : world_(world), job_(job) {}

  // The place of its first task, if all that has to start together does.
  std::optional<Place> starts(const Terms& terms) const {
    if (terms.gang == 0) return room_now(world_, world_.then.get(), job_, terms, false);
    World trial = world_;
    std::optional<Place> first;
    for (uint32_t i = 0; i < terms.gang; ++i) {
      const auto found = room_now(trial, trial.then.get(), job_, terms, false);
      if (!found) return std::nullopt;
      take(trial, job_, terms, found->placement, found->node);
      if (trial.then) {
        World then = *trial.then;
        promise(then, job_, terms);
        trial.then = std::make_shared<const World>(std::move(then));
      }
      if (!first) first = found;
    }
    return first;
  }

 private:
  const World& world_;
  const Job& job_;
};

// One that comes when others have been served, as the round would serve it: at once, or when so
// many tasks have made room. Nullopt: it does not start, or not before somebody else is gone who
// stops anyway.
std::optional<uint32_t> yields_for(const Served& served, const Job& job, const Terms& terms) {
  World world = served.world;
  std::optional<Yielders> yielders = served.yielders;
  if (yielders) yielders->look_at(world);
  const bool sure = !would_borrow(world, job.ns, terms.resources);
  uint32_t yields = 0, waits = 0;
  for (uint32_t i = 0; i < std::max<uint32_t>(1, terms.gang); ++i) {
    const World* then = yielders ? &yielders->then() : nullptr;
    if (const auto found = room_now(world, then, job, terms, sure)) {
      take(world, job, terms, found->placement, found->node);
      if (yielders) yielders->placed(job, terms, found->placement);
      continue;
    }
    if (!yielders || over_array_limit(world, job, terms) || over_calendar(world, terms))
      return std::nullopt;
    // Nobody stops for what is free and may be borrowed.
    if (sure && !terms.resources.devices.empty() && room_now(world, then, job, terms, false))
      return std::nullopt;
    const auto yielding = yielders->make_room(job, terms, sure);
    if (!yielding) return std::nullopt;
    yielders->settle(*yielding, job, terms, world);
    yields += static_cast<uint32_t>(yielding->stops.size());
    ++waits;
  }
  if (waits > 0 && yields == 0) return std::nullopt;
  return yields;
}

// The largest value below `asked`, in steps, with which it starts; zero: none.
int64_t largest(int64_t asked, int64_t step, const std::function<bool(int64_t)>& starts) {
  int64_t low = 0, high = (asked - 1) / step;  // in steps; low starts, or is nothing
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (starts(middle * step))
      low = middle;
    else
      high = middle - 1;
  }
  return low * step;
}

// Less of one device: half of it, or of the part that is asked for; false: there is no less.
bool halve_part(const State& state, Resources& resources, size_t at) {
  constexpr int32_t kShareMin = 50;
  DeviceRequest& request = resources.devices[at];
  request.count = 1;
  if (takes_slice(request)) return false;
  if (request.memory_bytes > 0) {
    request.memory_bytes = request.memory_bytes / 2 / kMib * kMib;
    if (request.memory_bytes == 0) return false;
    settle_parts(state, resources);
    return true;
  }
  request.share_milli /= 2;
  return request.share_milli >= kShareMin;
}

// One less, and half of it.
std::vector<uint32_t> fewer(uint32_t count) {
  if (count < 2) return {};
  return count < 4 ? std::vector{count - 1} : std::vector{count - 1, count / 2};
}

// Less of each thing that is asked for, the nearest first where it is counted in few, and devices
// of any model.
std::vector<Terms> smaller(const State& state, const Terms& asked) {
  std::vector<Terms> list;
  const auto offer = [&](const auto& make) {
    Terms terms = asked;
    if (make(terms)) list.push_back(std::move(terms));
  };
  for (size_t i = 0; i < asked.resources.devices.size(); ++i) {
    offer([&](Terms& terms) {
      DeviceRequest& request = terms.resources.devices[i];
      request.also.clear();
      return !std::exchange(request.model, "").empty();
    });
    for (const uint32_t count : fewer(asked.resources.devices[i].count)) {
      offer([&](Terms& terms) {
        terms.resources.devices[i].count = count;
        return true;
      });
    }
    offer([&](Terms& terms) {
      return terms.resources.devices[i].count == 1 && halve_part(state, terms.resources, i);
    });
  }
  offer([](Terms& terms) {
    int64_t& cpus = terms.resources.cpu_milli;
    cpus = cpus >= 2000 ? cpus / 2000 * 1000 : cpus / 2;
    return cpus > 0;
  });
  offer([](Terms& terms) {
    int64_t& memory = terms.resources.memory_bytes;
    memory = memory / 2 / kMib * kMib;
    return memory > 0;
  });
  for (const uint32_t members : fewer(asked.gang)) {
    offer([&](Terms& terms) {
      terms.gang = members;
      return true;
    });
  }
  return list;
}

// Whether something is offered already that begins with the same flag.
bool offers(const std::vector<Alternative>& list, const std::string& change) {
  const std::string flag = change.substr(0, change.find(' ') + 1);
  return std::any_of(list.begin(), list.end(),
                     [&](const Alternative& each) { return each.change.starts_with(flag); });
}

class Search {
 public:
  Search(const Served& served, const Job& job, const Terms& terms)
      : served_(served),
        world_(served.world),
        state_(*world_.state),
        job_(job),
        trial_(world_, job),
        terms_(terms) {}

  std::vector<Alternative> run() {
    fewer_cores();
    less_memory();
    for (size_t i = 0; i < terms_.resources.devices.size(); ++i) other_devices(i);
    if (found_.empty()) less_of_all();
    shorter();
    smaller_gang();
    elsewhere();
    other_tier();
    if (terms_.tier != Tier::opportunistic && served_.yielders && small()) smaller_by_yielding();
    if (found_.size() > kAlternativesMax) found_.resize(kAlternativesMax);
    return std::move(found_);
  }

 private:
  bool add(const Terms& terms, uint32_t yields) {
    std::string change = flags_between(terms_, terms);
    if (change.empty()) return false;
    found_.push_back({std::move(change), terms, world_.now, yields});
    return true;
  }
  bool offer(const Terms& terms) { return trial_.starts(terms) && add(terms, 0); }

  void fewer_cores() {
    Terms terms = terms_;
    const auto starts = [&](int64_t value) {
      terms.resources.cpu_milli = value;
      return trial_.starts(terms).has_value();
    };
    int64_t cores = largest(terms_.resources.cpu_milli, 1000, starts);
    if (cores == 0)
      cores = largest(std::min<int64_t>(terms_.resources.cpu_milli, 1000), 250, starts);
    terms.resources.cpu_milli = cores;
    if (cores > 0) offer(terms);
  }
  void less_memory() {
    Terms terms = terms_;
    const int64_t memory = largest(terms_.resources.memory_bytes, 256 * kMib, [&](int64_t value) {
      terms.resources.memory_bytes = value;
      return trial_.starts(terms).has_value();
    });
    terms.resources.memory_bytes = memory;
    if (memory > 0) offer(terms);
  }
  void less_of_all() {
    Resources r = terms_.resources;
    for (int halves = 0; halves < 6; ++halves) {
      Terms terms = terms_;
      r.cpu_milli = std::min(r.cpu_milli, std::max<int64_t>(1000, r.cpu_milli / 2000 * 1000));
      if (r.memory_bytes > kMib) r.memory_bytes = r.memory_bytes / 2 / kMib * kMib;
      for (DeviceRequest& request : r.devices) request.count = std::max(1u, request.count / 2);
      terms.resources = r;
      if (offer(terms)) return;
    }
  }
  // Any model, else fewer, else a part of one.
  void other_devices(size_t at) {
    constexpr int kHalves = 3;
    Terms terms = terms_;
    DeviceRequest& request = terms.resources.devices[at];
    request.also.clear();
    if (!std::exchange(request.model, "").empty() && offer(terms)) return;
    terms = terms_;
    DeviceRequest& fewer = terms.resources.devices[at];
    for (--fewer.count; fewer.count > 0; --fewer.count) {
      if (offer(terms)) return;
    }
    for (int i = 0; i < kHalves && halve_part(state_, terms.resources, at); ++i) {
      if (offer(terms)) return;
    }
  }
  // Room that is lent until somebody else's time.
  void shorter() {
    std::set<Duration> spans;
    for (const NodeView& view : world_.nodes) {
      for (const Lent& lent : view.lent) {
        const Duration span = lent.until - world_.now - terms_.grace;
        if (span >= minutes(1)) spans.insert({span.us / 60'000'000 * 60'000'000});
      }
    }
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
      Terms terms = terms_;
      if (terms_.wall.us > 0 && terms_.wall <= *span) continue;
      terms.wall = *span;
      if (offer(terms)) return;
    }
  }
  void smaller_gang() {
    if (terms_.gang < 2) return;
    Terms terms = terms_;
    const int64_t members = largest(terms_.gang, 1, [&](int64_t value) {
      terms.gang = static_cast<uint32_t>(value);
      return trial_.starts(terms).has_value();
    });
    terms.gang = static_cast<uint32_t>(members);
    if (members > 0) offer(terms);
  }
  void elsewhere() {
    if (named_sites(terms_.site).empty()) return;
    const Site* sole = sole_site(state_, terms_.site);
    if (!leaves_choice(terms_.site) && (!sole || only_by_name(state_, *sole)))
      return;  // it was asked for to pretend
    Terms terms = terms_;
    terms.site.clear();
    offer(terms);
  }
  // One that is served before, to which others may yield, or one that the calendar leaves more and
  // that may use what is reserved until then. Services are something else.
  void other_tier() {
    Terms terms = terms_;
    for (const Tier tier : {Tier::batch, Tier::interactive, Tier::opportunistic}) {
      terms.tier = tier;
      if (tier == terms_.tier) continue;
      if (tier > terms_.tier ? offer(terms) : small() && offer_served(terms)) return;
    }
  }
  bool small() const { return state_.jobs.size() <= kTriedJobsMax; }
  bool offer_served(const Terms& terms) {
    const auto yields = yields_for(turn_of(terms), job_, terms);
    return yields && add(terms, *yields);
  }
  // The world when it is its turn, if it comes last of its tier.
  const Served& turn_of(const Terms& terms) {
    const auto at = [&](bool borrowing) -> const Served& {
      auto& turn = turns_[{terms.tier, borrowing}];
      if (!turn) turn = serve_until(state_, world_.now, job_.id, terms.tier, borrowing);
      return *turn;
    };
    const Served& sure = at(false);
    return would_borrow(sure.world, job_.ns, terms.resources) ? at(true) : sure;
  }
  // What is smaller and starts anyway is known already.
  void smaller_by_yielding() {
    for (const Terms& terms : smaller(state_, terms_)) {
      if (offers(found_, flags_between(terms_, terms))) continue;
      offer_served(terms);
    }
  }

  const Served& served_;
  const World& world_;
  const State& state_;
  const Job& job_;
  const Trial trial_;
  const Terms& terms_;
  std::map<std::pair<Tier, bool>, std::optional<Served>> turns_;
  std::vector<Alternative> found_;
};

// When there is room for all of it; zero: nobody knows, or it is not for want of room.
Time room_at(const World& world, const Job& job, const Terms& terms) {
  if (over_array_limit(world, job, terms) || over_limits(world, job.ns, terms)) return {};
  Time at;
  for (const Opening& opening : soonest(world, job.ns, terms))
    at = std::max(at, opening.at ? opening.at + opening.grace : Time{});
  return at;
}

// Those of them for which there is room before the request itself has some.
std::vector<Alternative> find_sooner(const World& world, const Job& job, const Prospects& found,
                                     const Terms& asked) {
  std::vector<Alternative> list;
  for (const Terms& terms : smaller(*world.state, asked)) {
    std::string change = flags_between(asked, terms);
    if (change.empty() || offers(found.alternatives, change) || offers(list, change) ||
        list.size() >= kSoonerMax)
      continue;
    const Time starts = room_at(world, job, terms);
    if (starts && (!found.expected || starts < found.expected))
      list.push_back({std::move(change), terms, starts});
  }
  return list;
}

// With less time it may go before others who need theirs; where and when, only a run ahead tells.
void add_shorter(const Prospects& found, const Terms& asked, std::vector<Alternative>& list) {
  for (const int64_t part : {2, 4}) {
    Terms terms = asked;
    terms.wall = {asked.wall.us / part / 60'000'000 * 60'000'000};
    if (terms.wall.us == 0 || offers(found.alternatives, "--time ")) return;
    list.push_back({flags_between(asked, terms), terms, {}});
  }
}

std::optional<Alternative> find_nearest(const World& world, const Job& job, const Terms& asked) {
  const State& state = *world.state;
  if (feasible(state, asked) && !beyond_quota(state, job.ns, asked)) return std::nullopt;
  const auto terms = nearest_possible(state, job.ns, asked);
  if (!terms) return std::nullopt;
  std::string change = flags_between(asked, *terms);
  if (change.empty()) return std::nullopt;
  return Alternative{std::move(change), *terms, room_at(world, job, *terms)};
}

}  // namespace

Prospects prospects(const State& state, const Job& job, const Terms& terms, Time now) {
  Served served = serve_until(state, now, job.id, Tier::opportunistic, true);
  World& world = served.world;
  Prospects found;
  if (const auto place = Trial(world, job).starts(terms)) {
    found.site = state.sites.at(place->placement.site).name;
    found.node = place->placement.node;
    found.by = found.expected = now;
    return found;
  }
  found.by = room_at(world, job, terms);
  const bool begun = has_placed(job);  // what its tasks have got cannot be changed
  if (!begun) found.alternatives = Search(served, job, terms).run();
  const Estimates estimates(state, kCertain / 2);
  world.estimates = &estimates;
  found.expected = room_at(world, job, terms);
  if (begun) return found;
  found.sooner = find_sooner(world, job, found, terms);
  add_shorter(found, terms, found.sooner);
  found.nearest = find_nearest(world, job, terms);
  if (found.nearest && Trial(world, job).starts(found.nearest->terms)) {
    std::erase_if(found.alternatives,
                  [&](const Alternative& each) { return each.change == found.nearest->change; });
    found.nearest->starts = now;
    found.alternatives.insert(found.alternatives.begin(), *std::exchange(found.nearest, {}));
  }
  return found;
}

}  // namespace atl::core::scheduling
