#include "site/slurm/batch_script.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "site/slurm/limits.h"

namespace atl::site {
namespace {

constexpr int64_t kSignalMax = 65535;  // seconds, what sbatch takes

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

// Values become options of a program and lines of a script: nothing that a shell or sbatch would
// read as more than one word.
Result<void> check_value(std::string_view value, std::string_view field) {
  for (const char c : value) {
    const bool plain = ::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("_.,:&|*@+=-/()[]").find(c) != std::string_view::npos;
    if (plain) continue;
    return fail(ErrorCode::invalid,
                std::string(field) + " of the Slurm site is " + quote(value) +
                    "; it may have letters, digits and _.,:&|*@+=-/()[]",
                std::string(field));
  }
  return {};
}

Result<void> check_choice(const SlurmChoice& choice) {
  const std::pair<std::string_view, const std::string*> fields[] = {
      {"partition", &choice.partition},
      {"account", &choice.account},
      {"qos", &choice.qos},
      {"gres", &choice.gres},
      {"constraint", &choice.constraint},
      {"reservation", &choice.reservation}};
  for (const auto& [name, value] : fields) {
    if (auto checked = check_value(*value, name); !checked) return checked;
  }
  return {};
}

const SlurmChoice* entry_for(const SlurmOptions& options, const std::string& kind,
                             const std::string& model) {
  for (const std::string& key : {core::device_name(kind, model), model, kind}) {
    if (key.empty()) continue;
    const auto at = options.accelerators.find(key);
    if (at != options.accelerators.end()) return &at->second;
  }
  return nullptr;
}

void override_with(SlurmChoice& choice, const SlurmChoice& more) {
  const auto take = [](std::string& field, const std::string& value) {
    if (!value.empty()) field = value;
  };
  take(choice.partition, more.partition);
  take(choice.account, more.account);
  take(choice.qos, more.qos);
  take(choice.constraint, more.constraint);
  take(choice.reservation, more.reservation);
}

// What was placed is more exact than what was asked for: of several models one was chosen.
std::map<std::pair<std::string, std::string>, uint32_t> devices_of(const StartOrder& order) {
  std::map<std::pair<std::string, std::string>, uint32_t> counts;
  for (const core::HeldDevice& held : order.placement.devices) ++counts[{held.kind, held.model}];
  if (!counts.empty()) return counts;
  for (const core::DeviceRequest& request : order.resources.devices)
    counts[{request.kind, request.model}] += request.count;
  return counts;
}

Result<std::string> gres_of(const StartOrder& order, const SlurmOptions& options) {
  for (const core::DeviceRequest& request : order.resources.devices) {
    if (core::takes_whole(request)) continue;
    return fail(ErrorCode::invalid, "a Slurm site gives whole devices only: ask for a whole " +
                                        core::device_name(request.kind, request.model));
  }
  std::string gres;
  for (const auto& [name, count] : devices_of(order)) {
    if (count == 0) continue;
    const SlurmChoice* entry = entry_for(options, name.first, name.second);
    const std::string word =
        entry && !entry->gres.empty() ? entry->gres : core::device_name(name.first, name.second);
    if (auto checked = check_value(word, "gres"); !checked) return tl::unexpected(checked.error());
    gres += (gres.empty() ? "" : ",") + word + ":" + std::to_string(count);
  }
  return gres;
}

// The wrapper's own clock ends the attempt at its wall-time; Slurm's limit comes behind it, unless
// the partition's is nearer.
void set_times(const StartOrder& order, Duration time_max, BatchRequest& request) {
  const int64_t grace = ceil_div(std::max<int64_t>(order.grace.us, 0), 1'000'000);
  request.signal_before = std::clamp<int64_t>(grace, 1, kSignalMax);
  if (order.wall.us <= 0) return;
  Duration limit = order.wall + order.grace + kKillMargin;
  if (time_max.us > 0 && limit > time_max && order.wall <= time_max) limit = time_max;
  request.minutes = std::max<int64_t>(1, ceil_div(limit.us, minutes(1).us));
}

using Values = std::map<std::string, std::string, std::less<>>;

void add_line(std::string& block, std::string_view option, const std::string& value) {
  if (!value.empty()) block += "#SBATCH --" + std::string(option) + "=" + value + "\n";
}

std::string number_or_nothing(int64_t value, const char* unit = "") {
  return value > 0 ? std::to_string(value) + unit : std::string();
}

Values values_of(const BatchRequest& request, const std::string& run) {
  Values values = {{"name", request.name},
                   {"partition", request.choice.partition},
                   {"account", request.choice.account},
                   {"qos", request.choice.qos},
                   {"constraint", request.choice.constraint},
                   {"reservation", request.choice.reservation},
                   {"gres", request.gres},
                   {"nodes", std::to_string(request.nodes)},
                   {"cpus", std::to_string(request.cpus)},
                   {"mem", number_or_nothing(request.memory_mib, "M")},
                   {"time", number_or_nothing(request.minutes)},
                   {"nodelist", request.nodelist},
                   {"run", run}};
  std::string block;
  for (const char* option : {"partition", "account", "qos", "constraint", "reservation", "gres",
                             "nodelist", "mem", "time"})
    add_line(block, option, values[option]);
  add_line(block, "nodes", values["nodes"]);
  add_line(block, "ntasks-per-node", "1");
  add_line(block, "cpus-per-task", values["cpus"]);
  block.pop_back();
  values["sbatch"] = block;
  return values;
}

struct Hole {
  size_t at = 0;
  size_t size = 0;
  std::string name;
};

std::optional<Hole> next_hole(std::string_view text, size_t from) {
  constexpr std::string_view kOpen = "{slurm.";
  const size_t at = text.find(kOpen, from);
  if (at == std::string_view::npos) return std::nullopt;
  const size_t close = text.find('}', at);
  if (close == std::string_view::npos) return Hole{at, text.size() - at, ""};
  return Hole{at, close + 1 - at,
              std::string(text.substr(at + kOpen.size(), close - at - kOpen.size()))};
}

Result<std::string> fill(std::string_view text, const Values& values) {
  std::string filled;
  size_t from = 0;
  while (const std::optional<Hole> hole = next_hole(text, from)) {
    const auto value = values.find(hole->name);
    if (value == values.end()) {
      const auto line =
          std::count(text.begin(), text.begin() + static_cast<long>(hole->at), '\n') + 1;
      std::set<std::string> names;
      for (const auto& [name, unused] : values) names.insert(name);
      return fail(ErrorCode::invalid, "line " + std::to_string(line) +
                                          " of the batch template has " +
                                          quote(text.substr(hole->at, hole->size)) +
                                          "; behind `slurm.` may stand: " + comma_list(names));
    }
    filled.append(text.substr(from, hole->at - from)).append(value->second);
    from = hole->at + hole->size;
  }
  filled.append(text.substr(from));
  return filled;
}

}  // namespace

SlurmChoice choose(const SlurmOptions& options, const core::Resources& resources) {
  SlurmChoice choice = options.choice;
  for (const core::DeviceRequest& request : resources.devices) {
    if (const SlurmChoice* entry = entry_for(options, request.kind, request.model))
      override_with(choice, *entry);
  }
  return choice;
}

Result<BatchRequest> request_for(const StartOrder& order, const SlurmOptions& options,
                                 Duration time_max) {
  BatchRequest request{.choice = choose(options, order.resources)};
  for (const core::HeldDevice& held : order.placement.devices) {
    if (const SlurmChoice* entry = entry_for(options, held.kind, held.model))
      override_with(request.choice, *entry);
  }
  if (auto checked = check_choice(request.choice); !checked) return tl::unexpected(checked.error());
  Result<std::string> gres = gres_of(order, options);
  if (!gres) return tl::unexpected(gres.error());
  request.gres = std::move(*gres);
  request.cpus = std::max<int64_t>(1, ceil_div(order.resources.cpu_milli, 1000));
  request.memory_mib = ceil_div(std::max<int64_t>(0, order.resources.memory_bytes), 1 << 20);
  set_times(order, time_max, request);
  if (order.gang > 1) {
    return fail(
        ErrorCode::invalid,
        "tasks that start together need one allocation, which a Slurm site does not make yet: "
        "run them on another site, or as one task that calls srun");
  }
  if (time_max.us > 0 && order.wall > time_max) {
    return fail(ErrorCode::invalid, "its wall-time of " + format_duration(order.wall) +
                                        " is longer than the " + format_duration(time_max) +
                                        " that the partition allows: ask for less time, or name "
                                        "another partition");
  }
  if (options.placement == SlurmPlacement::atoll) {
    if (auto checked = check_value(order.placement.node, "node"); !checked)
      return tl::unexpected(checked.error());
    request.nodelist = order.placement.node;
  }
  return request;
}

Result<void> check_template(std::string_view text) {
  if (text.size() > kTemplateBytesMax)
    return fail(ErrorCode::too_large, "the batch template is larger than 64 KiB");
  if (!text.starts_with("#!"))
    return fail(ErrorCode::invalid,
                "the batch template does not begin with #!: its first line must be, for example, "
                "#!/bin/sh");
  if (text.find('\r') != std::string_view::npos)
    return fail(ErrorCode::invalid, "the batch template has DOS line ends, which sbatch refuses");
  for (const std::string_view hole : {"{slurm.sbatch}", "{slurm.run}"}) {
    if (text.find(hole) == std::string_view::npos)
      return fail(ErrorCode::invalid, "the batch template has no " + std::string(hole) +
                                          ": write it on a line of its own");
  }
  const Result<std::string> filled = fill(text, values_of({}, "true"));
  if (!filled) return tl::unexpected(filled.error());
  return {};
}

Result<std::string> batch_script(std::string_view text, const BatchRequest& request,
                                 const std::string& run) {
  if (auto checked = check_template(text); !checked) return tl::unexpected(checked.error());
  return fill(text, values_of(request, run));
}

std::vector<std::string> sbatch_arguments(const BatchRequest& request,
                                          const std::string& directory) {
  return {"--parsable",
          "--no-requeue",
          "--job-name=" + request.name,
          "--signal=B:TERM@" + std::to_string(request.signal_before),
          "--chdir=" + directory,
          "--output=" + directory + "/slurm.out",
          "--error=" + directory + "/slurm.out",
          "--open-mode=append",
          "--export=NIL"};
}

}  // namespace atl::site
