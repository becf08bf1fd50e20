// The shapes of answers, for the OpenAPI document and the documentation page. The handlers write
// their answers by hand; schemathesis holds those it reaches to these shapes.
#pragma once

#include "spec/fields.h"

namespace atl::api {

const spec::Shape& problem_shape();
const spec::Shape& job_row_shape();
const spec::Shape& job_shape();
const spec::Shape& job_list_shape();
const spec::Shape& progress_shape();
const spec::Shape& accepted_shape();
const spec::Shape& dry_run_shape();
const spec::Shape& done_shape();
const spec::Shape& task_shape();
const spec::Shape& task_list_shape();
const spec::Shape& attempt_shape();
const spec::Shape& attempt_list_shape();
const spec::Shape& explanation_shape();
const spec::Shape& exec_shape();
const spec::Shape& file_list_shape();
const spec::Shape& sample_list_shape();
const spec::Shape& event_list_shape();
const spec::Shape& namespace_shape();
const spec::Shape& namespace_list_shape();
const spec::Shape& cohort_shape();
const spec::Shape& cohort_list_shape();
const spec::Shape& policy_shape();
const spec::Shape& fair_shape();
const spec::Shape& platform_changes_shape();
const spec::Shape& calendar_shape();
const spec::Shape& calendar_entry_shape();
const spec::Shape& reservation_shape();
const spec::Shape& reservation_list_shape();
const spec::Shape& workflow_shape();
const spec::Shape& workflow_list_shape();
const spec::Shape& definition_list_shape();
const spec::Shape& submitted_workflow_shape();
const spec::Shape& tried_workflow_shape();
const spec::Shape& added_steps_shape();
const spec::Shape& step_list_shape();
const spec::Shape& version_list_shape();
const spec::Shape& fed_output_list_shape();
const spec::Shape& user_shape();
const spec::Shape& user_list_shape();
const spec::Shape& token_shape();
const spec::Shape& token_list_shape();
const spec::Shape& whoami_shape();
const spec::Shape& site_shape();
const spec::Shape& site_list_shape();
const spec::Shape& stats_shape();
const spec::Shape& version_shape();
const spec::Shape& doctor_shape();
const spec::Shape& health_shape();
const spec::Shape& tapis_answer_shape();
const spec::Shape& secret_shape();
const spec::Shape& secret_list_shape();
const spec::Shape& schedule_shape();
const spec::Shape& schedule_list_shape();
const spec::Shape& schedule_tried_shape();
const spec::Shape& fired_shape();
const spec::Shape& queue_shape();
const spec::Shape& queue_list_shape();
const spec::Shape& put_shape();
const spec::Shape& lease_shape();
const spec::Shape& dead_list_shape();
const spec::Shape& item_count_shape();
const spec::Shape& extended_shape();

}  // namespace atl::api
