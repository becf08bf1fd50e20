#include "core/notes.h"

#include <algorithm>
#include <set>

#include "base/amount.h"
#include "base/text.h"
#include "core/scheduling/place.h"

namespace atl::core {
namespace {

// What a device gives for the share, where that is more: "0.35 of a t4".
std::set<std::string> rounded_up(const State& state, const Terms& terms,
                                 const DeviceRequest& request) {
  std::set<std::string> given;
  for (const auto& [id, site] : state.sites) {
    if (!scheduling::meant(state, site, terms)) continue;
    for (const auto& [name, node] : site.nodes) {
      for (const Device& device : node.capacity.devices) {
        const int32_t step = device.share_step_milli;
        if (step <= 0 || request.share_milli % step == 0 || !scheduling::serves(device, request))
          continue;
        const int32_t steps = request.share_milli / step + 1;
        const std::string what = device.model.empty() ? device.kind : device.model;
        given.insert(format_milli(std::min(steps * step, kWholeDevice)) + " of " + what);
      }
    }
  }
  return given;
}

// What the reservation has of each node.
std::map<std::pair<SiteId, std::string>, ReservedPart> by_node(const Reservation& reservation) {
  std::map<std::pair<SiteId, std::string>, ReservedPart> nodes;
  for (const ReservedPart& part : reservation.parts) {
    ReservedPart& sum = nodes[{part.site, part.node}];
    sum.cpu_milli += part.cpu_milli;
    sum.memory_bytes += part.memory_bytes;
    sum.units.insert(sum.units.end(), part.units.begin(), part.units.end());
  }
  return nodes;
}

bool holds_one_of(const Holder& holder, const std::vector<std::string>& units) {
  return std::any_of(holder.devices.begin(), holder.devices.end(), [&](const HeldDevice& held) {
    return std::find(units.begin(), units.end(), held.unit) != units.end();
  });
}

void add_occupants(const State& state, const Reservation& reservation, SiteId site,
                   const Node& node, const ReservedPart& part, std::vector<Occupant>& found) {
  const auto stays = [&](const Holder& holder) {
    const auto& own = reservation.namespaces;
    return (!holder.until || holder.until > reservation.from) &&
           std::find(own.begin(), own.end(), holder.ns) == own.end();
  };
  int64_t cpu_left = node.capacity.cpu_milli - part.cpu_milli;
  int64_t memory_left = node.capacity.memory_bytes - part.memory_bytes;
  for (const auto& [task, holder] : node.holders) {
    if (!stays(holder)) continue;
    const Resources& has = state.terms.at(holder.terms).terms.resources;
    cpu_left -= has.cpu_milli;
    memory_left -= has.memory_bytes;
  }
  for (const auto& [task, holder] : node.holders) {
    const bool in_the_way = cpu_left < 0 || memory_left < 0 || holds_one_of(holder, part.units);
    if (stays(holder) && in_the_way)
      found.push_back({task, holder.ns, site, node.capacity.name, holder.until});
  }
}

}  // namespace

std::vector<std::string> rounded_shares(const State& state, const Terms& terms) {
  std::vector<std::string> notes;
  for (const DeviceRequest& request : terms.resources.devices) {
    if (takes_whole(request) || takes_slice(request) || request.memory_bytes > 0) continue;
    const std::set<std::string> given = rounded_up(state, terms, request);
    if (given.empty()) continue;
    notes.push_back("a share of " + format_milli(request.share_milli) + " of a " + request.kind +
                    " is rounded up to what it can be cut into: " + comma_list(given));
  }
  return notes;
}

std::vector<std::string> unknown_devices(const State& state, const Quota& quota) {
  if (quota.devices.empty()) return {};
  std::set<std::string> known;
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      for (const Device& device : node.capacity.devices) {
        known.insert(device.kind);
        known.insert(device_name(device.kind, device.model));
      }
    }
  }
  std::vector<std::string> notes;
  for (const auto& [key, count] : quota.devices) {
    if (known.count(key)) continue;
    notes.push_back("no node has " + quote(key) + " at present" +
                    (known.empty() ? std::string() : "; there are " + comma_list(known)));
  }
  return notes;
}

void note_idle_borrowing(const std::string& who, bool in_cohort, const Quota& borrow,
                         std::vector<std::string>& notes) {
  if (in_cohort || borrow == Quota{}) return;
  notes.push_back(who +
                  " belongs to no cohort and borrows from nobody: what it may borrow has no effect "
                  "before it belongs to one");
}

std::vector<Occupant> occupants(const State& state, const Reservation& reservation) {
  std::vector<Occupant> found;
  for (const auto& [place, part] : by_node(reservation)) {
    const auto site = state.sites.find(place.first);
    if (site == state.sites.end()) continue;
    const auto node = site->second.nodes.find(place.second);
    if (node == site->second.nodes.end()) continue;
    add_occupants(state, reservation, place.first, node->second, part, found);
  }
  return found;
}

}  // namespace atl::core
