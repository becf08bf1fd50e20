// The handlers behind endpoints(), by file. For the sources of this room only.
#pragma once

#include "api/endpoint.h"

namespace atl::api {

void list_jobs(const CallPtr& call);    // jobs_list.cpp
void submit_jobs(const CallPtr& call);  // jobs_submit.cpp

void show_job(const CallPtr& call);     // jobs_show.cpp
void explain_job(const CallPtr& call);  // jobs_explain.cpp

void list_tasks(const CallPtr& call);  // jobs_tasks.cpp
void list_attempts(const CallPtr& call);

void change_job(const CallPtr& call);  // jobs_actions.cpp
void cancel_job(const CallPtr& call);
void hold_job(const CallPtr& call);
void release_job(const CallPtr& call);
void requeue_job(const CallPtr& call);

void exec_in_job(const CallPtr& call);  // jobs_exec.cpp
void show_samples(const CallPtr& call);
void show_logs(const CallPtr& call);   // jobs_logs.cpp
void list_files(const CallPtr& call);  // jobs_files.cpp
void get_file(const CallPtr& call);
void put_file(const CallPtr& call);

void show_events(const CallPtr& call);  // events.cpp

void list_namespaces(const CallPtr& call);  // namespaces.cpp
void show_namespace(const CallPtr& call);
void create_namespace(const CallPtr& call);
void delete_namespace(const CallPtr& call);
void set_quota(const CallPtr& call);
void set_member(const CallPtr& call);
void remove_member(const CallPtr& call);
void change_namespace(const CallPtr& call);

void list_cohorts(const CallPtr& call);  // cohorts.cpp
void show_cohort(const CallPtr& call);
void set_cohort(const CallPtr& call);
void delete_cohort(const CallPtr& call);
void show_policy(const CallPtr& call);  // policy.cpp
void change_policy(const CallPtr& call);
void show_fair(const CallPtr& call);      // fair.cpp
void show_platform(const CallPtr& call);  // platform.cpp
void apply_platform(const CallPtr& call);

void show_calendar(const CallPtr& call);  // calendar.cpp
void set_calendar_entry(const CallPtr& call);
void delete_calendar_entry(const CallPtr& call);
void list_reservations(const CallPtr& call);  // reservations.cpp
void create_reservation(const CallPtr& call);
void cancel_reservation(const CallPtr& call);

void submit_workflow(const CallPtr& call);  // workflows_submit.cpp
void add_steps(const CallPtr& call);
void list_workflows(const CallPtr& call);  // workflows.cpp
void show_workflow(const CallPtr& call);
void list_steps(const CallPtr& call);
void list_versions(const CallPtr& call);
void list_fed_outputs(const CallPtr& call);
void pause_workflow(const CallPtr& call);
void resume_workflow(const CallPtr& call);
void cancel_workflow(const CallPtr& call);
void retry_workflow(const CallPtr& call);
void show_workflow_graph(const CallPtr& call);  // workflows_report.cpp
void show_workflow_report(const CallPtr& call);
void show_workflow_crate(const CallPtr& call);
void show_workflow_schema(const CallPtr& call);  // endpoints_workflows.cpp

void list_definitions(const CallPtr& call);  // cloudmesh_show.cpp
void show_definition(const CallPtr& call);
void show_definition_job(const CallPtr& call);
void upload_definition(const CallPtr& call);  // cloudmesh_upload.cpp
void delete_definition(const CallPtr& call);  // cloudmesh_edit.cpp
void link_definition(const CallPtr& call);
void set_definition_job(const CallPtr& call);
void delete_definition_job(const CallPtr& call);
void run_definition(const CallPtr& call);  // cloudmesh_run.cpp
void portal_home(const CallPtr& call);     // cloudmesh_portal.cpp
void portal_graph(const CallPtr& call);
void portal_table(const CallPtr& call);
void portal_watcher(const CallPtr& call);
void portal_running(const CallPtr& call);
void portal_edit(const CallPtr& call);
void portal_delete(const CallPtr& call);
void portal_reset(const CallPtr& call);
void portal_add(const CallPtr& call);
void portal_example(const CallPtr& call);
void portal_about(const CallPtr& call);
void portal_contact(const CallPtr& call);
void portal_manual(const CallPtr& call);
void portal_preferences(const CallPtr& call);
void count_done(const CallPtr& call);  // cloudmesh_counts.cpp
void count_ready(const CallPtr& call);
void count_failed(const CallPtr& call);
void count_submitted(const CallPtr& call);
void count_running(const CallPtr& call);

void list_users(const CallPtr& call);  // users.cpp
void show_user(const CallPtr& call);
void create_user(const CallPtr& call);
void change_user(const CallPtr& call);
void list_tokens(const CallPtr& call);
void create_token(const CallPtr& call);
void revoke_token(const CallPtr& call);
void show_whoami(const CallPtr& call);

void list_sites(const CallPtr& call);  // sites.cpp
void show_site(const CallPtr& call);
void add_site(const CallPtr& call);
void remove_site(const CallPtr& call);
void drain_site(const CallPtr& call);
void undrain_site(const CallPtr& call);
void drain_node(const CallPtr& call);
void undrain_node(const CallPtr& call);

void show_stats(const CallPtr& call);  // stats.cpp
void show_metrics(const CallPtr& call);
void make_backup(const CallPtr& call);  // server.cpp
void show_doctor(const CallPtr& call);  // server.cpp
void show_health(const CallPtr& call);
void show_readiness(const CallPtr& call);
void show_version(const CallPtr& call);
void show_openapi(const CallPtr& call);
void show_docs(const CallPtr& call);

void list_secrets(const CallPtr& call);  // secrets.cpp
void set_secret(const CallPtr& call);
void delete_secret(const CallPtr& call);
void list_tapis_secrets(const CallPtr& call);
void show_tapis_secret(const CallPtr& call);
void remove_tapis_secret(const CallPtr& call);
void refuse_tapis(const CallPtr& call);  // tapis_envelope.cpp
void show_tapis_health(const CallPtr& call);
void list_tapis_tenants(const CallPtr& call);
void list_tapis_groups(const CallPtr& call);  // tapis_groups.cpp
void show_tapis_group(const CallPtr& call);
void create_tapis_group(const CallPtr& call);
void delete_tapis_group(const CallPtr& call);
void list_tapis_users(const CallPtr& call);
void show_tapis_user(const CallPtr& call);
void add_tapis_user(const CallPtr& call);
void change_tapis_user(const CallPtr& call);
void remove_tapis_user(const CallPtr& call);
void list_tapis_pipelines(const CallPtr& call);  // tapis_pipelines.cpp
void create_tapis_pipeline(const CallPtr& call);
void show_tapis_pipeline(const CallPtr& call);
void change_tapis_pipeline(const CallPtr& call);
void delete_tapis_pipeline(const CallPtr& call);
void change_tapis_owner(const CallPtr& call);
void list_tapis_tasks(const CallPtr& call);
void show_tapis_task(const CallPtr& call);
void create_tapis_task(const CallPtr& call);
void change_tapis_task(const CallPtr& call);
void delete_tapis_task(const CallPtr& call);
void run_tapis_pipeline(const CallPtr& call);  // tapis_runs.cpp
void list_tapis_runs(const CallPtr& call);
void show_tapis_run(const CallPtr& call);
void terminate_tapis_run(const CallPtr& call);
void list_tapis_executions(const CallPtr& call);
void show_tapis_execution(const CallPtr& call);

void list_queues(const CallPtr& call);  // queues.cpp
void create_queue(const CallPtr& call);
void show_queue(const CallPtr& call);
void change_queue(const CallPtr& call);
void delete_queue(const CallPtr& call);
void finish_items(const CallPtr& call);  // queue_actions.cpp
void return_items(const CallPtr& call);
void extend_leases(const CallPtr& call);
void restore_items(const CallPtr& call);
void purge_items(const CallPtr& call);
void put_items(const CallPtr& call);  // queue_items.cpp
void list_dead(const CallPtr& call);
void lease_items(const CallPtr& call);  // queue_lease.cpp

void list_schedules(const CallPtr& call);  // schedules.cpp
void create_schedule(const CallPtr& call);
void show_schedule(const CallPtr& call);
void change_schedule(const CallPtr& call);
void pause_schedule(const CallPtr& call);
void resume_schedule(const CallPtr& call);
void run_schedule(const CallPtr& call);
void delete_schedule(const CallPtr& call);
void receive_hook(const CallPtr& call);  // hooks.cpp

}  // namespace atl::api
