#include "spec/platform_json.h"

#include <algorithm>
#include <array>

#include "core/limits.h"
#include "spec/when_json.h"

namespace atl::spec {
namespace {

constexpr int64_t kAmountMax = int64_t{1} << 53;  // what JSON's readers keep exact

constexpr std::array kQuotaFields{
    field<&QuotaWish::cpus>({.name = "cpus", .sentence = "Cores in use at once.", .example = "64"}),
    field<&QuotaWish::memory>(
        {.name = "memory", .sentence = "Memory in use at once.", .example = "\"256Gi\""}),
    field<&QuotaWish::devices>({.name = "devices",
                                .sentence = "Devices in use at once, by kind or kind:model.",
                                .example = "{\"gpu\": 8, \"gpu:a100\": 4}",
                                .high = 64}),
    field<&QuotaWish::running>({.name = "running",
                                .sentence = "Tasks running at once.",
                                .example = "1000",
                                .low = 0,
                                .high = kAmountMax}),
    field<&QuotaWish::queued>({.name = "queued",
                               .sentence = "Jobs that have not ended.",
                               .example = "100000",
                               .low = 0,
                               .high = kAmountMax}),
};
constexpr std::array kPolicyFields{
    field<&PolicyWish::half_life>(
        {.name = "half_life",
         .sentence = "After how long past use counts half as much against somebody.",
         .example = "\"7d\""}),
    field<&PolicyWish::ageing>(
        {.name = "ageing",
         .sentence = "How much waiting outweighs one step of priority among a user's jobs.",
         .example = "\"1h\""}),
};

constexpr Doc kWeight{.name = "weight",
                      .sentence = "Its part of what is shared, among those beside it.",
                      .example = "2",
                      .low = core::kWeightMilliMin,
                      .high = core::kWeightMilliMax};
constexpr Doc kQuotaDoc{.name = "quota",
                        .sentence = "What it is sure of; {} for no limits.",
                        .example = "{\"cpus\": 64}"};
constexpr Doc kBorrow{.name = "borrow",
                      .sentence =
                          "What it may use beyond its quota while others leave it unused; "
                          "what is not named is all there is.",
                      .example = "{\"cpus\": 16}"};
constexpr Doc kParent{.name = "parent",
                      .sentence = "The cohort that it belongs to; empty: none.",
                      .example = "\"institute\"",
                      .high = 63};
constexpr Doc kCohort{.name = "cohort",
                      .sentence = "The cohort that it belongs to; empty: none.",
                      .example = "\"physics\"",
                      .high = 63};
constexpr Doc kName{.name = "name",
                    .sentence = "Its name: a-z 0-9 . _ -",
                    .example = "\"physics\"",
                    .low = 1,
                    .high = 63,
                    .required = true};

// Each of these is named once, for the change of one thing and for an entry of the whole platform.
template <class Owner>
constexpr Field weight_of = field<&Owner::weight, Owner>(kWeight);
template <class Owner>
constexpr Field borrow_of = field<&Owner::borrow, Owner>(kBorrow);
template <class Owner>
constexpr Field parent_of = field<&Owner::parent, Owner>(kParent);
template <class Owner>
constexpr Field cohort_of = field<&Owner::cohort, Owner>(kCohort);
template <class Owner>
constexpr Field quota_of = field<&Owner::quota, Owner>(kQuotaDoc);

constexpr std::array kCohortFields{parent_of<CohortWish>, weight_of<CohortWish>,
                                   quota_of<CohortWish>, borrow_of<CohortWish>};
constexpr std::array kNamespaceChangeFields{cohort_of<NamespaceChange>, weight_of<NamespaceChange>,
                                            borrow_of<NamespaceChange>};
constexpr std::array kNamedCohort{field<&NamedCohort::name>(kName), parent_of<NamedCohort>,
                                  weight_of<NamedCohort>, quota_of<NamedCohort>,
                                  borrow_of<NamedCohort>};
constexpr std::array kNamedNamespace{
    field<&NamedNamespace::name>(kName),
    cohort_of<NamedNamespace>,
    weight_of<NamedNamespace>,
    quota_of<NamedNamespace>,
    borrow_of<NamedNamespace>,
    field<&NamedNamespace::members>(
        {.name = "members",
         .sentence = "All its members and their roles; left out, they stay as they are.",
         .example = "{\"ada\": \"admin\"}",
         .high = 10'000})};
constexpr std::array kPlatformFields{
    field<&PlatformWish::policy>({.name = "policy",
                                  .sentence = "How fast the past is forgotten.",
                                  .example = "{\"half_life\": \"7d\"}"}),
    field<&PlatformWish::cohorts>({.name = "cohorts",
                                   .sentence = "Cohorts, each the whole of what it names.",
                                   .example = "[{\"name\": \"physics\"}]",
                                   .high = 5'000}),
    field<&PlatformWish::namespaces>({.name = "namespaces",
                                      .sentence = "Namespaces, each the whole of what it names.",
                                      .example = "[{\"name\": \"bio\", \"cohort\": \"physics\"}]",
                                      .high = 5'000}),
    field<&PlatformWish::calendar>({.name = "calendar",
                                    .sentence = "When tiers may have how much.",
                                    .example = "[{\"name\": \"days\", \"share\": 0.3}]",
                                    .high = 100}),
    field<&PlatformWish::reservations>(
        {.name = "reservations",
         .sentence = "Room that is kept for a time; one that changes is cancelled and made anew.",
         .example = "[{\"name\": \"course\", \"until\": \"2026-11-17T12:00:00Z\", "
                    "\"namespaces\": [\"course\"], \"nodes\": 1}]",
         .high = 1'000})};

core::Quota quota_or_none(const std::optional<QuotaWish>& wish) {
  return wish ? to_quota(*wish) : core::Quota{};
}

std::optional<QuotaWish> wish_or_none(const core::Quota& quota) {
  if (quota == core::Quota{}) return std::nullopt;
  return to_wish(quota);
}

Text text_or_none(const std::string& text) { return text.empty() ? Text{} : Text{text}; }

std::optional<Cpus> weight_or_none(uint32_t milli) {
  if (milli == 1000) return std::nullopt;
  return Cpus{milli};
}

Result<NamespaceEntry> namespace_entry(const NamedNamespace& wish, const std::string& place) {
  NamespaceEntry entry{
      wish.name.value_or(""),    wish.cohort.value_or(""),   to_weight(wish.weight).value_or(1000),
      quota_or_none(wish.quota), quota_or_none(wish.borrow), {}};
  if (!wish.members) return entry;
  entry.members.emplace();
  for (const auto& [user, role] : *wish.members) {
    if (!enum_from_name(role, (*entry.members)[user]))
      return fail(ErrorCode::invalid, "a role is viewer, member or admin",
                  place + ".members." + user);
  }
  return entry;
}

tl::unexpected<Error> at_entry(const char* section, size_t index, Error error) {
  error.field = std::string(section) + "[" + std::to_string(index) + "]." + error.field;
  return tl::unexpected<Error>(std::move(error));
}

Result<void> add_when(const PlatformWish& wish, PlatformFile& file) {
  for (const NamedCalendar& each : wish.calendar.value_or(std::vector<NamedCalendar>())) {
    auto entry = to_entry(each.name.value_or(""), each);
    if (!entry) return at_entry("calendar", file.calendar.size(), entry.error());
    file.calendar.push_back(std::move(*entry));
  }
  for (const ReservationWish& each : wish.reservations.value_or(std::vector<ReservationWish>())) {
    auto made = to_reservation(each);
    if (!made) return at_entry("reservations", file.reservations.size(), made.error());
    file.reservations.push_back(std::move(*made));
  }
  return {};
}

}  // namespace

core::Quota to_quota(const QuotaWish& wish) {
  core::Quota quota;
  if (wish.cpus) quota.cpu_milli = wish.cpus->milli;
  if (wish.memory) quota.memory_bytes = wish.memory->count;
  if (wish.devices) {
    for (const auto& [kind, count] : *wish.devices)
      quota.devices[kind] = static_cast<uint32_t>(std::clamp<int64_t>(count, 0, UINT32_MAX));
  }
  if (wish.running) quota.running = static_cast<uint64_t>(*wish.running);
  if (wish.queued) quota.queued = static_cast<uint64_t>(*wish.queued);
  return quota;
}

QuotaWish to_wish(const core::Quota& quota) {
  QuotaWish wish;
  if (quota.cpu_milli) wish.cpus = Cpus{*quota.cpu_milli};
  if (quota.memory_bytes) wish.memory = Bytes{*quota.memory_bytes};
  if (!quota.devices.empty()) wish.devices.emplace(quota.devices.begin(), quota.devices.end());
  if (quota.running) wish.running = static_cast<int64_t>(*quota.running);
  if (quota.queued) wish.queued = static_cast<int64_t>(*quota.queued);
  return wish;
}

std::optional<uint32_t> to_weight(const std::optional<Cpus>& wish) {
  if (!wish) return std::nullopt;
  return static_cast<uint32_t>(wish->milli);
}

Result<PlatformFile> to_platform_file(const PlatformWish& wish) {
  PlatformFile file;
  if (wish.policy) {
    file.policy.emplace();
    if (wish.policy->half_life) file.policy->half_life = *wish.policy->half_life;
    if (wish.policy->ageing) file.policy->ageing = *wish.policy->ageing;
  }
  for (const NamedCohort& each : wish.cohorts.value_or(std::vector<NamedCohort>())) {
    file.cohorts.push_back({each.name.value_or(""), each.parent.value_or(""),
                            to_weight(each.weight).value_or(1000), quota_or_none(each.quota),
                            quota_or_none(each.borrow)});
  }
  for (const NamedNamespace& each : wish.namespaces.value_or(std::vector<NamedNamespace>())) {
    auto entry =
        namespace_entry(each, "namespaces[" + std::to_string(file.namespaces.size()) + "]");
    if (!entry) return tl::unexpected(entry.error());
    file.namespaces.push_back(std::move(*entry));
  }
  if (auto ok = add_when(wish, file); !ok) return tl::unexpected(ok.error());
  return file;
}

PlatformWish to_wish(const PlatformFile& file) {
  PlatformWish wish;
  if (file.policy) wish.policy = {file.policy->half_life, file.policy->ageing};
  wish.cohorts.emplace();
  for (const CohortEntry& each : file.cohorts) {
    wish.cohorts->push_back({{text_or_none(each.parent), weight_or_none(each.weight_milli),
                              wish_or_none(each.quota), wish_or_none(each.borrow)},
                             each.name});
  }
  wish.namespaces.emplace();
  for (const NamespaceEntry& each : file.namespaces) {
    wish.namespaces->push_back(
        {{text_or_none(each.cohort), weight_or_none(each.weight_milli), wish_or_none(each.borrow)},
         each.name,
         wish_or_none(each.quota),
         {}});
    if (!each.members) continue;
    auto& members = wish.namespaces->back().members.emplace();
    for (const auto& [user, role] : *each.members) members[user] = enum_name(role);
  }
  if (!file.calendar.empty()) wish.calendar.emplace();
  for (const core::CalendarEntry& each : file.calendar)
    wish.calendar->push_back({to_wish(each), each.name});
  if (!file.reservations.empty()) wish.reservations.emplace();
  for (const core::CreateReservation& each : file.reservations)
    wish.reservations->push_back(to_wish(each));
  return wish;
}

#define ATOLL_WISH(Type, name, sentence, fields)          \
  template <>                                             \
  const Shape& shape_of<Type>() {                         \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_WISH(QuotaWish, "Quota", "Amounts; what is left out does not limit.", kQuotaFields)
ATOLL_WISH(PolicyWish, "PolicyChange", "What changes; what is left out stays.", kPolicyFields)
ATOLL_WISH(CohortWish, "CohortChange", "What changes; what is left out stays.", kCohortFields)
ATOLL_WISH(NamespaceChange, "NamespaceChange", "What changes; what is left out stays.",
           kNamespaceChangeFields)
ATOLL_WISH(NamedCohort, "NamedCohort", "A cohort; what is left out is as if never set.",
           kNamedCohort)
ATOLL_WISH(NamedNamespace, "NamedNamespace", "A namespace; what is left out is as if never set.",
           kNamedNamespace)
ATOLL_WISH(PlatformWish, "Platform", "What is in force, or shall be.", kPlatformFields)
#undef ATOLL_WISH

}  // namespace atl::spec
