// Room that is kept for a time: a course on Tuesday from ten to twelve.
#include <algorithm>

#include "base/amount.h"
#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/scheduling/explain.h"
#include "core/scheduling/place.h"
#include "core/scheduling/room.h"
#include "core/scheduling/world.h"

namespace atl::core {
namespace {

using scheduling::Room;

bool overlaps(const Reservation& other, const CreateReservation& command) {
  return other.from < command.until && command.from < other.until;
}

// What the node has at that time beside other reservations.
Room unreserved(const State& state, const Node& node, SiteId site,
                const CreateReservation& command) {
  Room room = scheduling::whole(node);
  for (const auto& [id, other] : state.reservations) {
    if (!overlaps(other, command)) continue;
    for (const ReservedPart& part : other.parts) {
      if (part.site != site || part.node != node.capacity.name) continue;
      room.cpu_milli -= part.cpu_milli;
      room.memory_bytes -= part.memory_bytes;
      for (scheduling::DeviceRoom& device : room.devices) {
        if (std::find(part.units.begin(), part.units.end(), device.device->unit) ==
            part.units.end())
          continue;
        device.share_milli = 0;
        device.slots = 0;
      }
    }
  }
  return room;
}

ReservedPart part_of(SiteId site, const std::string& node, const Room& room) {
  ReservedPart part{site, node, room.cpu_milli, room.memory_bytes, {}};
  for (const scheduling::DeviceRoom& device : room.devices)
    part.units.push_back(device.device->unit);
  return part;
}

// One more part out of the room, which it is then taken from.
std::optional<ReservedPart> cut(SiteId site, const Node& node, Room& room,
                                const CreateReservation& command) {
  if (command.whole_nodes) {
    const Room all = scheduling::whole(node);
    const bool untouched =
        room.cpu_milli == all.cpu_milli && room.memory_bytes == all.memory_bytes &&
        std::all_of(room.devices.begin(), room.devices.end(), scheduling::untouched);
    if (!untouched) return std::nullopt;
    room = {};
    return part_of(site, node.capacity.name, all);
  }
  if (!scheduling::fits(room, command.each)) return std::nullopt;
  const auto picked = scheduling::pick(room.devices, command.each);
  ReservedPart part{
      site, node.capacity.name, command.each.cpu_milli, command.each.memory_bytes, {}};
  for (const scheduling::Part& device : picked->parts)
    part.units.push_back(node.capacity.devices[device.device].unit);
  scheduling::remove(room, scheduling::Takings{part.cpu_milli, part.memory_bytes, picked->parts});
  return part;
}

// Whether somebody who has room there now may still have it at that time.
bool busy_then(const Node& node, Time then) {
  return std::any_of(node.holders.begin(), node.holders.end(), [&](const auto& entry) {
    return !entry.second.until || entry.second.until > then;
  });
}

std::vector<ReservedPart> choose(const State& state, const CreateReservation& command) {
  std::vector<ReservedPart> parts;
  for (const bool busy : {false, true}) {
    for (const auto& [id, site] : state.sites) {
      if (!command.site.empty() && command.site != site.name) continue;
      if (command.site.empty() && only_by_name(state, site)) continue;
      for (const auto& [name, node] : site.nodes) {
        if (node.gone || node.draining || busy_then(node, command.from) != busy) continue;
        Room room = unreserved(state, node, id, command);
        while (parts.size() < command.count) {
          auto part = cut(id, node, room, command);
          if (!part) break;
          parts.push_back(std::move(*part));
        }
      }
    }
  }
  return parts;
}

// To the second, for people.
std::string moment(Time at) { return format_time(Time{at.us - at.us % seconds(1).us}); }

Result<void> check_time(const CreateReservation& command, Time now, bool may_have_begun) {
  if (command.until <= command.from)
    return fail(ErrorCode::invalid,
                std::string("the reservation ends ") +
                    (command.until == command.from ? "when" : "before") +
                    " it begins; write an end after " + moment(command.from),
                "until");
  if (command.from < now && !may_have_begun)
    return fail(ErrorCode::invalid,
                "the reservation would begin in the past, at " + moment(command.from) +
                    "; the earliest is now, " + moment(now),
                "from");
  if (command.until <= now)
    return fail(ErrorCode::invalid,
                "the reservation is over since " + moment(command.until) +
                    "; leave it out, or write an end after " + moment(now),
                "until");
  if (command.until - command.from > kReservationMax || command.from - now > kReservationMax)
    return fail(ErrorCode::invalid, "a reservation lasts a year at most and begins within one year",
                "until");
  return {};
}

// One part of it, as a task that would use it.
Terms terms_of(const CreateReservation& command) {
  Terms terms;
  terms.resources = command.each;
  terms.site = command.site;
  return terms;
}

Result<void> check_each(const CreateReservation& command) {
  if (command.count < 1 || command.count > kReservedPartsMax)
    return fail(ErrorCode::invalid, "a reservation has between 1 and 10000 parts", "count");
  if (command.whole_nodes) return {};
  if (command.each.cpu_milli < 1)
    return fail(
        ErrorCode::invalid,
        "how many cores? say cpus, for so many of each (with count for several times that, and "
        "memory and devices of each), or nodes alone, for so many whole nodes",
        "cpus");
  if (command.each.cpu_milli > kCpuMilliMax)
    return fail(ErrorCode::invalid, "cpus must be at most " + format_milli(kCpuMilliMax), "cpus");
  if (command.each.memory_bytes < 0 || command.each.memory_bytes > kMemoryBytesMax)
    return fail(ErrorCode::invalid, "memory must be at most " + format_bytes(kMemoryBytesMax),
                "memory");
  for (const DeviceRequest& request : command.each.devices) {
    if (!takes_whole(request))
      return fail(ErrorCode::invalid,
                  "only whole devices can be reserved, such as gpu: 1 or gpu:a100: 2", "devices");
  }
  return check_devices(command.each.devices);
}

}  // namespace

Result<Reservation> plan_reservation(const State& state, const CreateReservation& asked, Time now,
                                     bool may_have_begun) {
  CreateReservation command = asked;
  if (!command.from) command.from = now;
  if (auto ok = check_identifier(command.name, "name"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_time(command, now, may_have_begun); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_each(command); !ok) return tl::unexpected(ok.error());
  if (state.reservations.size() >= kReservationsMax)
    return fail(ErrorCode::exhausted, "there are 1000 reservations already; cancel one", "name");
  Reservation made{ReservationId{state.counters.reservation + 1},
                   command.name,
                   command.from,
                   command.until,
                   {},
                   {},
                   {command.count, command.whole_nodes, command.each, command.site}};
  std::string others;
  for (const auto& [id, other] : state.reservations) {
    if (other.name == command.name)
      return fail(ErrorCode::conflict, "there is a reservation " + quote(command.name) + " already",
                  "name");
    if (overlaps(other, command)) others += (others.empty() ? "" : ", ") + other.name;
  }
  if (!command.site.empty() && !state.site_named(command.site))
    return tl::unexpected(no_such_site(state, command.site, "site"));
  if (command.namespaces.empty())
    return fail(ErrorCode::invalid, "for whom? name at least one namespace whose work may use it",
                "namespaces");
  for (const std::string& name : command.namespaces) {
    const Namespace* ns = state.namespace_named(name);
    if (!ns) return tl::unexpected(no_such_namespace(name));
    made.namespaces.push_back(ns->id);
  }
  if (const Terms terms = terms_of(command);
      !command.whole_nodes && !scheduling::feasible(state, terms))
    return fail(ErrorCode::infeasible, why_infeasible(state, terms), "cpus");
  made.parts = choose(state, command);
  if (made.parts.size() < command.count) {
    const std::string what =
        command.whole_nodes ? "nodes" : "times " + scheduling::format_resources(command.each);
    return fail(ErrorCode::conflict,
                "only " + std::to_string(made.parts.size()) + " of " +
                    std::to_string(command.count) + " " + what + " can be reserved then" +
                    (others.empty() ? "; there are no more in service: ask for fewer"
                                    : ", beside the reservations of that time: " + others +
                                          "; ask for fewer, or for another time"),
                "count");
  }
  return made;
}

Result<void> decide_command(const State& state, const Actor& actor,
                            const CreateReservation& command, Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  auto made = plan_reservation(state, command, draft.now(), false);
  if (!made) return tl::unexpected(made.error());
  draft.add(ReservationMade{std::move(*made)});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor,
                            const CancelReservation& command, Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  for (const auto& [id, reservation] : state.reservations) {
    if (reservation.name != command.name) continue;
    draft.add(ReservationEnded{id, true});
    return {};
  }
  return fail(
      ErrorCode::not_found,
      "there is no reservation " + quote(command.name) + "; `atoll reservation list` shows them",
      "name");
}

}  // namespace atl::core
