#include "spec/when_json.h"

#include <algorithm>

#include "base/text.h"
#include "core/limits.h"
#include "spec/job_spec.h"
#include "spec/moment.h"
#include "spec/week.h"

namespace atl::spec {
namespace {

constexpr const char* kTierNames[] = {"interactive", "service", "batch", "opportunistic"};

constexpr Doc kWhenName{.name = "name",
                        .sentence = "Its name: a-z 0-9 . _ -",
                        .example = "\"course\"",
                        .low = 1,
                        .high = 63,
                        .required = true};
constexpr Doc kTier{.name = "tier",
                    .sentence = "Whose work it limits.",
                    .example = "\"batch\"",
                    .fallback = "\"batch\"",
                    .choices = kTierNames};
constexpr Doc kDays{.name = "days",
                    .sentence = "On which days of the week it begins.",
                    .example = "\"mon-fri\"",
                    .fallback = "\"daily\"",
                    .high = 63};
constexpr Doc kFrom{.name = "from",
                    .sentence = "From which time of the day on, by the server's clock on the wall.",
                    .example = "\"08:00\"",
                    .fallback = "\"00:00\"",
                    .high = 5};
constexpr Doc kUntil{.name = "until",
                     .sentence = "Until when; an earlier time is one of the next day.",
                     .example = "\"18:00\"",
                     .fallback = "\"24:00\"",
                     .high = 5};
constexpr Doc kShare{.name = "share",
                     .sentence =
                         "The part of every resource of the platform that is the most it "
                         "may have, from 0 to 1.",
                     .example = "0.3"};
constexpr Doc kLimit{.name = "limit",
                     .sentence = "Amounts that are the most it may have.",
                     .example = "{\"cpus\": 16}"};

template <class Owner>
constexpr std::array kWeekFields{
    field<&Owner::tier, Owner>(kTier),   field<&Owner::days, Owner>(kDays),
    field<&Owner::from, Owner>(kFrom),   field<&Owner::until, Owner>(kUntil),
    field<&Owner::share, Owner>(kShare), field<&Owner::limit, Owner>(kLimit)};
constexpr std::array kNamedCalendarFields = [] {
  constexpr auto& rest = kWeekFields<NamedCalendar>;
  std::array<Field, rest.size() + 1> fields{field<&NamedCalendar::name>(kWhenName)};
  std::copy(rest.begin(), rest.end(), fields.begin() + 1);
  return fields;
}();
constexpr std::array kReservationFields{
    field<&ReservationWish::name>(kWhenName),
    field<&ReservationWish::from>({.name = "from",
                                   .sentence = "When it begins; now when left out.",
                                   .example = "\"2026-11-17T10:00:00Z\"",
                                   .high = 40}),
    field<&ReservationWish::until>({.name = "until",
                                    .sentence = "When it ends.",
                                    .example = "\"2026-11-17T12:00:00Z\"",
                                    .high = 40,
                                    .required = true}),
    field<&ReservationWish::namespaces>({.name = "namespaces",
                                         .sentence = "Whose work may use it.",
                                         .example = "[\"course\"]",
                                         .low = 1,
                                         .high = 1'000,
                                         .required = true}),
    field<&ReservationWish::nodes>({.name = "nodes",
                                    .sentence = "So many whole nodes.",
                                    .example = "2",
                                    .low = 1,
                                    .high = core::kReservedPartsMax}),
    field<&ReservationWish::count>({.name = "count",
                                    .sentence = "So many times what cpus, memory and devices say.",
                                    .example = "10",
                                    .fallback = "1",
                                    .low = 1,
                                    .high = core::kReservedPartsMax}),
    field<&ReservationWish::cpus>({.name = "cpus", .sentence = "Cores of each.", .example = "4"}),
    field<&ReservationWish::memory>(
        {.name = "memory", .sentence = "Memory of each.", .example = "\"8Gi\""}),
    field<&ReservationWish::devices>({.name = "devices",
                                      .sentence = "Whole devices of each, by kind or kind:model.",
                                      .example = "{\"gpu\": 1}",
                                      .high = core::kDeviceRequestsMax}),
    field<&ReservationWish::site>({.name = "site",
                                   .sentence = "Only there; any when left out.",
                                   .example = "\"local\"",
                                   .high = 63})};

tl::unexpected<Error> in_field(Error error, const char* field) {
  error.field = field;
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<core::CalendarEntry> to_entry(const std::string& name, const CalendarWish& wish) {
  core::CalendarEntry entry;
  entry.name = name;
  if (wish.tier && !enum_from_name(*wish.tier, entry.tier))
    return fail(ErrorCode::invalid, "a tier is interactive, service, batch or opportunistic",
                "tier");
  const auto days = parse_days(wish.days.value_or("daily"));
  if (!days) return in_field(days.error(), "days");
  const auto from = parse_clock_time(wish.from.value_or("00:00"));
  if (!from) return in_field(from.error(), "from");
  const auto until = parse_clock_time(wish.until.value_or("24:00"));
  if (!until) return in_field(until.error(), "until");
  entry.days = *days;
  entry.from = *from;
  entry.until = *until;
  // One that is too large stays so, for the core to refuse.
  if (wish.share)
    entry.share_milli = static_cast<int32_t>(std::clamp<int64_t>(wish.share->milli, -1, 1001));
  if (wish.limit) entry.limit = to_quota(*wish.limit);
  return entry;
}

CalendarWish to_wish(const core::CalendarEntry& entry) {
  CalendarWish wish{enum_name(entry.tier),
                    format_days(entry.days),
                    format_clock_time(entry.from),
                    format_clock_time(entry.until),
                    {},
                    {}};
  if (entry.share_milli) wish.share = Cpus{*entry.share_milli};
  if (entry.limit != core::Quota{}) wish.limit = to_wish(entry.limit);
  return wish;
}

Result<std::vector<core::DeviceRequest>> whole_devices(
    const std::map<std::string, int64_t>& counts) {
  std::vector<DeviceSpec> devices;
  for (const auto& [key, count] : counts) {
    auto device = parse_device(key + ":" + std::to_string(count));
    if (!device || device->share || device->memory || device->slice)
      return fail(ErrorCode::invalid,
                  quote(key) + " is not a device: write gpu, gpu:a100 or gpu:a100|v100", "devices");
    devices.push_back(std::move(*device));
  }
  return device_requests({}, devices);
}

std::map<std::string, int64_t> device_counts(const std::vector<core::DeviceRequest>& requests) {
  std::map<std::string, int64_t> counts;
  for (const core::DeviceRequest& request : requests) {
    const DeviceSpec device = describe_device(request);
    counts[*device.kind + (device.model ? ":" + *device.model : "")] = request.count;
  }
  return counts;
}

Result<core::CreateReservation> to_reservation(const ReservationWish& wish) {
  core::CreateReservation made;
  made.name = wish.name.value_or("");
  if (wish.from) {
    const auto from = parse_time(*wish.from);
    if (!from) return in_field(from.error(), "from");
    made.from = *from;
  }
  const auto until = parse_time(wish.until.value_or(""));
  if (!until) return in_field(until.error(), "until");
  made.until = *until;
  made.namespaces = wish.namespaces.value_or(std::vector<std::string>());
  made.site = wish.site.value_or("");
  made.whole_nodes = wish.nodes.has_value();
  if (made.whole_nodes && (wish.count || wish.cpus || wish.memory || wish.devices))
    return fail(ErrorCode::invalid,
                "say either nodes, for whole ones, or count with cpus, memory and devices",
                "nodes");
  made.count = static_cast<uint32_t>(wish.nodes.value_or(wish.count.value_or(1)));
  if (wish.cpus) made.each.cpu_milli = wish.cpus->milli;
  if (wish.memory) made.each.memory_bytes = wish.memory->count;
  if (!wish.devices) return made;
  auto devices = whole_devices(*wish.devices);
  if (!devices) return in_field(devices.error(), "devices");
  made.each.devices = std::move(*devices);
  return made;
}

ReservationWish to_wish(const core::CreateReservation& reservation) {
  ReservationWish wish;
  wish.name = reservation.name;
  if (reservation.from) wish.from = format_time(reservation.from);
  wish.until = format_time(reservation.until);
  wish.namespaces = reservation.namespaces;
  if (!reservation.site.empty()) wish.site = reservation.site;
  if (reservation.whole_nodes) {
    wish.nodes = reservation.count;
    return wish;
  }
  wish.count = reservation.count;
  wish.cpus = Cpus{reservation.each.cpu_milli};
  if (reservation.each.memory_bytes > 0) wish.memory = Bytes{reservation.each.memory_bytes};
  if (!reservation.each.devices.empty()) wish.devices = device_counts(reservation.each.devices);
  return wish;
}

core::CreateReservation as_asked(const core::State& state, const core::Reservation& reservation) {
  const core::ReservationTerms& asked = reservation.asked;
  core::CreateReservation made{reservation.name, reservation.from,  reservation.until, {},
                               asked.count,      asked.whole_nodes, asked.each,        asked.site};
  for (const NamespaceId id : reservation.namespaces) {
    if (const auto ns = state.namespaces.find(id); ns != state.namespaces.end())
      made.namespaces.push_back(ns->second.name);
  }
  std::sort(made.namespaces.begin(), made.namespaces.end());
  return made;
}

#define ATOLL_WISH(Type, name, sentence, fields)          \
  template <>                                             \
  const Shape& shape_of<Type>() {                         \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_WISH(CalendarWish, "CalendarChange", "When a tier may have how much, all of it.",
           kWeekFields<CalendarWish>)
ATOLL_WISH(NamedCalendar, "NamedCalendarEntry", "When a tier may have how much.",
           kNamedCalendarFields)
ATOLL_WISH(ReservationWish, "ReservationRequest", "Room that is kept for a time.",
           kReservationFields)
#undef ATOLL_WISH

}  // namespace atl::spec
