#include "core/scheduling/place.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "core/scheduling/reserved.h"
#include "core/site_choice.h"

namespace atl::core::scheduling {
namespace {

// A site or a node of it that would do, did it not drain.
std::pair<const Site*, const Node*> draining_that_could(const State& state, const Terms& terms) {
  for (const auto& [id, site] : state.sites) {
    if (!meant(state, site, terms)) continue;
    for (const auto& [name, node] : site.nodes) {
      if ((site.draining || node.draining) && !node.gone && node_could(node, terms.resources))
        return {&site, site.draining ? nullptr : &node};
    }
  }
  return {nullptr, nullptr};
}

// How many thousandths of devices that would serve the request are free in the room; whole ones
// only where it takes whole ones.
int64_t milli_for(const std::vector<DeviceRoom>& devices, const DeviceRequest& request) {
  int64_t sum = 0;
  for (const DeviceRoom& room : devices) {
    if (!serves(*room.device, request)) continue;
    if (takes_slice(request))
      sum += room.share_milli < kWholeDevice || room.device->slots == 0
                 ? 0
                 : std::popcount(room.slots) * kWholeDevice / room.device->slots;
    else if (!takes_whole(request) || untouched(room))
      sum += room.slots == all_slots(*room.device) ? room.share_milli : 0;
  }
  return sum;
}

bool takes_several(const DeviceRequest& request) {
  return request.model.empty() || !request.also.empty();
}

// A request for several models needs what those for one leave over, so it is counted with them.
int64_t asked_with_models(const Resources& resources, const DeviceRequest& request) {
  int64_t asked = 0;
  for (const DeviceRequest& each : resources.devices) {
    if (each == request || (takes_several(request) && each.kind == request.kind))
      asked += int64_t{each.count} * each.share_milli;
  }
  return asked;
}

// What is missing on the node, the first of it, and how many kinds of thing are.
Block missing_on(const Node& node, const Room& room, const Resources& resources, int& missing) {
  Block block{Obstacle::capacity, "", 0, 0, 0, {}};
  missing = 0;
  const auto note = [&](const std::string& resource, int64_t asked, int64_t free, int64_t limit,
                        bool lacks = false) {
    if (asked <= free && !lacks) return;
    if (++missing == 1) block = {Obstacle::capacity, resource, asked, limit - free, limit, {}};
  };
  if (!resources.devices.empty() && !pick(room.devices, resources)) {
    for (const DeviceRequest& request : resources.devices) {
      Resources alone;
      alone.devices = {request};
      // Where each alone would find its devices, they lack together.
      const bool last = missing == 0 && &request == &resources.devices.back();
      note(request_name(request), asked_with_models(resources, request),
           milli_for(room.devices, request), milli_for(whole(node).devices, request),
           last || !pick(room.devices, alone));
    }
  }
  note("cpu", resources.cpu_milli, room.cpu_milli, node.capacity.cpu_milli);
  note("memory", resources.memory_bytes, room.memory_bytes, node.capacity.memory_bytes);
  return block;
}

}  // namespace

bool meant(const State& state, const Site& site, const Terms& terms) {
  return site_rank(terms.site, site.name, only_by_name(state, site)).has_value();
}

std::string request_name(const DeviceRequest& request) {
  std::string name = device_name(request.kind, request.model);
  for (const std::string& model : request.also) name += "|" + (model.empty() ? "any" : model);
  return name + (takes_slice(request) ? ":" + request.profile : "");
}

std::string full_name(const NodeView& view) {
  return *view.site_name + "/" + view.node->capacity.name;
}

bool meant(const NodeView& view, const Terms& terms) { return rank_of(view, terms).has_value(); }

std::optional<uint32_t> rank_of(const NodeView& view, const Terms& terms) {
  return site_rank(terms.site, *view.site_name, view.only_by_name);
}

bool node_could(const Node& node, const Resources& resources) {
  if (node.capacity.cpu_milli < resources.cpu_milli ||
      node.capacity.memory_bytes < resources.memory_bytes)
    return false;
  return resources.devices.empty() || fits(whole(node), resources);
}

bool Able::operator()(const NodeView& view) {
  const auto [known, added] = known_.try_emplace(view.make);
  if (added) known->second = node_could(*view.node, resources_);
  return known->second;
}

namespace {

constexpr int kFullestLookedAt = 64;  // of those alike that have room

int64_t free_devices(const Room& room) {
  int64_t sum = 0;
  for (const DeviceRoom& each : room.devices) sum += each.share_milli;
  return sum;
}

// For how much longer somebody is on the node if the task comes: where others stay anyway it keeps
// nobody out who needs a node for themselves.
Duration longer(const World& world, size_t node, Time end) {
  const Time busy_until = world.busy_until[node];
  return end > busy_until ? end - busy_until : Duration{};
}
Time stays_until(const World& world, const Terms& terms) {
  return terms.wall.us > 0 ? ends_by(world.now, terms) : kNobodyKnows;
}

// The best node so far.
struct Best {
  // How much its site is liked, then what is left: devices, time, cores, memory.
  using Leftover = std::tuple<uint32_t, Fitness, int64_t, Duration, int64_t, int64_t>;
  std::optional<size_t> node;
  Leftover leftover;

  void offer(size_t at, const Leftover& left) {
    if (node && leftover <= left) return;
    node = at;
    leftover = left;
  }
  // Whether it is better than any node of a site liked so much that leaves these devices.
  bool beats(uint32_t rank, const Fitness& fitness, int64_t devices_milli) const {
    return node && std::tie(std::get<0>(leftover), std::get<1>(leftover), std::get<2>(leftover)) <
                       std::tie(rank, fitness, devices_milli);
  }
};

// How many thousandths of devices must be free at least: whole ones are.
int64_t least_devices(const Resources& resources) {
  int64_t sum = 0;
  for (const DeviceRequest& request : resources.devices)
    sum += takes_whole(request) ? int64_t{request.count} * kWholeDevice : 0;
  return sum;
}

void offer_alike(const World& world, const Alike& alike, const Terms& terms,
                 const Allowance& allowed, Best& best) {
  const Resources& asked = terms.resources;
  if (alike.devices_milli < least_devices(asked)) return;
  const NodeView& some = world.nodes[alike.some];
  const auto rank = rank_of(some, terms);
  if (!rank) return;
  if (asked.devices.empty() && best.beats(*rank, {}, alike.devices_milli)) return;
  const auto lacks_memory = [&](const auto& each) {
    return std::get<1>(each) < asked.memory_bytes;
  };
  auto at = std::find_if_not(alike.nodes.lower_bound({asked.cpu_milli, INT64_MIN, 0}),
                             alike.nodes.end(), lacks_memory);
  if (at == alike.nodes.end()) return;
  Fitness fitness;
  if (!asked.devices.empty()) {
    const auto picked = pick(some.free.devices, asked, allowed);
    if (!picked) return;
    fitness = picked->fitness;
  }
  if (best.beats(*rank, fitness, alike.devices_milli)) return;
  const Time end = stays_until(world, terms);
  for (int looked_at = 0; at != alike.nodes.end() && looked_at < kFullestLookedAt; ++at) {
    if (lacks_memory(*at)) continue;
    ++looked_at;
    const auto& [cores, memory, node] = *at;
    const Duration more = longer(world, node, end);
    best.offer(node, {*rank, fitness, alike.devices_milli, more, cores, memory});
    if (more.us == 0) break;  // the others are emptier
  }
}

void offer_one(const World& world, size_t node, const Terms& terms, const Allowance& allowed,
               NamespaceId ns, Best& best) {
  const NodeView& view = world.nodes[node];
  const auto rank = rank_of(view, terms);
  if (!rank) return;
  const Room room = free_for(view, guest_now(world, ns, terms));
  if (room.cpu_milli < terms.resources.cpu_milli ||
      room.memory_bytes < terms.resources.memory_bytes)
    return;
  Fitness fitness;
  if (!terms.resources.devices.empty()) {
    const auto picked = pick(room.devices, terms.resources, allowed);
    if (!picked) return;
    fitness = picked->fitness;
  }
  const Duration more = longer(world, node, stays_until(world, terms));
  best.offer(node, {*rank, fitness, free_devices(room), more, room.cpu_milli, room.memory_bytes});
}

}  // namespace

std::optional<Place> find_place(const World& world, const Terms& terms, const Allowance& allowed,
                                NamespaceId ns) {
  Best best;
  for (const auto& [key, alike] : world.stock.alike())
    offer_alike(world, alike, terms, allowed, best);
  for (const size_t node : world.stock.others()) offer_one(world, node, terms, allowed, ns, best);
  if (!best.node) return std::nullopt;
  const NodeView& view = world.nodes[*best.node];
  Place found{{view.site, view.node->capacity.name, {}}, *best.node};
  if (terms.resources.devices.empty()) return found;
  const auto picked =
      pick(free_for(view, guest_now(world, ns, terms)).devices, terms.resources, allowed);
  if (!picked) return std::nullopt;
  for (const Part& part : picked->parts)
    found.placement.devices.push_back(held(view.node->capacity.devices[part.device], part));
  return found;
}

std::optional<Placement> place(const World& world, const Terms& terms, const Allowance& allowed,
                               NamespaceId ns) {
  auto found = find_place(world, terms, allowed, ns);
  if (!found) return std::nullopt;
  return std::move(found->placement);
}

Allowance allowance(const World& world, NamespaceId ns, const Terms& terms,
                    bool without_borrowing) {
  Allowance allowed;
  if (!world.models_limited) return allowed;
  for (const auto& [key, rest] : devices_left(world, ns, terms, without_borrowing)) {
    if (key.find(':') != std::string::npos) allowed[key] = rest.left;
  }
  return allowed;
}

Allowance allowance(const World& world, const World* then, NamespaceId ns, const Terms& terms,
                    bool without_borrowing) {
  Allowance allowed = allowance(world, ns, terms, without_borrowing);
  if (!then || allowed.empty()) return allowed;
  for (const auto& [key, left] : allowance(*then, ns, terms, without_borrowing))
    allowed[key] = std::min(allowed.at(key), left);
  return allowed;
}

namespace {

// Whether the usable nodes, were they empty, could hold all members.
bool holds_gang(const World& world, const Terms& terms) {
  uint32_t left = std::max<uint32_t>(1, terms.gang);
  for (const NodeView& view : world.nodes) {
    if (left == 0) break;
    if (meant(view, terms)) left -= members_in(whole(*view.node), terms.resources, left);
  }
  return left == 0;
}

}  // namespace

// The node that comes nearest: fewest kinds of thing missing there, then least of the same; so with
// anything less than what is missing there is no room anywhere.
Block why_not_placed(const World& world, const Terms& terms, NamespaceId ns) {
  const auto lacks = [](const Block& block) { return block.asked - (block.limit - block.in_use); };
  Block nearest{Obstacle::no_site, terms.site, 0, 0, 0, {}};
  int nearest_missing = INT32_MAX;
  bool seen = false;
  Able able(terms.resources);
  const Guest guest = guest_now(world, ns, terms);
  for (const NodeView& view : world.nodes) {
    if (!meant(view, terms)) continue;
    if (!seen) nearest = {Obstacle::infeasible, "", 0, 0, 0, {}};
    seen = true;
    if (!able(view)) continue;
    int missing = 0;
    const Block block = missing_on(*view.node, free_for(view, guest), terms.resources, missing);
    if (missing == 0) return {};
    if (missing < nearest_missing ||
        (missing == nearest_missing && block.resource == nearest.resource &&
         lacks(block) < lacks(nearest))) {
      nearest_missing = missing;
      nearest = block;
      nearest.holder = full_name(view);
    }
  }
  // A gang may be larger than all of them together.
  if (nearest.obstacle == Obstacle::capacity && holds_gang(world, terms)) return nearest;
  const auto [site, node] = draining_that_could(*world.state, terms);
  if (terms.gang > 0 && (seen || site) && !feasible(*world.state, terms))
    return {Obstacle::infeasible, "", 0, 0, 0, {}};
  if (site) return {Obstacle::draining, site->name, 0, 0, 0, node ? node->capacity.name : ""};
  return nearest;
}

Block missing_on(const World& world, size_t node, const Terms& terms, NamespaceId ns) {
  const NodeView& view = world.nodes[node];
  int missing = 0;
  Block block =
      missing_on(*view.node, free_for(view, guest_now(world, ns, terms)), terms.resources, missing);
  block.holder = full_name(view);
  return block;
}

int64_t in_use_on(const World& world, size_t node, const Terms& terms, NamespaceId ns,
                  const std::string& resource) {
  const NodeView& view = world.nodes[node];
  const Room free = free_for(view, guest_now(world, ns, terms)), all = whole(*view.node);
  if (resource == "cpu") return all.cpu_milli - free.cpu_milli;
  if (resource == "memory") return all.memory_bytes - free.memory_bytes;
  for (const DeviceRequest& request : terms.resources.devices) {
    if (request_name(request) == resource)
      return milli_for(all.devices, request) - milli_for(free.devices, request);
  }
  return 0;
}

std::optional<Block> reserved_for_others(const World& world, const Terms& terms, NamespaceId ns) {
  const Guest guest = guest_now(world, ns, terms);
  for (const NodeView& view : world.nodes) {
    if (!meant(view, terms)) continue;
    Room room = free_for(view, guest);
    const auto block = [&](const Reservation& reservation) {
      return Block{Obstacle::reserved, view.node->capacity.name, 0, 0, 0, reservation.name};
    };
    for (const Kept& kept : view.kept) {
      if (may_use(*kept.reservation, ns)) continue;
      add(room, kept.free);
      if (fits(room, terms.resources)) return block(*kept.reservation);
    }
    for (const Lent& lent : view.lent) {
      if (!lent.reservation || lends(lent, guest)) continue;
      add(room, lent.room);
      if (fits(room, terms.resources)) return block(*lent.reservation);
    }
  }
  return std::nullopt;
}

namespace {

// How much of a model the members have to have at least, beside others that would do; all that they
// ask for where that alone does not help.
int64_t least_of_model(const World& world, const Job& job, const Terms& terms, uint32_t members,
                       Allowance allowed, const std::string& key, const DeviceRequest& request) {
  const int64_t all = members * asked_with_models(terms.resources, request);
  const auto places = [&](int64_t count) {
    allowed[key] = count * request.share_milli;
    return fits_together(world, job, terms, members, allowed);
  };
  int64_t low = 1, high = all / request.share_milli;
  if (all != high * request.share_milli || !places(high)) return all;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (places(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low * request.share_milli;
}

}  // namespace

bool fits_together(const World& world, const Job& job, const Terms& terms, uint32_t members,
                   Allowance allowed) {
  if (members == 1) return find_place(world, terms, allowed, job.ns).has_value();
  World trial = world;
  for (; members > 0; --members) {
    const auto room = find_place(trial, terms, allowed, job.ns);
    if (!room) return false;
    take(trial, job, terms, room->placement, room->node);
    for (const HeldDevice& each : room->placement.devices) {
      const auto left = allowed.find(device_name(each.kind, each.model));
      if (left != allowed.end()) left->second -= each.counts_milli;
    }
  }
  return true;
}

std::optional<Block> over_model_quota(const World& world, const Job& job, const Terms& terms,
                                      uint32_t members) {
  const Allowance allowed = allowance(world, job.ns, terms);
  if (allowed.empty() || fits_together(world, job, terms, members, allowed) ||
      !fits_together(world, job, terms, members))
    return std::nullopt;
  for (const DeviceRequest& request : terms.resources.devices) {
    const int64_t asked = members * asked_with_models(terms.resources, request);
    for (const auto& [key, left] : allowed) {
      if (!key.starts_with(request.kind + ":") || asked <= left) continue;
      const DevicesLeft rest = devices_left(world, job.ns, terms).at(key);
      const int64_t least = least_of_model(world, job, terms, members, allowed, key, request);
      return Block{rest.obstacle, key,         least,   rest.limit - left,
                   rest.limit,    rest.holder, members, false};
    }
  }
  return std::nullopt;
}

}  // namespace atl::core::scheduling
