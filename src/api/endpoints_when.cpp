#include "api/handlers.h"
#include "api/views.h"
#include "spec/platform_json.h"

namespace atl::api {

std::vector<Endpoint> when_endpoints() {
  const Param entry = path_param("entry", "Its name.", "\"days\"");
  const Param reservation = path_param("reservation", "Its name.", "\"course\"");
  return {
      {.path = "/api/v1/calendar",
       .summary = "When, in every week, tiers may not have more than so much.",
       .tag = "sharing",
       .response = calendar_shape,
       .handle = show_calendar},
      {.method = "PUT",
       .path = "/api/v1/calendar/{entry}",
       .summary = "Make an entry of the calendar, or replace the one of its name.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .params = {entry},
       .request = spec::shape_of<spec::CalendarWish>,
       .response = calendar_entry_shape,
       .handle = set_calendar_entry,
       .changes = true},
      {.method = "DELETE",
       .path = "/api/v1/calendar/{entry}",
       .summary = "Remove an entry of the calendar.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .params = {entry},
       .status = 204,
       .handle = delete_calendar_entry,
       .changes = true},
      {.path = "/api/v1/reservations",
       .summary = "List reservations that are not over.",
       .tag = "sharing",
       .response = reservation_list_shape,
       .handle = list_reservations},
      {.method = "POST",
       .path = "/api/v1/reservations",
       .summary = "Keep room for namespaces for a time: whole nodes, or so many times an amount.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .request = spec::shape_of<spec::ReservationWish>,
       .status = 201,
       .response = reservation_shape,
       .handle = create_reservation,
       .changes = true},
      {.method = "DELETE",
       .path = "/api/v1/reservations/{reservation}",
       .summary = "Cancel a reservation.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .params = {reservation},
       .status = 204,
       .handle = cancel_reservation,
       .changes = true},
  };
}

}  // namespace atl::api
