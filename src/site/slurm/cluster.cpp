#include "site/slurm/cluster.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "site/slurm/limits.h"
#include "site/slurm/slurm_json.h"

namespace atl::site {
namespace {

using Pairs = std::map<std::string, std::string, std::less<>>;

// "Key=value Key=value …"; a word without "=" belongs to the value before it (OS=Linux 6.1 #1). The
// first of a key counts: the reason of a node, which a person wrote, stands behind all others.
Pairs read_pairs(std::string_view line) {
  Pairs pairs;
  for (const std::string_view word : split(line, ' ')) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    pairs.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

std::string value_of(const Pairs& pairs, std::string_view key) {
  const auto at = pairs.find(key);
  return at == pairs.end() || at->second == "(null)" || at->second == "N/A" ? std::string()
                                                                            : at->second;
}

int64_t number_of(const Pairs& pairs, std::string_view key) {
  return std::max<int64_t>(0, parse_int(value_of(pairs, key)).value_or(0));
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, separator)) {
    if (!trim(part).empty()) parts.emplace_back(trim(part));
  }
  return parts;
}

// An asterisk behind a state means that the node does not answer.
std::vector<std::string> read_states(std::string_view text) {
  std::vector<std::string> states = parts_of(text, '+');
  for (std::string& state : states) {
    const size_t mark = state.find_first_of("*~#!%$@^-");
    if (mark == std::string::npos) continue;
    const bool silent = state[mark] == '*';
    state.resize(mark);
    if (silent) {
      states.emplace_back("NOT_RESPONDING");
      break;
    }
  }
  return states;
}

struct Gres {
  std::string kind;
  std::string model;
  size_t count = 0;
};

std::optional<Gres> read_gres(std::string_view text) {
  text = trim(text.substr(0, text.find('(')));
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty()) return std::nullopt;
  const int64_t count = parse_int(parts.back()).value_or(0);
  if (count <= 0 || count > static_cast<int64_t>(kGresUnitsMax)) return std::nullopt;
  Gres gres{.kind = std::string(parts[0]), .count = static_cast<size_t>(count)};
  if (parts.size() == 3) gres.model = parts[1];
  return gres;
}

// Commas within brackets, as in (S:0,2), do not separate.
std::vector<std::string_view> split_gres(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

}  // namespace

Result<std::vector<SlurmNode>> parse_nodes(std::string_view bytes) {
  if (trim(bytes).starts_with("{")) return parse_nodes_json(trim(bytes));
  std::vector<SlurmNode> nodes;
  for (const std::string_view line : split(bytes, '\n')) {
    const Pairs pairs = read_pairs(line);
    SlurmNode node{.name = value_of(pairs, "NodeName")};
    if (node.name.empty()) continue;
    node.states = read_states(value_of(pairs, "State"));
    node.cpus = number_of(pairs, "CPUEfctv");
    if (node.cpus == 0) node.cpus = number_of(pairs, "CPUTot");
    node.memory_mib = number_of(pairs, "RealMemory");
    node.gres = value_of(pairs, "Gres");
    node.partitions = parts_of(value_of(pairs, "Partitions"), ',');
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<std::vector<SlurmPartition>> parse_partitions(std::string_view bytes) {
  if (trim(bytes).starts_with("{")) return parse_partitions_json(trim(bytes));
  std::vector<SlurmPartition> partitions;
  for (const std::string_view line : split(bytes, '\n')) {
    const Pairs pairs = read_pairs(line);
    SlurmPartition partition{.name = value_of(pairs, "PartitionName")};
    if (partition.name.empty()) continue;
    partition.is_default = value_of(pairs, "Default") == "YES";
    partition.up = value_of(pairs, "State") == "UP";
    if (const auto most = parse_duration(value_of(pairs, "MaxTime"))) {
      if (most->us > 0 && *most < minutes(kMinutesMax)) partition.time_max = *most;
    }
    partition.nodes_max = number_of(pairs, "MaxNodes");
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

bool node_usable(const SlurmNode& node) {
  static const std::set<std::string, std::less<>> kAway = {
      "DOWN",   "DRAIN",      "DRAINED",       "DRAINING",       "FAIL",        "FAILING",
      "FUTURE", "UNKNOWN",    "MAINT",         "NOT_RESPONDING", "INVALID",     "INVALID_REG",
      "ERROR",  "POWER_DOWN", "POWERING_DOWN", "REBOOT_ISSUED",  "PLANNED_DOWN"};
  for (std::string state : node.states) {
    std::transform(state.begin(), state.end(), state.begin(),
                   [](unsigned char c) { return static_cast<char>(::toupper(c)); });
    if (kAway.contains(state)) return false;
  }
  return !node.states.empty();
}

std::vector<core::Device> devices_of_gres(std::string_view text) {
  std::vector<core::Device> devices;
  for (const std::string_view part : split_gres(text)) {
    const std::optional<Gres> gres = read_gres(part);
    if (!gres || devices.size() + gres->count > kGresUnitsMax) continue;
    for (size_t i = 0; i < gres->count; ++i) {
      devices.push_back(
          {.unit = core::device_name(gres->kind, gres->model) + "/" + std::to_string(i),
           .kind = gres->kind,
           .model = gres->model});
    }
  }
  return devices;
}

core::SiteReport report_cluster(const std::vector<SlurmNode>& nodes,
                                const std::set<std::string>& partitions) {
  core::SiteReport report{.abilities = {"slurm"}};
  for (const SlurmNode& node : nodes) {
    if (!node_usable(node) || report.nodes.size() >= kNodesMax) continue;
    const bool wanted = partitions.empty() ||
                        std::any_of(node.partitions.begin(), node.partitions.end(),
                                    [&](const std::string& p) { return partitions.contains(p); });
    if (!wanted) continue;
    constexpr int64_t kMost = int64_t{1} << 40;
    report.nodes.push_back({.name = node.name,
                            .cpu_milli = std::min(node.cpus, kMost) * 1000,
                            .memory_bytes = std::min(node.memory_mib, kMost) << 20,
                            .devices = devices_of_gres(node.gres)});
  }
  std::sort(report.nodes.begin(), report.nodes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return report;
}

}  // namespace atl::site
