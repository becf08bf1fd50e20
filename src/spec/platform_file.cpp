#include "spec/platform_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "base/amount.h"
#include "base/text.h"
#include "core/limits.h"
#include "spec/moment.h"
#include "spec/week.h"
#include "spec/when_json.h"
#include "spec/yaml_reader.h"

namespace atl::spec {
namespace {

using namespace yaml;

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
    if (root.is_null()) return std::move(file_);
    read_map(root, {{"policy", section(&PlatformReader::read_policy)},
                    {"cohorts", section(&PlatformReader::read_cohorts)},
                    {"namespaces", section(&PlatformReader::read_namespaces)},
                    {"calendar", section(&PlatformReader::read_calendar)},
                    {"reservations", section(&PlatformReader::read_reservations)},
                    {"nodes", section(&PlatformReader::read_nodes)}});
    return std::move(file_);
  }

 private:
  // One that has nothing in it is as good as none.
  Setter section(void (PlatformReader::*read)(const Node&)) {
    return [this, read](const Node& node) {
      if (!node.is_null()) (this->*read)(node);
    };
  }

  void mark(const std::string& path, const Node& node) {
    file_.places.emplace(path, to_string(node.mark()));
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
      if (node.is_null()) return;
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
      if (value.is_null()) return;
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
      if (value.is_null()) return;
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

  void read_calendar(const Node& node) {
    mark("calendar", node);
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      core::CalendarEntry& entry = named(file_.calendar, "calendar", "calendar entry", key, at);
      entry.days = kAllDays;
      if (value.is_null())
        wrong(at, "an entry needs a share or a limit: {days: mon-fri, share: 0.3}");
      const auto clock = [&](const char* name, uint32_t& into) {
        return [this, path = path_ + "." + name, &into](const Node& n) {
          mark(path, n);
          into = checked(n, parse_clock_time(text_of(n)));
        };
      };
      read_map(value, {{"tier", [&](const Node& n) { read_tier(n, entry.tier); }},
                       {"days",
                        [&](const Node& n) {
                          mark(path_ + ".days", n);
                          entry.days = checked(n, parse_days(joined(n)));
                        }},
                       {"from", clock("from", entry.from)},
                       {"until", clock("until", entry.until)},
                       {"share", [&](const Node& n) { read_share(n, entry); }},
                       {"limit", quota(path_ + ".limit", entry.limit, false)}});
    });
  }

  void read_tier(const Node& node, core::Tier& tier) {
    mark(path_ + ".tier", node);
    if (!enum_from_name(text_of(node), tier))
      wrong(node, quote(text_of(node)) +
                      " is not a tier: write interactive, service, batch or opportunistic");
  }

  void read_share(const Node& node, core::CalendarEntry& entry) {
    mark(path_ + ".share", node);
    const auto milli = parse_milli(text_of(node));
    if (!milli || *milli < 0 || *milli > 1000)
      wrong(node, "a share is a number from 0 to 1, such as 0.3, not " + quote(text_of(node)));
    entry.share_milli = static_cast<int32_t>(*milli);
  }

  // A list, or what stands between commas.
  static std::string joined(const Node& node) {
    if (!node.is_sequence()) return text_of(node);
    std::string out;
    for (const Node item : node) out += (out.empty() ? "" : ",") + text_of(item);
    return out;
  }

  void read_reservations(const Node& node) {
    mark("reservations", node);
    each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      auto& entry = named(file_.reservations, "reservations", "reservation", key, at);
      const std::string needs =
          "a reservation needs a beginning, an end and whom it is for: {from: \"2026-11-17 "
          "10:00\", "
          "until: \"2026-11-17 12:00\", namespaces: [course], nodes: 1}";
      if (value.is_null()) wrong(at, needs);
      const auto time = [&](const char* name, Time& into) {
        return [this, path = path_ + "." + name, &into](const Node& n) {
          mark(path, n);
          into = checked(n, parse_date_time(text_of(n)));
        };
      };
      uint32_t nodes = 0;
      const auto number = [](uint32_t& into) {
        return [&into](const Node& n) {
          into = static_cast<uint32_t>(integer(n, 1, core::kReservedPartsMax));
        };
      };
      core::Resources& each = entry.each;
      read_map(
          value,
          {{"from", time("from", entry.from)},
           {"until", time("until", entry.until)},
           {"namespaces",
            [&](const Node& n) {
              mark(path_ + ".namespaces", n);
              const std::string names = joined(n);
              for (const std::string_view ns : split(names, ','))
                entry.namespaces.emplace_back(trim(ns));
            }},
           {"nodes", number(nodes)},
           {"count", number(entry.count)},
           {"cpu", [&](const Node& n) { each.cpu_milli = checked(n, parse_milli(text_of(n))); }},
           {"memory",
            [&](const Node& n) { each.memory_bytes = checked(n, parse_bytes(text_of(n))); }},
           {"devices", [&](const Node& n) { read_reserved_devices(n, each); }},
           {"site", name_of(path_ + ".site", "site", entry.site)}});
      if (!entry.from || !entry.until || entry.namespaces.empty()) wrong(at, needs);
      if (nodes > 0 && (entry.count != 1 || each != core::Resources{}))
        wrong(at, "say either nodes, for whole ones, or count with cpu, memory and devices");
      if (nodes == 0 && each.cpu_milli == 0)
        wrong(at,
              "how much? say nodes: 1, for whole ones, or the cores of each: cpu: 4, count: 10");
      entry.whole_nodes = nodes > 0;
      if (entry.whole_nodes) entry.count = nodes;
    });
  }

  void read_reserved_devices(const Node& node, core::Resources& each) {
    mark(path_ + ".devices", node);
    std::map<std::string, int64_t> counts;
    each_entry(node, [&](const std::string& key, const Node&, const Node& value) {
      counts[key] = integer(value, 1, core::kDeviceCountMax);
    });
    each.devices = checked(node, whole_devices(counts));
  }

  void read_nodes(const Node& node) {
    mark("nodes", node);
    if (!node.is_sequence()) wrong(node, "expected a list: - {count: 10, name: gpu, cpu: 64}");
    uint64_t total = 0;
    for (const Node item : node) {
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

std::string PlatformFile::place_of(std::string_view field) const {
  for (std::string path(field); !path.empty();) {
    if (const auto found = places.find(path); found != places.end()) return found->second;
    const size_t end = path.find_last_of(".[");
    path.resize(end == std::string::npos ? 0 : end);
  }
  return {};
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
  std::string text(yaml::Limits{}.bytes + 1, '\0');  // one more than is allowed: then it is refused
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (path != "-" && !file.is_open()) || (in.fail() && !in.eof()))
    return fail(ErrorCode::invalid, "cannot read " + path + ": " + std::strerror(errno));
  text.resize(static_cast<size_t>(in.gcount()));
  return parse_platform_file(text, path == "-" ? "standard input" : path);
}

}  // namespace atl::spec
