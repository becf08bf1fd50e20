// The calendar and the reservations of a whole platform that is put in force.
#include <algorithm>
#include <set>

#include "core/calendar.h"
#include "core/decide.h"

namespace atl::core {
namespace {

std::string entry_place(const char* section, size_t index) {
  return std::string(section) + "[" + std::to_string(index) + "]";
}

tl::unexpected<Error> within_entry(const std::string& entry, Error error) {
  error.field = error.field.empty() ? entry : entry + "." + error.field;
  return tl::unexpected<Error>(std::move(error));
}

// Of namespaces that may have been created by the same wish.
bool in_force_as(const State& after, const Reservation& known, const CreateReservation& wish) {
  const ReservationTerms asked{wish.count, wish.whole_nodes, wish.each, wish.site};
  if (known.from != wish.from || known.until != wish.until || known.asked != asked) return false;
  std::set<NamespaceId> wished;
  for (const std::string& name : wish.namespaces) {
    const Namespace* ns = after.namespace_named(name);
    wished.insert(ns ? ns->id : NamespaceId{});
  }
  return wished == std::set<NamespaceId>(known.namespaces.begin(), known.namespaces.end());
}

const Reservation* reservation_named(const State& state, const std::string& name) {
  for (const auto& [id, reservation] : state.reservations) {
    if (reservation.name == name) return &reservation;
  }
  return nullptr;
}

}  // namespace

Result<void> draft_calendar(const State& state, const ApplyPlatform& wish, Draft& draft) {
  CalendarSet set{state.calendar};
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < wish.calendar.size(); ++i) {
    const CalendarEntry& entry = wish.calendar[i];
    const std::string place = entry_place("calendar", i);
    if (auto ok = check_calendar_entry(entry); !ok) return within_entry(place, ok.error());
    if (!places.emplace(entry.name, i).second)
      return fail(ErrorCode::invalid,
                  "calendar entry " + entry.name + " is named twice; keep one of them", place);
  }
  if (wish.prune)
    std::erase_if(set.calendar.entries,
                  [&](const CalendarEntry& each) { return !places.count(each.name); });
  for (const CalendarEntry& entry : wish.calendar) put_entry(set.calendar, entry);
  for (size_t i = 0; i < wish.calendar.size(); ++i) {
    const std::string place = entry_place("calendar", i);
    if (auto ok = check_calendar(set.calendar, wish.calendar[i].tier, place); !ok) return ok;
  }
  if (set.calendar != state.calendar) draft.add(std::move(set));
  return {};
}

Result<void> draft_reservations(const State& state, State& after, const ApplyPlatform& wish,
                                Draft& draft) {
  std::set<std::string> named;
  std::vector<size_t> to_make;
  after.reservations = state.reservations;
  for (size_t i = 0; i < wish.reservations.size(); ++i) {
    const CreateReservation& each = wish.reservations[i];
    if (!named.insert(each.name).second)
      return fail(ErrorCode::invalid, "reservation " + each.name + " is named twice; keep one",
                  entry_place("reservations", i));
    const Reservation* known = reservation_named(state, each.name);
    if (known && in_force_as(after, *known, each)) continue;
    if (known) after.reservations.erase(known->id);
    to_make.push_back(i);
  }
  if (wish.prune)
    std::erase_if(after.reservations,
                  [&](const auto& entry) { return !named.count(entry.second.name); });
  for (const auto& [id, reservation] : state.reservations) {
    if (!after.reservations.count(id)) draft.add(ReservationEnded{id, true});
  }
  if (!to_make.empty()) {
    after.sites = state.sites;
    after.site_names = state.site_names;
  }
  for (const size_t i : to_make) {
    const CreateReservation& each = wish.reservations[i];
    // A file says what shall be, also while it lasts.
    auto made = plan_reservation(after, each, draft.now(), true);
    if (!made) return within_entry(entry_place("reservations", i), made.error());
    after.counters.reservation = made->id.value;
    after.reservations[made->id] = *made;
    draft.add(ReservationMade{std::move(*made)});
  }
  return {};
}

}  // namespace atl::core
