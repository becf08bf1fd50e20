#include "simulate/platform.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/text.h"
#include "core/core.h"
#include "core/limits.h"
#include "spec/platform_change.h"

namespace atl::simulate {
namespace {

using core::Command;

constexpr uint32_t kSlots = 8;  // of an imagined device

Nodes expand(const spec::NodeEntry& entry) {
  Nodes nodes;
  for (uint32_t i = 1; i <= entry.count; ++i) {
    core::NodeCapacity node;
    node.name = entry.count == 1 ? entry.name : entry.name + std::to_string(i);
    node.cpu_milli = entry.cpu_milli;
    node.memory_bytes = entry.memory_bytes > 0 ? entry.memory_bytes : core::kMemoryBytesMax;
    for (const auto& [key, count] : entry.devices) {
      const size_t colon = key.find(':');
      const std::string model = colon == std::string::npos ? "" : key.substr(colon + 1);
      for (uint32_t unit = 0; unit < count; ++unit)
        node.devices.push_back(
            {key + ":" + std::to_string(unit), key.substr(0, colon), model, 0, true});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// Builds a state by asking the core for everything, as an administrator would.
class Builder {
 public:
  Builder(const spec::PlatformFile& file, const std::string& name) : file_(file), name_(name) {}

  core::State take() { return std::move(state_); }

  [[nodiscard]] Result<void> ask(Command command) {
    const core::Actor actor{state_.users.empty() ? UserId{} : kRoot, false, {}, {}};
    return run(core::Request{actor, std::move(command)});
  }
  void must(Command command) {
    const auto done = ask(std::move(command));
    CHECK(done.has_value(), done.error().message);
  }
  void report_nodes(const Nodes& nodes) {
    const auto done = run(core::Report{core::SiteProbed{kSite, {nodes, {}}}});
    CHECK(done.has_value(), "a site's report is never refused");
  }

  // NAME1, NAME2 … of one entry may be what another is called.
  [[nodiscard]] Result<void> check_names() const {
    std::map<std::string, size_t> entry_of;
    for (size_t i = 0; i < file_.nodes.size(); ++i) {
      for (const core::NodeCapacity& node : expand(file_.nodes[i])) {
        const auto [first, fresh] = entry_of.emplace(node.name, i);
        if (!fresh)
          return refuse("nodes", "two nodes are called " + quote(node.name) + ": one of " +
                                     describe(first->second) + " and one of " + describe(i) +
                                     "; give one of these entries another name");
      }
    }
    return {};
  }

  // All that the file says, as a server would put it in force.
  [[nodiscard]] Result<void> put_in_force() {
    if (auto ok = check_names(); !ok) return ok;
    if (!file_.reservations.empty())
      return refuse("reservations",
                    "a trace has times of its own, in which dates mean nothing; leave reservations "
                    "out of what is simulated");
    core::ApplyPlatform wish = spec::to_command(file_, false);
    for (auto& entry : wish.namespaces) entry.members.reset();  // those are whom the trace names
    return ask(std::move(wish));
  }

  // Everybody who submits, as members of where they submit to.
  void add_people(const Trace& trace) {
    for (const std::string& user : trace.users) {
      if (!state_.user_named(user)) must(core::CreateUser{user, false, {}});
    }
    for (const std::string& ns : trace.namespaces) {
      if (!state_.namespace_named(ns)) must(core::CreateNamespace{ns, ""});
    }
    std::set<std::pair<uint16_t, uint32_t>> members;
    for (const TraceJob& job : trace.jobs) members.emplace(job.ns, job.user);
    for (const auto& [ns, user] : members) {
      if (trace.users[user] != kRootName)
        must(core::SetMember{trace.namespaces[ns], trace.users[user], core::Role::member});
    }
  }

  static constexpr const char* kRootName = "root";

 private:
  [[nodiscard]] Result<void> run(std::variant<core::Request, core::Report, core::Tick> body) {
    const auto events = core::decide(state_, {Time{1}, std::move(body)});
    if (!events) return refuse(events.error().field, events.error().message);
    for (const core::Event& event : *events) core::apply(state_, event);
    return {};
  }
  tl::unexpected<Error> refuse(const std::string& field, const std::string& message) const {
    const std::string place = file_.place_of(field);
    return fail(ErrorCode::invalid, name_ + (place.empty() ? "" : ":" + place) + ": " + message);
  }

  std::string describe(size_t entry) const {
    const spec::NodeEntry& node = file_.nodes[entry];
    return "entry " + std::to_string(entry + 1) +
           " of nodes {count: " + std::to_string(node.count) + ", name: " + node.name + "}";
  }

  const spec::PlatformFile& file_;
  const std::string& name_;
  core::State state_;
};

// What the trace wants of devices, each once, if it wants a part.
std::set<core::DeviceRequest> parts_wanted(const Trace& trace) {
  std::set<core::DeviceRequest> parts;
  for (const Wishes& wishes : trace.wishes) {
    for (core::DeviceRequest request : wishes.devices) {
      request.count = 1;
      if (!core::takes_whole(request)) parts.insert(std::move(request));
    }
  }
  return parts;
}

// Of the device that the part was one of. In whole MiB, as the core reckons, and upwards: else the
// part would be a little more than it was, and one less would fit.
int64_t memory_of_whole(const core::DeviceRequest& part) {
  constexpr int64_t kMib = int64_t{1} << 20;
  const int64_t steps = kMib * part.share_milli;
  return (part.memory_bytes * core::kWholeDevice + steps - 1) / steps * kMib;
}

// What was asked for in parts was had somewhere: the device can be cut as the request says. A slice
// is as many eighths of it as it counted as; memory that nobody told is what the part was one of.
void let_be_cut(core::Device& device, const core::DeviceRequest& request, bool memory_known) {
  const auto models = core::models_of(request);
  const bool serves = std::any_of(models.begin(), models.end(), [&](const std::string& model) {
    return model.empty() || model == device.model;
  });
  if (!serves || request.kind != device.kind) return;
  if (!core::takes_slice(request)) {
    device.share_step_milli = 1;
    if (!memory_known)
      device.memory_bytes = std::max(device.memory_bytes, memory_of_whole(request));
    return;
  }
  const auto same = [&](const core::SliceProfile& each) { return each.name == request.profile; };
  if (std::any_of(device.profiles.begin(), device.profiles.end(), same)) return;
  device.slots = kSlots;
  const uint32_t size = std::clamp<uint32_t>(
      (static_cast<uint32_t>(request.share_milli) * kSlots + 500) / 1000, 1, kSlots);
  core::SliceProfile profile{request.profile, size, {}, 0};
  for (uint32_t start = 0; start + size <= kSlots; start += size) profile.starts.push_back(start);
  device.profiles.push_back(std::move(profile));
}

}  // namespace

Result<Nodes> nodes_for(const spec::PlatformFile& file, const Trace& trace) {
  Nodes nodes;
  for (const spec::NodeEntry& entry : file.nodes) {
    for (core::NodeCapacity& node : expand(entry)) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) nodes = trace.machine;
  const std::set<core::DeviceRequest> parts = parts_wanted(trace);
  for (core::NodeCapacity& node : nodes) {
    for (core::Device& device : node.devices) {
      const bool memory_known = device.memory_bytes > 0;
      for (const core::DeviceRequest& part : parts) let_be_cut(device, part, memory_known);
    }
  }
  if (!nodes.empty()) return nodes;
  if (trace.processors < trace.nodes && trace.processors > 0)
    return fail(ErrorCode::invalid, trace.name + ": its MaxNodes is " +
                                        std::to_string(trace.nodes) + " and its MaxProcs " +
                                        std::to_string(trace.processors) +
                                        "; a node has one processor at least");
  if (trace.nodes == 0 || trace.processors == 0)
    return fail(ErrorCode::invalid,
                trace.name +
                    ": neither it nor a configuration says what nodes there are; write "
                    "`nodes: [{count: 100, name: n, cpu: 32}]` into a file for --config, or " +
                    (trace.spreads ? "`; MaxNodes: 100` and `; MaxProcs: 3200`"
                                   : "lines such as `{\"machine\": {\"name\": \"n1\", \"cpus\": "
                                     "32}}`") +
                    " into the trace");
  nodes = expand({"n", trace.nodes, int64_t{trace.processors / trace.nodes} * 1000, 0, {}});
  for (uint32_t i = 0; i < trace.processors % trace.nodes; ++i) nodes[i].cpu_milli += 1000;
  return nodes;
}

int64_t cores_milli(const Nodes& nodes) {
  int64_t all = 0;
  for (const core::NodeCapacity& node : nodes) all += node.cpu_milli;
  return all;
}

Result<core::State> build_state(const spec::PlatformFile& file, const std::string& name,
                                const Nodes& nodes, const Trace& trace) {
  Builder builder(file, name);
  builder.must(core::CreateUser{Builder::kRootName, true, 0});
  builder.must(core::AddSite{kSite, "simulated"});
  builder.report_nodes(nodes);
  if (auto ok = builder.put_in_force(); !ok) return tl::unexpected(ok.error());
  builder.add_people(trace);
  return builder.take();
}

}  // namespace atl::simulate
