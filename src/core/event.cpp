#include "core/event.h"

#include <array>

#include "base/overloaded.h"

namespace atl::core {

const char* event_name(const EventBody& body) {
  static constexpr std::array kNames{
      "user_created",      "user_changed",         "namespace_created", "namespace_deleted",
      "quota_set",         "member_set",           "member_removed",    "token_created",
      "token_revoked",     "site_added",           "site_removed",      "site_reported",
      "site_drained",      "job_submitted",        "job_held",          "job_released",
      "job_changed",       "dependencies_settled", "waiting_ended",     "task_placed",
      "task_started",      "task_stopping",        "task_unreachable",  "task_ended",
      "task_retried",      "backoff_ended",        "job_ended",         "job_reopened",
      "notice_settled",    "task_recalled",        "exec_asked",        "upload_asked",
      "backup_asked",      "cohort_set",           "cohort_deleted",    "stake_set",
      "policy_set",        "node_drained",         "calendar_set",      "reservation_made",
      "reservation_ended", "workflow_submitted",   "steps_added",       "workflow_sealed",
      "workflow_paused",   "workflow_cancelled",   "step_preparing",    "step_collecting",
      "steps_ended",       "steps_reopened",       "workflow_ended",    "workflow_reopened",
      "queue_set",         "queue_deleted",        "items_put",         "items_leased",
      "leases_extended",   "items_finished",       "items_returned",    "items_buried",
      "delays_ended",      "items_restored",       "items_removed",     "document_kept",
      "document_dropped",  "step_feeding",         "feed_stopped",      "fed_job_collecting",
      "fed_job_ended",     "schedule_set",         "schedule_deleted",  "schedule_paused",
      "schedule_asked",    "schedule_timed",       "schedule_fired",    "schedule_skipped",
      "schedule_opened",   "schedule_looked"};
  static_assert(kNames.size() == std::variant_size_v<EventBody>);
  return kNames[body.index()];
}

}  // namespace atl::core
