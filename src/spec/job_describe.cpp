#include "spec/job_spec.h"

namespace atl::spec {
namespace {

Text said(const std::string& text) { return text.empty() ? Text() : Text(text); }

void describe_payload(JobSpec& spec, const core::Payload& payload) {
  if (!payload.argv.empty()) spec.command = payload.argv;
  spec.script = said(payload.script);
  if (!payload.args.empty()) spec.args = payload.args;
  if (!payload.env.empty()) spec.env = payload.env;
  if (!payload.secrets.empty()) spec.secrets = payload.secrets;
  spec.directory = said(payload.directory);
  spec.stdin_text = said(payload.stdin_text);
  spec.stdin_file = said(payload.stdin_file);
  if (payload.isolation != core::Isolation::automatic)
    spec.isolation = enum_name(payload.isolation);
  if (!payload.network) spec.network = false;
  if (!payload.writable.empty()) spec.writable = payload.writable;
  if (payload.processes_max) spec.processes = payload.processes_max;
  if (payload.log_bytes_max) spec.log_limit = Bytes{payload.log_bytes_max};
  spec.venv = said(payload.venv);
  if (!payload.simulated_us && !payload.simulated_exit && payload.simulated_start_error.empty())
    return;
  SimulateSpec& simulate = spec.simulate.emplace();
  simulate.run_for = Duration{static_cast<int64_t>(payload.simulated_us)};
  if (payload.simulated_exit) simulate.exit_code = payload.simulated_exit;
  simulate.start_error = said(payload.simulated_start_error);
}

void describe_terms(JobSpec& spec, const core::Terms& terms) {
  spec.cpus = Cpus{terms.resources.cpu_milli};
  spec.memory = Bytes{terms.resources.memory_bytes};
  for (const core::DeviceRequest& request : terms.resources.devices) {
    if (!spec.devices) spec.devices.emplace();
    spec.devices->push_back(describe_device(request));
  }
  if (terms.wall.us) spec.time = terms.wall;
  spec.grace = terms.grace;
  spec.site = said(terms.site);
  spec.priority = terms.priority;
  spec.tier = enum_name(terms.tier);
  if (terms.gang > 0) spec.gang = int64_t{terms.gang};
  if (terms.retry == core::RetryPolicy{}) return;
  RetriesSpec& retries = spec.retries.emplace();
  retries.max = int64_t{terms.retry.max};
  retries.backoff = terms.retry.backoff;
  retries.backoff_max = terms.retry.backoff_max;
  if (!terms.retry.exit_codes.empty())
    retries.exit_codes.emplace(terms.retry.exit_codes.begin(), terms.retry.exit_codes.end());
  if (terms.retry.on_timeout) retries.on_timeout = true;
}

}  // namespace

JobSpec describe_job(const core::Job& job, const core::Terms& terms, const core::Payload& payload,
                     const std::string& ns) {
  JobSpec spec;
  spec.name = job.name;
  spec.ns = ns;
  describe_payload(spec, payload);
  describe_terms(spec, terms);
  for (const core::Dependency& dependency : job.dependencies) {
    if (!spec.after) spec.after.emplace();
    spec.after->push_back({to_string(dependency.job), enum_name(dependency.kind)});
  }
  for (const core::Label& label : job.labels) {
    if (!spec.labels) spec.labels.emplace();
    spec.labels->emplace(label.key, label.value);
  }
  if (!job.notify.webhook.empty() || !job.notify.mail.empty())
    spec.notify = NotifySpec{said(job.notify.webhook), said(job.notify.mail)};
  return spec;
}

}  // namespace atl::spec
