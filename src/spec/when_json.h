// The calendar and reservations over the API, and what they stand for in the core.
#pragma once

#include "core/input.h"
#include "core/state.h"
#include "spec/platform_json.h"

namespace atl::spec {

[[nodiscard]] Result<core::CalendarEntry> to_entry(const std::string& name,
                                                   const CalendarWish& wish);
CalendarWish to_wish(const core::CalendarEntry& entry);

[[nodiscard]] Result<core::CreateReservation> to_reservation(const ReservationWish& wish);
ReservationWish to_wish(const core::CreateReservation& reservation);

// What is in force, as it was asked for. Namespaces that are gone are left out.
core::CreateReservation as_asked(const core::State& state, const core::Reservation& reservation);

// Whole devices by kind or kind:model; a model may be several in order of preference.
[[nodiscard]] Result<std::vector<core::DeviceRequest>> whole_devices(
    const std::map<std::string, int64_t>& counts);
std::map<std::string, int64_t> device_counts(const std::vector<core::DeviceRequest>& requests);

}  // namespace atl::spec
