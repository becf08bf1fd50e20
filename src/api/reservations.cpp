// Reservations: room that is kept for a time.
#include "api/context.h"
#include "api/handlers.h"
#include "core/notes.h"
#include "spec/when_json.h"

namespace atl::api {
namespace {

constexpr size_t kOccupantsMax = 100;  // of one reservation in an answer

struct ShownOccupant {
  core::Occupant occupant;
  std::string task;
  std::string ns;
};

struct ShownReservation {
  core::Reservation reservation;
  spec::ReservationWish words;          // as it was asked for
  std::vector<std::string> namespaces;  // those that the actor may see
  std::map<SiteId, std::string> sites;
  bool active = false;
  std::optional<std::vector<ShownOccupant>> occupied;  // looked up when it is made
};

// Work that is in the way, as far as the actor may see it.
std::vector<ShownOccupant> shown_occupants(const CallPtr& call, const core::State& state,
                                           const core::Reservation& reservation) {
  std::vector<ShownOccupant> shown;
  for (const core::Occupant& each : core::occupants(state, reservation)) {
    const core::Job* job = state.job(each.task.job);
    if (!job || !core::may_view(state, call->actor, each.ns)) continue;
    if (shown.size() == kOccupantsMax) break;
    shown.push_back({each, to_string(each.task, job->array), name_of(state, each.ns)});
  }
  return shown;
}

ShownReservation shown_reservation(const CallPtr& call, const core::State& state,
                                   const core::Reservation& reservation) {
  ShownReservation shown{.reservation = reservation,
                         .words = spec::to_wish(spec::as_asked(state, reservation))};
  for (const NamespaceId id : reservation.namespaces) {
    if (state.namespaces.count(id) && core::may_view(state, call->actor, id))
      shown.namespaces.push_back(name_of(state, id));
  }
  for (const core::ReservedPart& part : reservation.parts) {
    if (const auto site = state.sites.find(part.site); site != state.sites.end())
      shown.sites[part.site] = site->second.name;
  }
  shown.active = reservation.from <= call->context.options.now();
  return shown;
}

void write_parts(spec::JsonWriter& json, const ShownReservation& shown) {
  json.key("parts").begin_array();
  for (const core::ReservedPart& part : shown.reservation.parts) {
    const auto site = shown.sites.find(part.site);
    json.begin_object().member("site", site == shown.sites.end() ? "" : site->second);
    json.member("node", part.node).key("cpus").milli(part.cpu_milli);
    json.member("memory_bytes", part.memory_bytes).member("devices", part.units).end_object();
  }
  json.end_array();
}

void write_occupied(spec::JsonWriter& json, const ShownReservation& shown) {
  if (!shown.occupied) return;
  json.key("occupied").begin_array();
  for (const ShownOccupant& each : *shown.occupied) {
    json.begin_object().member("task", each.task).member("namespace", each.ns);
    json.member("site", shown.sites.at(each.occupant.site)).member("node", each.occupant.node);
    json.member("until", each.occupant.until).end_object();
  }
  json.end_array();
}

void write_reservation(spec::JsonWriter& json, const ShownReservation& shown) {
  const spec::ReservationWish& words = shown.words;
  const core::Resources& each = shown.reservation.asked.each;
  json.begin_object().member("name", shown.reservation.name);
  json.key("from").time(shown.reservation.from).key("until").time(shown.reservation.until);
  json.member("active", shown.active).member("namespaces", shown.namespaces).key("nodes");
  words.nodes ? json.number(*words.nodes) : json.null();
  json.key("count");
  words.count ? json.number(*words.count) : json.null();
  json.key("cpus").milli(each.cpu_milli).member("memory_bytes", each.memory_bytes);
  json.key("devices").begin_object();
  for (const auto& [kind, count] : spec::device_counts(each.devices)) json.member(kind, count);
  json.end_object().member("site", shown.reservation.asked.site);
  write_parts(json, shown);
  write_occupied(json, shown);
  json.end_object();
}

}  // namespace

void list_reservations(const CallPtr& call) {
  view(
      call,
      [call](const core::State& state) -> Result<std::vector<ShownReservation>> {
        std::vector<ShownReservation> list;
        for (const auto& [id, reservation] : state.reservations)
          list.push_back(shown_reservation(call, state, reservation));
        return list;
      },
      [call](std::vector<ShownReservation> list) {
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
          return a.reservation.from < b.reservation.from;
        });
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().key("reservations").begin_array();
        for (const ShownReservation& shown : list) write_reservation(json, shown);
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void create_reservation(const CallPtr& call) {
  const auto wish = body_of<spec::ReservationWish>(call);
  if (!wish) return;
  const auto asked = spec::to_reservation(*wish);
  if (!asked) return call->refuse(asked.error());
  command(call, *asked, {}, [call](const runtime::Accepted& accepted) {
    const auto* made = event_of<core::ReservationMade>(accepted);
    if (!made) return call->respond_empty(204);
    view(
        call,
        [call,
         reservation = made->reservation](const core::State& state) -> Result<ShownReservation> {
          ShownReservation shown = shown_reservation(call, state, reservation);
          shown.occupied = shown_occupants(call, state, reservation);
          return shown;
        },
        [call](const ShownReservation& shown) {
          std::string body;
          spec::JsonWriter json(body);
          write_reservation(json, shown);
          call->respond_json(std::move(body), 201);
        });
  });
}

void cancel_reservation(const CallPtr& call) {
  command(call, core::CancelReservation{std::string(call->request().param("reservation"))}, {},
          [call](const runtime::Accepted&) { call->respond_empty(204); });
}

}  // namespace atl::api
