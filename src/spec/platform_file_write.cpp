// The platform file back to text.
#include <algorithm>

#include "base/amount.h"
#include "spec/fields.h"
#include "spec/platform_file.h"
#include "spec/week.h"
#include "spec/when_json.h"

namespace atl::spec {
namespace {

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

WrittenFields written_fields(const core::CalendarEntry& entry) {
  const std::string days = format_days(entry.days);
  WrittenFields fields{{"tier", enum_name(entry.tier)},
                       {"days", days.find(',') == std::string::npos ? days : "[" + days + "]"},
                       {"from", "\"" + format_clock_time(entry.from) + "\""},
                       {"until", "\"" + format_clock_time(entry.until) + "\""}};
  if (entry.share_milli) fields.emplace_back("share", format_milli(*entry.share_milli));
  if (const FlowMap limit = flow_quota(entry.limit); !limit.empty())
    fields.emplace_back("limit", limit.str());
  return fields;
}

WrittenFields written_fields(const core::CreateReservation& entry) {
  std::string namespaces;
  for (const std::string& name : entry.namespaces)
    namespaces += (namespaces.empty() ? "" : ", ") + yaml_name(name);
  WrittenFields fields{{"from", "\"" + format_time(entry.from) + "\""},
                       {"until", "\"" + format_time(entry.until) + "\""},
                       {"namespaces", "[" + namespaces + "]"}};
  if (entry.whole_nodes) {
    fields.emplace_back("nodes", std::to_string(entry.count));
  } else {
    fields.emplace_back("count", std::to_string(entry.count));
    fields.emplace_back("cpu", format_milli(entry.each.cpu_milli));
    if (entry.each.memory_bytes > 0)
      fields.emplace_back("memory", exact_bytes(entry.each.memory_bytes));
    FlowMap devices;
    for (const auto& [key, count] : device_counts(entry.each.devices))
      devices.add("\"" + key + "\"", std::to_string(count));
    if (!devices.empty()) fields.emplace_back("devices", devices.str());
  }
  if (!entry.site.empty()) fields.emplace_back("site", yaml_name(entry.site));
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
  if (!file.calendar.empty()) out += "calendar:\n";
  for (const core::CalendarEntry& entry : file.calendar) write_entry(out, entry);
  if (!file.reservations.empty()) out += "reservations:\n";
  for (const core::CreateReservation& entry : file.reservations) write_entry(out, entry);
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
