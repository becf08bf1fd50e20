#include "core/scheduling/flags.h"

#include <array>

#include "base/amount.h"

namespace atl::core::scheduling {
namespace {

// "a100|v100:2", "a100:0.5", "t4:0.25:2", "2"; empty: people have no word for it.
std::string device_word(const DeviceRequest& request) {
  std::string models;
  for (const std::string& model : models_of(request))
    models +=
        (models.empty() ? "" : "|") + (model.empty() && !request.also.empty() ? "any" : model);
  std::string amount = std::to_string(request.count);
  if (!takes_whole(request)) {
    amount = takes_slice(request)       ? request.profile
             : request.memory_bytes > 0 ? exact_bytes(request.memory_bytes)
                                        : format_milli(request.share_milli);
    if (request.count > 1) amount += ":" + std::to_string(request.count);
  }
  return (models.empty() ? "" : models + ":") + amount;
}

// All of the devices: such a flag stands for all of its kind. Empty: there is no way to write it.
std::string device_flags(const Resources& resources) {
  std::string gpus, others;
  std::set<std::string> words;
  for (const DeviceRequest& request : resources.devices) {
    const std::string word = device_word(request);
    if (word.empty() || !words.insert(request.kind + ":" + word).second) return {};
    if (request.kind == "gpu")
      gpus += (gpus.empty() ? "" : ",") + word;
    else
      others += " --device " + request.kind + ":" + word;
  }
  if (gpus.find('|') != std::string::npos)
    gpus = "'" + gpus + "'";  // shells have their own use of it
  if (gpus.empty()) return others.empty() ? others : others.substr(1);
  return "--gpus " + gpus + others;
}

}  // namespace

std::string exact_bytes(int64_t bytes) {
  constexpr std::array<const char*, 6> kSuffix{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  size_t step = 0;
  for (; step + 1 < kSuffix.size() && bytes > 0 && bytes % 1024 == 0; ++step) bytes /= 1024;
  return std::to_string(bytes) + kSuffix[step];
}

std::string flags_between(const Terms& asked, const Terms& changed) {
  std::string out;
  const auto add = [&](const std::string& flag) { out += (out.empty() ? "" : " ") + flag; };
  const Resources &from = asked.resources, &to = changed.resources;
  if (from.cpu_milli != to.cpu_milli) add("--cpus " + format_milli(to.cpu_milli));
  if (from.memory_bytes != to.memory_bytes) add("--mem " + exact_bytes(to.memory_bytes));
  if (from.devices != to.devices) {
    const std::string devices = device_flags(to);
    if (devices.empty()) return {};
    add(devices);
  }
  if (asked.gang != changed.gang) add("--gang " + std::to_string(changed.gang));
  if (asked.wall != changed.wall) add("--time " + format_duration(changed.wall));
  if (asked.tier != changed.tier) add(std::string("--tier ") + enum_name(changed.tier));
  if (asked.site != changed.site)
    add(changed.site.empty() ? "no --site" : "--site " + changed.site);
  return out;
}

}  // namespace atl::core::scheduling
