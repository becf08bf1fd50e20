#include "api/handlers.h"
#include "api/schedule_requests.h"
#include "api/views.h"
#include "core/limits.h"

namespace atl::api {
namespace {

Param schedule_ns_param() {
  return path_param("namespace", "The namespace it is in.", "\"default\"");
}
Param schedule_param() { return path_param("schedule", "Its name.", "\"nightly\""); }

Endpoint schedule_action(const char* path, const char* summary, void (*handle)(const CallPtr&)) {
  return {.method = "POST",
          .path = path,
          .summary = summary,
          .tag = "schedules",
          .needs = Needs::member,
          .params = {schedule_ns_param(), schedule_param()},
          .response = schedule_shape,
          .handle = handle,
          .changes = true};
}

Endpoint hook_endpoint() {
  return {.method = "POST",
          .path = "/api/v1/hooks/{hook}",
          .summary =
              "Run a schedule that waits for this, once for each delivery. The body is "
              "signed with the hook's secret.",
          .tag = "schedules",
          .needs = Needs::nothing,
          .params = {path_param("hook", "Its number, as in the schedule's url.", "\"7\""),
                     header_param("X-Atoll-Timestamp", "Seconds since 1970, at most 5 minutes off.",
                                  "\"1790000000\""),
                     header_param("X-Atoll-Signature",
                                  "sha256= and the HMAC-SHA-256 of TIMESTAMP.BODY in hex.",
                                  "\"sha256=0a1b2c3d\""),
                     header_param("X-Atoll-Delivery",
                                  "What a delivery that is sent again is known by.", "\"42\""),
                     header_param("X-Hub-Signature-256",
                                  "Instead of those: sha256= and the HMAC-SHA-256 of the body.",
                                  "\"sha256=0a1b2c3d\"")},
          .request_type = "*/*",
          .status = 202,
          .response = fired_shape,
          .handle = receive_hook,
          .changes = true,
          .body_max = core::kFiringBodyMax};
}

}  // namespace

std::vector<Endpoint> schedule_endpoints() {
  Endpoint run = schedule_action("/api/v1/namespaces/{namespace}/schedules/{schedule}/run",
                                 "Run it now, whatever it waits for.", run_schedule);
  run.status = 202;
  run.response = fired_shape;
  return {
      {.path = "/api/v1/namespaces/{namespace}/schedules",
       .summary = "List schedules.",
       .tag = "schedules",
       .needs = Needs::viewer,
       .params = {schedule_ns_param()},
       .response = schedule_list_shape,
       .handle = list_schedules},
      {.method = "POST",
       .path = "/api/v1/namespaces/{namespace}/schedules",
       .summary = "Make a schedule, or with `replace` change one. Its runs are yours.",
       .tag = "schedules",
       .needs = Needs::member,
       .params = {schedule_ns_param(),
                  query_param(spec::Kind::boolean,
                              {.name = "dry_run",
                               .sentence = "Only say when it would run, or what is wrong.",
                               .example = "true",
                               .fallback = "false"})},
       .request = spec::shape_of<ScheduleWish>,
       .status = 201,
       .response = schedule_shape,
       .tried = schedule_tried_shape,
       .handle = create_schedule,
       .changes = true},
      {.path = "/api/v1/namespaces/{namespace}/schedules/{schedule}",
       .summary = "Show a schedule: what starts it, its next times and its last firings.",
       .tag = "schedules",
       .needs = Needs::viewer,
       .params = {schedule_ns_param(), schedule_param()},
       .response = schedule_shape,
       .handle = show_schedule},
      {.method = "PATCH",
       .path = "/api/v1/namespaces/{namespace}/schedules/{schedule}",
       .summary = "Change some fields of a schedule. Its runs are yours from then on.",
       .tag = "schedules",
       .needs = Needs::member,
       .params = {schedule_ns_param(), schedule_param()},
       .request = spec::shape_of<ScheduleChange>,
       .response = schedule_shape,
       .handle = change_schedule,
       .changes = true},
      {.method = "DELETE",
       .path = "/api/v1/namespaces/{namespace}/schedules/{schedule}",
       .summary = "Delete a schedule. Runs that it has opened go on.",
       .tag = "schedules",
       .needs = Needs::member,
       .params = {schedule_ns_param(), schedule_param()},
       .status = 204,
       .handle = delete_schedule,
       .changes = true},
      schedule_action("/api/v1/namespaces/{namespace}/schedules/{schedule}/pause",
                      "Open no more runs.", pause_schedule),
      schedule_action("/api/v1/namespaces/{namespace}/schedules/{schedule}/resume",
                      "Go on; times that have passed are missed ones.", resume_schedule),
      run,
      hook_endpoint(),
  };
}

}  // namespace atl::api
