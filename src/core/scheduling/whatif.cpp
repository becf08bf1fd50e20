#include "core/scheduling/whatif.h"

#include <algorithm>
#include <functional>

#include "base/amount.h"
#include "core/scheduling/estimate.h"
#include "core/scheduling/filter.h"
#include "core/scheduling/place.h"
#include "core/scheduling/plan.h"
#include "core/scheduling/round.h"
#include "core/scheduling/yield.h"

namespace atl::core::scheduling {
namespace {

constexpr size_t kAlternativesMax = 6;
constexpr size_t kSoonerMax = 4;

class Trial {
 public:
  Trial(const World& world, const Job& job) : world_(world), job_(job) {}

  // The place of its first task, if all that has to start together does.
  std::optional<Place> starts(const Terms& terms) const {
    if (terms.gang == 0) return one(world_, terms);
    World trial = world_;
    std::optional<Place> first;
    for (uint32_t i = 0; i < terms.gang; ++i) {
      const auto found = one(trial, terms);
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
  std::optional<Place> one(const World& world, const Terms& terms) const {
    if (over_array_limit(world, job_, terms) || over_calendar(world, terms) ||
        over_quota(world, job_.ns, terms) ||
        (world.then && over_quota(*world.then, job_.ns, terms)))
      return std::nullopt;
    return find_place(world, terms, allowance(world, job_.ns, terms), job_.ns);
  }

  const World& world_;
  const Job& job_;
};

// "a100|v100:2", "a100:0.5", "2"; empty: people have no word for it.
std::string device_word(const DeviceRequest& request) {
  std::string models;
  for (const std::string& model : models_of(request))
    models +=
        (models.empty() ? "" : "|") + (model.empty() && !request.also.empty() ? "any" : model);
  std::string amount = std::to_string(request.count);
  if (!takes_whole(request)) {
    if (request.count > 1) return {};
    amount = takes_slice(request)       ? request.profile
             : request.memory_bytes > 0 ? format_bytes(request.memory_bytes)
                                        : format_milli(request.share_milli);
  }
  return (models.empty() ? "" : models + ":") + amount;
}

// All of the devices as they are written on the command line: such a flag stands for all of its
// kind. Empty: there is no way to write it.
std::string device_flags(const Resources& resources) {
  std::string gpus, others;
  std::set<std::string> words;
  for (const DeviceRequest& request : resources.devices) {
    const std::string word = device_word(request);
    if (word.empty() || !words.insert(request.kind + ":" + word).second) return {};
    if (request.kind == "gpu")
      gpus += (gpus.empty() ? "" : ",") + word;
    else
      others += " --device " + request.kind + ":" + word;
  }
  if (gpus.find('|') != std::string::npos)
    gpus = "'" + gpus + "'";  // shells have their own use of it
  if (gpus.empty()) return others.empty() ? others : others.substr(1);
  return "--gpus " + gpus + others;
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

class Search {
 public:
  Search(const World& world, const Job& job, const Terms& terms)
      : world_(world), trial_(world, job), terms_(terms) {}

  std::vector<Alternative> run() {
    fewer_cores();
    less_memory();
    if (found_.empty()) less_of_both();
    other_devices();
    shorter();
    smaller_gang();
    elsewhere();
    if (found_.size() > kAlternativesMax) found_.resize(kAlternativesMax);
    return std::move(found_);
  }

 private:
  bool offer(std::string change, const Terms& terms) {
    if (change.empty() || !trial_.starts(terms)) return false;
    found_.push_back({std::move(change), terms, world_.now});
    return true;
  }
  void fewer_cores() {
    Terms terms = terms_;
    const int64_t cores = largest(terms_.resources.cpu_milli, 1000, [&](int64_t value) {
      terms.resources.cpu_milli = value;
      return trial_.starts(terms).has_value();
    });
    terms.resources.cpu_milli = cores;
    if (cores > 0) offer("--cpus " + format_milli(cores), terms);
  }
  void less_memory() {
    constexpr int64_t kStep = int64_t{256} << 20;
    Terms terms = terms_;
    const int64_t memory = largest(terms_.resources.memory_bytes, kStep, [&](int64_t value) {
      terms.resources.memory_bytes = value;
      return trial_.starts(terms).has_value();
    });
    terms.resources.memory_bytes = memory;
    if (memory > 0) offer("--mem " + format_bytes(memory), terms);
  }
  void less_of_both() {
    Terms terms = terms_;
    for (int halves = 0; halves < 4; ++halves) {
      terms.resources.cpu_milli = std::max<int64_t>(1000, terms.resources.cpu_milli / 2000 * 1000);
      terms.resources.memory_bytes /= 2;
      if (terms.resources.memory_bytes == 0) return;
      if (offer("--cpus " + format_milli(terms.resources.cpu_milli) + " --mem " +
                    format_bytes(terms.resources.memory_bytes),
                terms))
        return;
    }
  }
  void other_devices() {
    for (size_t i = 0; i < terms_.resources.devices.size(); ++i) {
      const DeviceRequest& asked = terms_.resources.devices[i];
      Terms terms = terms_;
      DeviceRequest& request = terms.resources.devices[i];
      const auto offered = [&] { return offer(device_flags(terms.resources), terms); };
      if (!asked.model.empty()) {
        request.model = "";
        request.also.clear();
        if (offered()) continue;
        request = asked;
      }
      for (request.count = asked.count - 1; request.count > 0; --request.count) {
        if (offered()) break;
      }
      request = asked;
      if (!takes_whole(asked) || asked.count != 1) continue;
      for (const int32_t share : {500, 250}) {
        request.share_milli = share;
        if (offered()) break;
      }
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
      if (offer("--time " + format_duration(*span), terms)) return;
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
    if (members > 0) offer("--gang " + std::to_string(members), terms);
  }
  void elsewhere() {
    const Site* named = terms_.site.empty() ? nullptr : world_.state->site_named(terms_.site);
    if (!named || only_by_name(*world_.state, *named)) return;  // it was asked for to pretend
    Terms terms = terms_;
    terms.site.clear();
    offer("no --site", terms);
  }

  const World& world_;
  const Trial trial_;
  const Terms& terms_;
  std::vector<Alternative> found_;
};

// When there is room for all of it; zero: nobody knows, or it is not for want of room.
Time room_at(const World& world, const Job& job, const Terms& terms) {
  if (over_quota(world, job.ns, terms) || over_calendar(world, terms)) return {};
  Time at;
  for (const Opening& opening : soonest(world, job.ns, terms)) at = std::max(at, opening.at);
  return at;
}

// Half of each thing that is asked for, and devices of any model.
std::vector<Alternative> smaller(const Terms& asked) {
  std::vector<Alternative> list;
  const auto offer = [&](std::string change, const std::function<void(Terms&)>& make) {
    list.push_back({std::move(change), asked, {}});
    make(list.back().terms);
  };
  const Resources& r = asked.resources;
  for (size_t i = 0; i < r.devices.size(); ++i) {
    const DeviceRequest& each = r.devices[i];
    if (!takes_whole(each)) continue;
    const auto offer_devices = [&](const DeviceRequest& request) {
      Resources changed = r;
      changed.devices[i] = request;
      if (std::string flags = device_flags(changed); !flags.empty())
        offer(std::move(flags), [&](Terms& terms) { terms.resources = changed; });
    };
    DeviceRequest other = each;
    other.model.clear();
    other.also.clear();
    if (!each.model.empty()) offer_devices(other);
    other = each;
    other.count /= 2;
    if (other.count > 0) offer_devices(other);
  }
  if (const int64_t cpus = r.cpu_milli / 2000 * 1000; cpus > 0)
    offer("--cpus " + format_milli(cpus), [&](Terms& terms) { terms.resources.cpu_milli = cpus; });
  if (r.memory_bytes > 1)
    offer("--mem " + format_bytes(r.memory_bytes / 2),
          [](Terms& terms) { terms.resources.memory_bytes /= 2; });
  if (asked.gang > 1)
    offer("--gang " + std::to_string(asked.gang / 2), [](Terms& terms) { terms.gang /= 2; });
  return list;
}

// Those of them for which there is room before the request itself has some.
std::vector<Alternative> find_sooner(const World& world, const Job& job, const Prospects& found,
                                     const Terms& asked) {
  std::vector<Alternative> list;
  for (Alternative& each : smaller(asked)) {
    const std::string flag = each.change.substr(0, each.change.find(' ') + 1);
    const bool known =
        std::any_of(found.alternatives.begin(), found.alternatives.end(),
                    [&](const Alternative& other) { return other.change.starts_with(flag); });
    if (known || list.size() >= kSoonerMax) continue;
    each.starts = room_at(world, job, each.terms);
    if (each.starts && (!found.expected || each.starts < found.expected))
      list.push_back(std::move(each));
  }
  return list;
}

}  // namespace

Prospects prospects(const State& state, const Job& job, const Terms& terms, Time now) {
  World world = after_round(state, now, job.id);
  Prospects found;
  if (const auto place = Trial(world, job).starts(terms)) {
    found.site = state.sites.at(place->placement.site).name;
    found.node = place->placement.node;
    found.by = found.expected = now;
    return found;
  }
  found.by = room_at(world, job, terms);
  found.alternatives = Search(world, job, terms).run();
  const Estimates estimates(state, kCertain / 2);
  world.estimates = &estimates;
  found.expected = room_at(world, job, terms);
  found.sooner = find_sooner(world, job, found, terms);
  return found;
}

}  // namespace atl::core::scheduling
