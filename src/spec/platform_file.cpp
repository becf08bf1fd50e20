#include "spec/platform_file.h"

#include <fstream>
#include <iostream>

#include "base/amount.h"
#include "base/text.h"
#include "core/limits.h"
#include "spec/yaml_reader.h"

namespace atl::spec {
namespace {

using namespace yaml;
using YAML::Node;

constexpr size_t kDeviceKindsMax = 64;  // of one quota or node
constexpr uint32_t kNodesMax = 100'000;

// Keys of a quota besides those of devices; and words for them that a device is never called.
const std::vector<std::string> kAmounts = {"cpu", "memory", "running", "queued"};
const std::map<std::string, std::string> kOtherWords = {
    {"cpus", "cpu"},   {"core", "cpu"},      {"cores", "cpu"},   {"mem", "memory"},
    {"ram", "memory"}, {"tasks", "running"}, {"jobs", "queued"}, {"weight", ""},
    {"parent", ""},    {"cohort", ""},       {"borrow", ""},     {"quota", ""},
    {"devices", ""},   {"members", ""},
};

// What a device may not be called because somebody meant something else by it.
void check_device_key(const std::string& key, const Node& at) {
  if (const auto other = kOtherWords.find(key); other != kOtherWords.end()) {
    wrong(at, other->second.empty()
                  ? quote(key) + " does not belong in here; write it beside, one level up"
                  : "unknown key " + quote(key) + "; write " + other->second);
  }
  // "gpu" is as near to "cpu" as a slip of the finger is; longer words are told apart.
  if (const auto meant = did_you_mean(key, kAmounts); meant && key.size() > 4)
    wrong(at, "unknown key " + quote(key) + "; did you mean " + *meant + "?");
  const auto parts = split(key, ':');
  bool good = parts.size() <= 2;
  for (const std::string_view part : parts) good = good && check_identifier(part, "device");
  if (!good)
    wrong(at, quote(key) +
                  " is neither cpu, memory, running nor queued, nor a device: write gpu "
                  "or gpu:a100");
}

class PlatformReader {
 public:
  PlatformFile read(const Node& root) {
    if (root.IsNull()) return std::move(file_);
    read_map(root, {{"policy", [&](const Node& n) { read_policy(n); }},
                    {"cohorts", [&](const Node& n) { read_cohorts(n); }},
                    {"namespaces", [&](const Node& n) { read_namespaces(n); }},
                    {"nodes", [&](const Node& n) { read_nodes(n); }}});
    return std::move(file_);
  }

 private:
  void mark(const std::string& path, const Node& node) {
    file_.lines.emplace(path, yaml::line_of(node));
  }

  void read_policy(const Node& node) {
    mark("policy", node);
    core::Policy policy;
    const auto duration = [&](const char* name, Duration& into, Duration low, Duration high) {
      return [this, name, &into, low, high](const Node& n) {
        mark(std::string("policy.") + name, n);
        into = checked(n, parse_duration(text_of(n)));
        if (into < low || into > high)
          wrong(n, std::string(name) + " must be between " + format_duration(low) + " and " +
                       format_duration(high));
      };
    };
    read_map(node,
             {{"half_life",
               duration("half_life", policy.half_life, core::kHalfLifeMin, core::kHalfLifeMax)},
              {"ageing", duration("ageing", policy.ageing, core::kAgeingMin, core::kAgeingMax)}});
    file_.policy = policy;
  }

  Setter quota(const std::string& path, core::Quota& quota, bool of_namespace) {
    return [this, path, &quota, of_namespace](const Node& node) {
      mark(path, node);
      each_entry(node, [&](const std::string& key, const Node& at, const Node& n) {
        if (key == "cpu") {
          quota.cpu_milli = checked(n, parse_milli(text_of(n)));
        } else if (key == "memory") {
          quota.memory_bytes = checked(n, parse_bytes(text_of(n)));
        } else if (key == "running") {
          quota.running = static_cast<uint64_t>(integer(n, 0, core::kArrayIndexMax));
        } else if (key == "queued") {
          if (!of_namespace)
            wrong(at, "queued jobs are limited by namespace; write it in the quota of one");
          quota.queued = static_cast<uint64_t>(integer(n, 0, core::kArrayIndexMax));
        } else {
          read_device(quota.devices, key, at, n);
        }
      });
    };
  }

  void read_device(std::map<std::string, uint32_t>& devices, const std::string& key, const Node& at,
                   const Node& count) {
    check_device_key(key, at);
    devices[key] = static_cast<uint32_t>(integer(count, 0, core::kDeviceCountMax));
    if (devices.size() > kDeviceKindsMax) wrong(at, "more than 64 kinds of devices");
  }

  Setter weight(const std::string& path, uint32_t& weight_milli) {
    return [this, path, &weight_milli](const Node& node) {
      mark(path, node);
      const auto milli = parse_milli(text_of(node));
      if (!milli || *milli < core::kWeightMilliMin || *milli > core::kWeightMilliMax) {
        wrong(node, "a weight is a number from 0.001 to 1000000 (1 is usual), not " +
                        quote(text_of(node)) + "; to give nothing, write a quota of 0");
      }
      weight_milli = static_cast<uint32_t>(*milli);
    };
  }

  // A name, or nothing at all.
  Setter name_of(const std::string& path, const char* what, std::string& name) {
    return [this, path, what, &name](const Node& node) {
      mark(path, node);
      if (node.IsNull()) return;
      name = text_of(node);
      if (auto ok = check_identifier(name, what); !ok) wrong(node, ok.error().message);
    };
  }

  template <class Entry>
  Entry& named(std::vector<Entry>& list, const char* section, const char* what,
               const std::string& key, const Node& at) {
    if (auto ok = check_identifier(key, what); !ok) wrong(at, ok.error().message);
    path_ = std::string(section) + "[" + std::to_string(list.size()) + "]";
    mark(path_, at);
    list.emplace_back().name = key;
    return list.back();
  }

  void read_cohorts(const Node& node) {
    mark("cohorts", node);
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      CohortEntry& entry = named(file_.cohorts, "cohorts", "cohort", key, at);
      if (value.IsNull()) return;
      read_map(value, {{"parent", name_of(path_ + ".parent", "cohort", entry.parent)},
                       {"weight", weight(path_ + ".weight", entry.weight_milli)},
                       {"quota", quota(path_ + ".quota", entry.quota, false)},
                       {"borrow", quota(path_ + ".borrow", entry.borrow, false)}});
    });
  }

  void read_namespaces(const Node& node) {
    mark("namespaces", node);
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      NamespaceEntry& entry = named(file_.namespaces, "namespaces", "namespace", key, at);
      if (value.IsNull()) return;
      read_map(value, {{"cohort", name_of(path_ + ".cohort", "cohort", entry.cohort)},
                       {"weight", weight(path_ + ".weight", entry.weight_milli)},
                       {"quota", quota(path_ + ".quota", entry.quota, true)},
                       {"borrow", quota(path_ + ".borrow", entry.borrow, false)},
                       {"members", [&](const Node& n) { read_members(n, entry); }}});
    });
  }

  void read_members(const Node& node, NamespaceEntry& entry) {
    mark(path_ + ".members", node);
    auto& members = entry.members.emplace();
    bool admin = false;
    each_entry(node, [&](const std::string& user, const Node& at, const Node& value) {
      if (auto ok = check_identifier(user, "user"); !ok) wrong(at, ok.error().message);
      mark(path_ + ".members." + user, at);
      if (!enum_from_name(text_of(value), members[user]))
        wrong(value, quote(text_of(value)) + " is not a role: write viewer, member or admin");
      admin = admin || members[user] == core::Role::admin;
    });
    if (!admin) wrong(node, "somebody must look after the namespace: make one of them admin");
  }

  void read_nodes(const Node& node) {
    mark("nodes", node);
    if (!node.IsSequence()) wrong(node, "expected a list: - {count: 10, name: gpu, cpu: 64}");
    uint64_t total = 0;
    for (const Node& item : node) {
      NodeEntry entry;
      read_map(
          item,
          {{"name", name_of("nodes.name", "node", entry.name)},
           {"count",
            [&](const Node& n) { entry.count = static_cast<uint32_t>(integer(n, 1, kNodesMax)); }},
           {"cpu", [&](const Node& n) { entry.cpu_milli = checked(n, parse_milli(text_of(n))); }},
           {"memory",
            [&](const Node& n) { entry.memory_bytes = checked(n, parse_bytes(text_of(n))); }},
           {"devices", [&](const Node& n) {
              each_entry(n, [&](const std::string& key, const Node& at, const Node& v) {
                read_device(entry.devices, key, at, v);
              });
            }}});
      if (entry.name.empty()) wrong(item, "a node needs a name: {name: gpu, cpu: 64}");
      if (entry.cpu_milli == 0) wrong(item, "a node needs cores: {name: gpu, cpu: 64}");
      total += entry.count;
      if (total > kNodesMax) wrong(item, "more than 100000 nodes");
      file_.nodes.push_back(std::move(entry));
    }
  }

  PlatformFile file_;
  std::string path_;  // of the entry that is being read
};

}  // namespace

int PlatformFile::line_of(std::string_view field) const {
  for (std::string path(field); !path.empty();) {
    if (const auto found = lines.find(path); found != lines.end()) return found->second;
    const size_t end = path.find_last_of(".[");
    path.resize(end == std::string::npos ? 0 : end);
  }
  return 0;
}

Result<PlatformFile> parse_platform_file(std::string_view text, const std::string& file_name) {
  PlatformFile file;
  auto ok =
      read_yaml(text, file_name, [&](const Node& root) { file = PlatformReader().read(root); });
  if (!ok) return tl::unexpected(ok.error());
  return file;
}

Result<PlatformFile> load_platform_file(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text(yaml::kFileBytesMax + 1, '\0');  // one more than is allowed: then it is refused
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (path != "-" && !file.is_open()) || (in.fail() && !in.eof()))
    return fail(ErrorCode::invalid, "cannot read the file " + path);
  text.resize(static_cast<size_t>(in.gcount()));
  return parse_platform_file(text, path == "-" ? "standard input" : path);
}

}  // namespace atl::spec
