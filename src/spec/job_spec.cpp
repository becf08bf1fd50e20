#include "spec/job_spec.h"

#include <algorithm>

#include "base/text.h"
#include "base/wire.h"
#include "core/limits.h"
#include "core/site_choice.h"

namespace atl::spec {
namespace {

tl::unexpected<Error> refuse_job(const char* field, std::string message) {
  return fail(ErrorCode::invalid, std::string(field) + " " + std::move(message), field);
}

Result<void> set_array(const std::string& text, core::SubmitJob& job) {
  std::string_view ranges = text;
  if (const size_t percent = ranges.find('%'); percent != std::string_view::npos) {
    const auto limit = parse_int(ranges.substr(percent + 1));
    if (!limit || *limit < 1 || *limit > INT32_MAX)
      return refuse_job("array", "is " + quote(text) + "; after % comes how many may run at once");
    job.terms.parallel_max = static_cast<uint32_t>(*limit);
    ranges = ranges.substr(0, percent);
  }
  auto indices = parse_intervals(ranges, core::kArraySizeMax);
  if (!indices) return fail(indices.error().code, indices.error().message, "array");
  job.array = true;
  job.indices = std::move(*indices);
  return {};
}

Result<void> set_dependencies(const std::vector<AfterSpec>& after, core::SubmitJob& job) {
  for (size_t i = 0; i < after.size(); ++i) {
    const std::string path = "after[" + std::to_string(i) + "]";
    const auto id = parse_int(after[i].job.value_or(""));
    if (!id || *id <= 0)
      return fail(ErrorCode::invalid, path + ".job must be the id of a job, such as 12",
                  path + ".job");
    core::Dependency dependency{JobId{static_cast<uint64_t>(*id)}, {}, {}};
    if (after[i].kind && !enum_from_name(*after[i].kind, dependency.kind))
      return fail(ErrorCode::invalid, path + ".kind is not known", path + ".kind");
    job.dependencies.push_back(dependency);
  }
  return {};
}

Result<core::RetryPolicy> retry_policy(const RetriesSpec& retries) {
  core::RetryPolicy policy;
  policy.max = static_cast<uint32_t>(std::clamp<int64_t>(retries.max.value_or(0), 0, UINT32_MAX));
  policy.backoff = retries.backoff.value_or(policy.backoff);
  policy.backoff_max = retries.backoff_max.value_or(policy.backoff_max);
  policy.on_timeout = retries.on_timeout.value_or(false);
  for (const int64_t code : retries.exit_codes.value_or(std::vector<int64_t>{})) {
    if (code < 1 || code > 255)
      return refuse_job("retries.exit_codes",
                        "has " + std::to_string(code) + "; an exit code is 1 to 255");
    policy.exit_codes.push_back(static_cast<int32_t>(code));
  }
  if (!retries.max && retries != RetriesSpec{})
    return refuse_job("retries.max",
                      "is missing, and the rest of retries means nothing without it: "
                      "say how often it is retried, such as 3");
  return policy;
}

Result<void> check_env(const std::map<std::string, std::string>& env) {
  for (const auto& [key, value] : env) {
    if (auto ok = check_variable_name(key); !ok) return ok;
  }
  return {};
}

// NAME, or NAME/FIELD/… of one that is a JSON object.
Result<void> check_secrets(const JobSpec& spec) {
  for (const auto& [key, name] : spec.secrets.value_or(std::map<std::string, std::string>{})) {
    if (auto ok = check_variable_name(key); !ok) return ok;
    if (spec.env && spec.env->contains(key))
      return refuse_job("secrets", "has " + quote(key) + ", which env has too");
    if (auto ok = check_identifier(name.substr(0, name.find('/')), "secrets." + key); !ok)
      return ok;
  }
  return {};
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

Result<void> check_path(const char* field, std::string_view path) {
  if (std::any_of(path.begin(), path.end(), is_control))
    return refuse_job(field, "is " + quote(path) + "; a path has no control characters");
  return {};
}

Result<void> check_program(const JobSpec& spec) {
  if (spec.command && spec.script)
    return refuse_job("script", "and command exclude each other: write one of them");
  if (!spec.command && !spec.script && !spec.simulate)
    return refuse_job("command", "is missing: write a command (a list of texts) or a script");
  if (spec.command && (spec.command->empty() || spec.command->front().empty()))
    return refuse_job("command", "must begin with a program");
  if (spec.args && !spec.script)
    return refuse_job("args", "belong to a script; add them to command");
  for (const auto* list : {&spec.command, &spec.args}) {
    for (const std::string& item : list->value_or(std::vector<std::string>{})) {
      if (item.size() > static_cast<size_t>(kTextBytesMax))
        return refuse_job("command", "has an argument over 128 KiB; put it into a file or stdin");
    }
  }
  if (spec.stdin_text && spec.stdin_file)
    return refuse_job("stdin", "and stdin_file exclude each other");
  return {};
}

Result<core::Payload> payload_of(const JobSpec& spec) {
  if (auto ok = check_program(spec); !ok) return tl::unexpected(ok.error());
  core::Payload payload;
  payload.argv = spec.command.value_or(payload.argv);
  payload.script = spec.script.value_or("");
  payload.args = spec.args.value_or(payload.args);
  payload.env = spec.env.value_or(payload.env);
  if (auto ok = check_env(payload.env); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_secrets(spec); !ok) return tl::unexpected(ok.error());
  payload.secrets = spec.secrets.value_or(payload.secrets);
  for (const auto& [name, path] :
       {std::pair("directory", &spec.directory), std::pair("venv", &spec.venv),
        std::pair("stdin_file", &spec.stdin_file)}) {
    if (auto ok = check_path(name, path->value_or("")); !ok) return tl::unexpected(ok.error());
  }
  for (const std::string& path : spec.writable.value_or(payload.writable)) {
    if (auto ok = check_path("writable", path); !ok) return tl::unexpected(ok.error());
  }
  payload.directory = spec.directory.value_or("");
  if (!payload.directory.empty() && payload.directory.front() != '/')
    return refuse_job("directory", "is " + quote(payload.directory) + "; it must begin with /");
  payload.stdin_text = spec.stdin_text.value_or("");
  payload.stdin_file = spec.stdin_file.value_or("");
  if (spec.isolation && !enum_from_name(*spec.isolation, payload.isolation))
    return refuse_job("isolation", "is not known");
  payload.network = spec.network.value_or(true);
  if (!payload.network) {
    if (payload.isolation == core::Isolation::none)
      return refuse_job("network", "can be off only in a sandbox: leave out `isolation: none`");
    payload.isolation = core::Isolation::sandbox;
  }
  payload.writable = spec.writable.value_or(payload.writable);
  payload.processes_max = static_cast<uint32_t>(spec.processes.value_or(0));
  payload.log_bytes_max = spec.log_limit.value_or(Bytes{}).count;
  payload.venv = spec.venv.value_or("");
  const SimulateSpec simulate = spec.simulate.value_or(SimulateSpec{});
  payload.simulated_us = static_cast<uint64_t>(simulate.run_for.value_or(Duration{}).us);
  payload.simulated_exit = static_cast<int32_t>(simulate.exit_code.value_or(0));
  payload.simulated_start_error = simulate.start_error.value_or("");
  return payload;
}

std::string default_name(const JobSpec& spec) {
  if (!spec.command || spec.command->empty()) return spec.script ? "script" : "simulated";
  const std::string& program = spec.command->front();
  std::string name = program.substr(program.rfind('/') + 1);
  // A program may be called anything; a name may not.
  return name.size() <= core::kNameBytesMax && check_name(name, "name", core::kNameBytesMax)
             ? name
             : "command";
}

Result<void> check_notify(const core::Notify& notify) {
  const std::string& hook = notify.webhook;
  const bool url = hook.starts_with("http://") || hook.starts_with("https://");
  const auto control = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (!hook.empty() && (!url || std::any_of(hook.begin(), hook.end(), control)))
    return refuse_job("notify.webhook", "must be an http or https URL");
  const std::string& mail = notify.mail;
  const bool odd = mail.starts_with('-') || mail.find('@') == std::string::npos ||
                   std::any_of(mail.begin(), mail.end(), control);
  if (!mail.empty() && odd) return refuse_job("notify.mail", "must be a mail address");
  return {};
}

core::Labels to_labels(const std::map<std::string, std::string>& map) {
  core::Labels labels;
  for (const auto& [key, value] : map) labels.push_back({key, value});
  return labels;
}

}  // namespace

Result<void> check_variable_name(std::string_view name) {
  const bool digit = !name.empty() && name[0] >= '0' && name[0] <= '9';
  const bool odd = std::any_of(name.begin(), name.end(),
                               [](char c) { return is_control(c) || c == ' ' || c == '='; });
  if (!name.empty() && !digit && !odd) return {};
  return refuse_job("env", "has " + quote(name) +
                               ", which is no name for a variable: write letters, digits and _, "
                               "a digit not first");
}

Result<NewJob> to_submission(const JobSpec& spec) {
  NewJob made;
  auto payload = payload_of(spec);
  if (!payload) return tl::unexpected(payload.error());
  made.payload = std::move(*payload);
  core::SubmitJob& job = made.job;
  job.ns = spec.ns.value_or(core::kDefaultNamespace);
  job.name = spec.name && !spec.name->empty() ? *spec.name : default_name(spec);
  job.terms.resources.cpu_milli = spec.cpus.value_or(Cpus{kDefaultCpuMilli}).milli;
  job.terms.resources.memory_bytes = spec.memory.value_or(Bytes{kDefaultMemoryBytes}).count;
  auto devices = device_requests(spec.gpus, spec.devices);
  if (!devices) return tl::unexpected(devices.error());
  job.terms.resources.devices = std::move(*devices);
  job.terms.priority = static_cast<int32_t>(spec.priority.value_or(0));
  if (spec.tier && !enum_from_name(*spec.tier, job.terms.tier))
    return refuse_job("tier", "is not known");
  job.terms.wall = spec.time.value_or(Duration{});
  job.terms.grace = spec.grace.value_or(job.terms.grace);
  job.terms.site = spec.site.value_or("");
  if (job.terms.site == core::kAnySite) job.terms.site.clear();
  auto retry = retry_policy(spec.retries.value_or(RetriesSpec{}));
  if (!retry) return tl::unexpected(retry.error());
  job.terms.retry = std::move(*retry);
  job.indices.add(0);
  if (spec.array) {
    if (auto ok = set_array(*spec.array, job); !ok) return tl::unexpected(ok.error());
  }
  if (spec.gang) {
    job.terms.gang = static_cast<uint32_t>(*spec.gang);
    if (!spec.array) job.indices = IntervalSet({0, job.terms.gang - 1});
    job.array = true;
  }
  if (auto ok = set_dependencies(spec.after.value_or(std::vector<AfterSpec>{}), job); !ok)
    return tl::unexpected(ok.error());
  job.held = spec.hold.value_or(false);
  job.keep = spec.keep.value_or(false);
  job.labels = to_labels(spec.labels.value_or(std::map<std::string, std::string>{}));
  const NotifySpec notify = spec.notify.value_or(NotifySpec{});
  job.notify = {notify.webhook.value_or(""), notify.mail.value_or("")};
  if (auto ok = check_notify(job.notify); !ok) return tl::unexpected(ok.error());
  made.payload_bytes = wire::encode(made.payload);
  if (made.payload_bytes.size() > kPayloadBytesMax)
    return fail(
        ErrorCode::too_large,
        "command, script, environment and stdin together are over 6 MiB; put data into files");
  job.payload = sha256(made.payload_bytes);
  return made;
}

Result<core::ChangeJob> to_change(JobId id, const JobChange& change) {
  core::ChangeJob command;
  command.id = id;
  command.name = change.name;
  if (change.priority) command.priority = static_cast<int32_t>(*change.priority);
  if (change.cpus) command.cpu_milli = change.cpus->milli;
  if (change.memory) command.memory_bytes = change.memory->count;
  if (change.gpus || change.devices) {
    auto devices = device_requests(change.gpus, change.devices);
    if (!devices) return tl::unexpected(devices.error());
    command.devices = std::move(*devices);
  }
  command.wall = change.time;
  if (change.parallel_max) command.parallel_max = static_cast<uint32_t>(*change.parallel_max);
  if (change.tier && !enum_from_name(*change.tier, command.tier.emplace()))
    return refuse_job("tier", "is not known");
  command.grace = change.grace;
  if (change.retries) {
    auto retry = retry_policy(*change.retries);
    if (!retry) return tl::unexpected(retry.error());
    command.retry = std::move(*retry);
  }
  if (change.labels) command.labels = to_labels(*change.labels);
  return command;
}

}  // namespace atl::spec
