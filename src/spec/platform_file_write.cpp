// The platform file back to text.
#include <algorithm>
#include <array>

#include "base/amount.h"
#include "spec/fields.h"
#include "spec/platform_file.h"

namespace atl::spec {
namespace {

// Nothing is rounded, unlike in tables.
std::string exact_bytes(int64_t bytes) {
  constexpr std::array<std::pair<int64_t, const char*>, 7> kUnits{
      {{int64_t{1} << 40, "Ti"},
       {int64_t{1'000'000'000'000}, "T"},
       {int64_t{1} << 30, "Gi"},
       {int64_t{1'000'000'000}, "G"},
       {int64_t{1} << 20, "Mi"},
       {int64_t{1'000'000}, "M"},
       {int64_t{1} << 10, "Ki"}}};
  for (const auto& [unit, suffix] : kUnits) {
    if (bytes > 0 && bytes % unit == 0) return std::to_string(bytes / unit) + suffix;
  }
  return std::to_string(bytes);
}

// Names are plain words; some of them YAML would take for something else.
std::string yaml_name(const std::string& name) {
  static const std::vector<std::string> kWords = {"null", "true", "false", "yes", "no",
                                                  "on",   "off",  "y",     "n"};
  const bool number = !name.empty() && name.front() >= '0' && name.front() <= '9';
  const bool word = std::find(kWords.begin(), kWords.end(), name) != kWords.end();
  return number || word ? "\"" + name + "\"" : name;
}

class FlowMap {
 public:
  void add(const std::string& key, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + key + ": " + value;
  }
  bool empty() const { return text_.empty(); }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

FlowMap flow_devices(const std::map<std::string, uint32_t>& devices) {
  FlowMap map;
  for (const auto& [key, count] : devices) map.add(yaml_name(key), std::to_string(count));
  return map;
}

FlowMap flow_quota(const core::Quota& quota) {
  FlowMap map;
  if (quota.cpu_milli) map.add("cpu", format_milli(*quota.cpu_milli));
  if (quota.memory_bytes) map.add("memory", exact_bytes(*quota.memory_bytes));
  for (const auto& [key, count] : quota.devices) map.add(yaml_name(key), std::to_string(count));
  if (quota.running) map.add("running", std::to_string(*quota.running));
  if (quota.queued) map.add("queued", std::to_string(*quota.queued));
  return map;
}

template <class Entry>
WrittenFields common_fields(const Entry& entry, const char* above_key, const std::string& above) {
  WrittenFields fields;
  if (!above.empty()) fields.emplace_back(above_key, yaml_name(above));
  if (entry.weight_milli != 1000) fields.emplace_back("weight", format_milli(entry.weight_milli));
  if (const FlowMap quota = flow_quota(entry.quota); !quota.empty())
    fields.emplace_back("quota", quota.str());
  if (const FlowMap borrow = flow_quota(entry.borrow); !borrow.empty())
    fields.emplace_back("borrow", borrow.str());
  return fields;
}

template <class Entry>
void write_entry(std::string& out, const Entry& entry) {
  std::string body;
  for (const auto& [key, value] : written_fields(entry)) body += "    " + key + ": " + value + "\n";
  out += "  " + yaml_name(entry.name) + ":" + (body.empty() ? " {}\n" : "\n" + body);
}

}  // namespace

WrittenFields written_fields(const core::Policy& policy) {
  return {{"half_life", exact_duration(policy.half_life)},
          {"ageing", exact_duration(policy.ageing)}};
}

WrittenFields written_fields(const CohortEntry& entry) {
  return common_fields(entry, "parent", entry.parent);
}

WrittenFields written_fields(const NamespaceEntry& entry) {
  WrittenFields fields = common_fields(entry, "cohort", entry.cohort);
  FlowMap members;
  for (const auto& [user, role] : entry.members.value_or(std::map<std::string, core::Role>()))
    members.add(yaml_name(user), enum_name(role));
  if (!members.empty()) fields.emplace_back("members", members.str());
  return fields;
}

std::string write_platform_file(const PlatformFile& file) {
  std::string out;
  if (file.policy) {
    FlowMap policy;
    for (const auto& [key, value] : written_fields(*file.policy)) policy.add(key, value);
    out += "policy: " + policy.str() + "\n";
  }
  if (!file.cohorts.empty()) out += "cohorts:\n";
  for (const CohortEntry& entry : file.cohorts) write_entry(out, entry);
  if (!file.namespaces.empty()) out += "namespaces:\n";
  for (const NamespaceEntry& entry : file.namespaces) write_entry(out, entry);
  if (!file.nodes.empty()) out += "nodes:\n";
  for (const NodeEntry& node : file.nodes) {
    FlowMap map;
    map.add("name", yaml_name(node.name));
    map.add("count", std::to_string(node.count));
    map.add("cpu", format_milli(node.cpu_milli));
    map.add("memory", exact_bytes(node.memory_bytes));
    if (!node.devices.empty()) map.add("devices", flow_devices(node.devices).str());
    out += "  - " + map.str() + "\n";
  }
  return out;
}

}  // namespace atl::spec
