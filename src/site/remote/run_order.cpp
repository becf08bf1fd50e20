#include "site/remote/run_order.h"

#include <set>

#include "base/text.h"
#include "site/local/devices.h"
#include "site/local/environment.h"
#include "site/local/remains.h"
#include "site/remote/shell.h"

namespace atl::site {
namespace {

// What the host's own login says better than we do.
const std::set<std::string, std::less<>> kLoginNames = {"HOME", "USER", "LOGNAME",      "SHELL",
                                                        "PATH", "LANG", kMarkerVariable};

bool is_variable(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
         std::string_view::npos;
}

Launch launch_of(const StartOrder& order, const HostPlace& place) {
  Launch launch{.attempt = order.attempt,
                .array = order.array,
                .resumed = order.resumed,
                .name = order.name,
                .ns = order.ns,
                .cpu_milli = order.resources.cpu_milli,
                .memory_bytes = order.resources.memory_bytes,
                .payload = order.payload,
                .job_dir = place.root + "/" + job_path(order.attempt.job),
                .gpus_present = place.gpus_present,
                .gpus = visible_gpus(order.placement.devices),
                .recalls = order.recalls,
                .variables = parts_environment(order.placement.devices)};
  launch.account.home = place.home;
  launch.account.name = place.user;
  launch.payload.venv.clear();  // its PATH is the host's, with the environment in front
  if (order.gang > 0) {
    launch.variables["ATOLL_GANG_SIZE"] = std::to_string(order.gang);
    launch.variables["ATOLL_GANG_RANK"] = std::to_string(order.attempt.index);
    launch.variables["ATOLL_GANG_LEADER"] = order.leader;
  }
  const std::string run = place.root + "/attempts/" + run_id(order.attempt);
  launch.variables["ATOLL_NOTICE_FILE"] = run + "/notice";
  launch.variables[kProgressFileVariable] = run + "/progress_file";
  return launch;
}

Result<std::string> exports(const Launch& launch) {
  std::string text;
  for (const std::string& line : build_environment(launch)) {
    const size_t at = line.find('=');
    const std::string name = line.substr(0, at);
    if (kLoginNames.contains(name) && !launch.payload.env.contains(name)) continue;
    if (!is_variable(name))
      return fail(ErrorCode::invalid, "the variable " + quote(name) +
                                          " cannot be given to a task of this site: its name may "
                                          "have letters, digits and underscores");
    text += "export " + name + "=" + shell_quote(std::string_view(line).substr(at + 1)) + "\n";
  }
  return text;
}

std::string task_text(const RunOrder& order, const HostPlace& place, const std::string& variables) {
  const core::Payload& payload = order.start.payload;
  std::string text = variables;
  if (!payload.venv.empty()) {
    text += "export VIRTUAL_ENV=" + shell_quote(payload.venv) + "\n";
    text += "export PATH=\"$VIRTUAL_ENV/bin:$PATH\"\nunset PYTHONHOME\n";
  }
  text += "dir=" + shell_quote(payload.directory) + "\n";
  if (!payload.stdin_text.empty())
    text +=
        "input=" + shell_quote(place.root + "/attempts/" + run_id(order.start.attempt) + "/stdin") +
        "\n";
  else if (!payload.stdin_file.empty())
    text += "input=" + shell_quote(payload.stdin_file) + "\n";
  if (!payload.script.empty()) text += "script=1\n";
  text += "set --";
  for (const std::string& word : payload.script.empty() ? payload.argv : payload.args)
    text += " " + shell_quote(word);
  return text + "\n";
}

std::string order_text(const RunOrder& order, const Launch& launch) {
  const StartOrder& start = order.start;
  std::string text = "job_dir=" + job_path(start.attempt.job) + "\n";
  text += "task_dir=" + task_path(start) + "\n";
  text += "grace_cs=" + std::to_string(start.grace.us / 10'000) + "\n";
  if (order.limit_wall && start.wall.us > 0)
    text += "wall_cs=" + std::to_string(start.wall.us / 10'000) + "\n";
  if (order.limit_memory && start.resources.memory_bytes > 0)
    text += "memory_kb=" + std::to_string(start.resources.memory_bytes / 1024) + "\n";
  if (order.lease.us > 0)
    text += "lease_cs=" + std::to_string(order.lease.us / 10'000) +
            "\nrenewed=" + std::to_string(order.renewed_cs) + "\n";
  const auto chosen = start.payload.env.find(kProgressFileVariable);
  const std::string progress = chosen != start.payload.env.end()
                                   ? chosen->second
                                   : launch.variables.at(kProgressFileVariable);
  return text + "progress_file=" + shell_quote(progress) + "\n";
}

}  // namespace

std::string run_id(AttemptId attempt) {
  return std::to_string(attempt.job.value) + "." + std::to_string(attempt.index) + "." +
         std::to_string(attempt.attempt);
}

std::optional<AttemptId> parse_run_id(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto job = parse_int(parts[0]), index = parse_int(parts[1]), attempt = parse_int(parts[2]);
  if (!job || !index || !attempt || *job < 0 || *index < 0 || *index > UINT32_MAX || *attempt < 0 ||
      *attempt > UINT32_MAX)
    return std::nullopt;
  return AttemptId{JobId{static_cast<uint64_t>(*job)}, static_cast<uint32_t>(*index),
                   static_cast<uint32_t>(*attempt)};
}

std::string job_path(JobId job) { return "jobs/" + std::to_string(job.value); }

std::string task_path(const StartOrder& order) {
  const std::string path = job_path(order.attempt.job);
  return order.array ? path + "/" + std::to_string(order.attempt.index) : path;
}

Result<std::vector<TarFile>> run_files(const RunOrder& order, const HostPlace& place) {
  const core::Payload& payload = order.start.payload;
  if (payload.argv.empty() && payload.script.empty())
    return fail(ErrorCode::invalid, "there is neither a command nor a script to run");
  if (payload.isolation == core::Isolation::sandbox)
    return fail(ErrorCode::invalid,
                "a sandbox was asked for, which this site has not: submit with --isolation none");
  Launch launch = launch_of(order.start, place);
  if (!order.devices) launch.gpus_present = false;
  const Result<std::string> variables = exports(launch);
  if (!variables) return tl::unexpected(variables.error());
  const std::string at = run_id(order.start.attempt) + "/";
  std::vector<TarFile> files;
  if (!payload.script.empty())
    files.push_back({.path = at + "script", .bytes = payload.script, .mode = 0700});
  if (!payload.stdin_text.empty())
    files.push_back({.path = at + "stdin", .bytes = payload.stdin_text});
  files.push_back({.path = at + "task", .bytes = task_text(order, place, *variables)});
  files.push_back({.path = at + "order", .bytes = order_text(order, launch)});
  return files;
}

std::string stop_notice(const StopOrder& order) {
  if (order.unless_begun || order.grace.us <= 0) return {};
  return std::string("{\"reason\": \"") + enum_name(order.reason) +
         "\", \"grace_seconds\": " + std::to_string(order.grace.us / 1'000'000) +
         ", \"deadline\": \"" + format_time(order.deadline) + "\"}";
}

}  // namespace atl::site
