// The platform over the API: the structures that people and programs send, with a field table each,
// and what they stand for in the core and in the platform file.
#pragma once

#include "spec/fields.h"
#include "spec/platform_file.h"

namespace atl::spec {

struct QuotaWish {
  std::optional<Cpus> cpus;
  std::optional<Bytes> memory;
  IntegerMap devices;
  Integer running;
  Integer queued;
};
struct PolicyWish {
  std::optional<Duration> half_life;
  std::optional<Duration> ageing;
};
struct CohortWish {
  Text parent;
  std::optional<Cpus> weight;
  std::optional<QuotaWish> quota;
  std::optional<QuotaWish> borrow;
};
struct NamespaceChange {
  Text cohort;
  std::optional<Cpus> weight;
  std::optional<QuotaWish> borrow;
};
struct NamedCohort : CohortWish {
  Text name;
};
struct NamedNamespace : NamespaceChange {
  Text name;
  std::optional<QuotaWish> quota;
  TextMap members;
};
struct CalendarWish {
  Text tier;
  Text days;
  Text from;
  Text until;
  std::optional<Cpus> share;
  std::optional<QuotaWish> limit;
};
struct NamedCalendar : CalendarWish {
  Text name;
};
struct ReservationWish {
  Text name;
  Text from;
  Text until;
  Texts namespaces;
  Integer nodes;
  Integer count;
  std::optional<Cpus> cpus;
  std::optional<Bytes> memory;
  IntegerMap devices;
  Text site;
};
struct PlatformWish {
  std::optional<PolicyWish> policy;
  std::optional<std::vector<NamedCohort>> cohorts;
  std::optional<std::vector<NamedNamespace>> namespaces;
  std::optional<std::vector<NamedCalendar>> calendar;
  std::optional<std::vector<ReservationWish>> reservations;
};

core::Quota to_quota(const QuotaWish& wish);
QuotaWish to_wish(const core::Quota& quota);
// Of one within its bounds.
std::optional<uint32_t> to_weight(const std::optional<Cpus>& wish);

// The error's field is the path of what is wrong.
[[nodiscard]] Result<PlatformFile> to_platform_file(const PlatformWish& wish);
PlatformWish to_wish(const PlatformFile& file);  // without nodes

template <>
const Shape& shape_of<QuotaWish>();
template <>
const Shape& shape_of<PolicyWish>();
template <>
const Shape& shape_of<CohortWish>();
template <>
const Shape& shape_of<NamespaceChange>();
template <>
const Shape& shape_of<NamedCohort>();
template <>
const Shape& shape_of<NamedNamespace>();
template <>
const Shape& shape_of<CalendarWish>();
template <>
const Shape& shape_of<NamedCalendar>();
template <>
const Shape& shape_of<ReservationWish>();
template <>
const Shape& shape_of<PlatformWish>();

}  // namespace atl::spec
