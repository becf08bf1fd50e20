#include "api/view_fields.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

const Shape& limit_shape() { return spec::shape_of<spec::QuotaWish>(); }

constexpr std::array kCalendarEntry{
    always(Kind::text, "name", "Its name."),
    always(Kind::text, "tier", "Whose work it limits."),
    always(Kind::text, "days", "The days on which it begins, such as mon-fri."),
    always(Kind::text, "from", "A time of the day, by the server's clock on the wall."),
    always(Kind::text, "until", "An earlier one is on the next day."),
    maybe(Kind::number, "share", "The part of the platform that is the most it may have."),
    always(Kind::object, "limit", "Amounts that are the most it may have.", limit_shape),
    always(Kind::boolean, "holds", "Whether it limits now."),
    sometimes(Kind::texts, "warnings", "When it was set: devices in its limit that no node has.")};
constexpr std::array kCalendarView{
    always(Kind::time, "now", "By the server's clock."),
    always(Kind::integer, "utc_offset_minutes",
           "How far the clock on the wall is ahead of UTC, in minutes."),
    maybe(Kind::time, "next_change", "When an entry next begins or ceases to hold."),
    always(Kind::objects, "entries", "By name.", calendar_entry_shape)};

constexpr std::array kReservedPart{
    always(Kind::text, "site", "Where."), always(Kind::text, "node", "On which node."),
    always(Kind::number, "cpus", "Cores."), always(Kind::integer, "memory_bytes", "Memory."),
    always(Kind::texts, "devices", "Units of the node.")};
const Shape& reserved_part_shape() {
  static constexpr Shape shape{"ReservedPart", "Room on a node that is kept.", kReservedPart};
  return shape;
}
constexpr std::array kOccupant{
    always(Kind::text, "task", "Its id."), always(Kind::text, "namespace", "Whose it is."),
    always(Kind::text, "site", "Where."), always(Kind::text, "node", "On which node."),
    maybe(Kind::time, "until", "When it has ended at the latest; null: nobody knows.")};
const Shape& occupant_shape() {
  static constexpr Shape shape{"Occupant", "A task that has room which is kept for others.",
                               kOccupant};
  return shape;
}
constexpr std::array kReservation{
    always(Kind::text, "name", "Its name."),
    always(Kind::time, "from", "When it begins."),
    always(Kind::time, "until", "When it ends."),
    always(Kind::boolean, "active", "Whether it has begun."),
    always(Kind::texts, "namespaces", "Whose work may use it, of those you may see."),
    maybe(Kind::integer, "nodes", "How many whole nodes."),
    maybe(Kind::integer, "count", "How many times the amounts."),
    always(Kind::number, "cpus", "Cores of each."),
    always(Kind::integer, "memory_bytes", "Memory of each."),
    always(Kind::integer_map, "devices", "Devices of each, by kind or kind:model."),
    always(Kind::text, "site", "Where it was asked for; empty: anywhere."),
    always(Kind::objects, "parts", "What is kept.", reserved_part_shape),
    sometimes(
        Kind::objects, "occupied",
        "When it was made: tasks of others that have this room now and may still have it when "
        "it begins; at most 100.",
        occupant_shape)};
constexpr std::array kReservationList{
    always(Kind::objects, "reservations", "In the order in which they begin.", reservation_shape)};

}  // namespace

#define ATOLL_VIEW(function, name, sentence, fields)      \
  const Shape& function() {                               \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_VIEW(calendar_shape, "Calendar", "When tiers may have how much.", kCalendarView)
ATOLL_VIEW(calendar_entry_shape, "CalendarEntry", "A limit in every week.", kCalendarEntry)
ATOLL_VIEW(reservation_shape, "Reservation", "Room that is kept for a time.", kReservation)
ATOLL_VIEW(reservation_list_shape, "ReservationList", "Reservations.", kReservationList)
#undef ATOLL_VIEW

}  // namespace atl::api
