#include "core/scheduling/sentence.h"

#include <algorithm>

#include "base/amount.h"
#include "core/scheduling/explain.h"
#include "core/scheduling/place.h"
#include "core/site_choice.h"

namespace atl::core::scheduling {
namespace {

std::string amount(const std::string& resource, int64_t value) {
  if (resource == "cpu") return format_milli(value);
  if (resource == "memory") return format_bytes(value);
  return resource == "tasks" ? std::to_string(value) : format_milli(value);
}

std::string unit_name(const std::string& resource, int64_t count) {
  if (resource == "cpu") return count == 1000 ? "core" : "cores";
  if (resource == "memory") return "of memory";
  if (resource == "tasks") return count == 1 ? "task" : "tasks";
  return resource;
}

// The request for a part of a device that the block is about; null: it is about something else.
const DeviceRequest* part_of(const Resources& resources, const Block& block) {
  for (const DeviceRequest& request : resources.devices) {
    const bool named = block.resource == request_name(request) || block.resource == request.kind ||
                       block.resource == device_name(request.kind, request.model);
    if (named && !takes_whole(request)) return &request;
  }
  return nullptr;
}

// "8Gi of gpu:a100", "a slice 1g.5gb of gpu"; a quota counts them in devices.
std::string asked(const Resources& resources, const Block& block) {
  const DeviceRequest* part = part_of(resources, block);
  const std::string whom =
      block.members > 1 ? " for " + std::to_string(block.members) + " members" : "";
  if (!part || (!takes_slice(*part) && part->memory_bytes == 0))
    return format_amount(block.resource, block.asked) + whom;
  DeviceRequest whole = *part;
  whole.profile.clear();
  const std::string of = " of " + request_name(whole) + whom;
  const uint32_t parts = part->count * block.members;
  const std::string count = std::to_string(parts);
  std::string text;
  if (takes_slice(*part))
    text = (parts > 1 ? count + " slices " : "a slice ") + part->profile + of;
  else
    text = (parts > 1 ? count + " times " : "") + format_bytes(part->memory_bytes) + of;
  if (block.obstacle == Obstacle::capacity) return text;
  return text + ", which counts as " + amount(block.resource, block.asked);
}

std::string in_use(const Resources& resources, const Block& block) {
  return amount(block.resource, block.in_use) + " of " + amount(block.resource, block.limit) +
         (part_of(resources, block) ? " devices" : "") + " in use";
}

std::string capacity_sentence(const World& world, const Terms& terms, const Block& block) {
  const auto could = [&](const NodeView& view) {
    return meant(view, terms) && node_could(*view.node, terms.resources);
  };
  const auto nodes = std::count_if(world.nodes.begin(), world.nodes.end(), could);
  const std::string text = "waiting for " + asked(terms.resources, block);
  if (nodes < 2) return text + ": " + in_use(terms.resources, block);
  return text + " on one node: " + in_use(terms.resources, block) + " on " +
         block.holder.substr(block.holder.find('/') + 1) + ", where least is missing";
}

// "n1, n2 and n3".
std::string listed(const std::vector<std::string>& names, const char* last = " and ") {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? last : ", ") + names[i];
  return out;
}

// What has to come back so that all of it has room: sites first, then nodes, as few as will do in
// their order.
struct Undrain {
  std::vector<std::string> sites, nodes;
};
Undrain to_undrain(const World& world, const Terms& terms) {
  uint32_t left = std::max<uint32_t>(1, terms.gang);
  Undrain found;
  for (const NodeView& view : world.nodes) {
    if (meant(view, terms)) left -= members_in(whole(*view.node), terms.resources, left);
  }
  for (const auto& [id, site] : world.state->sites) {
    if (!meant(*world.state, site, terms)) continue;
    bool some = false;
    for (const auto& [name, node] : site.nodes) {
      if (left == 0 || node.gone || !(site.draining || node.draining)) continue;
      const uint32_t members = members_in(whole(node), terms.resources, left);
      if (members == 0) continue;
      left -= members;
      some = true;
      if (node.draining) found.nodes.push_back(name);
    }
    if (some && site.draining) found.sites.push_back(site.name);
  }
  return found;
}

std::string no_site_sentence(const std::string& choice) {
  const std::vector<std::string> names = named_sites(choice);
  const bool any = leaves_choice(choice) && choice.ends_with(kAnySite);
  if (any || names.empty()) return "waiting for a site to come: none is available";
  if (names.size() == 1) return "waiting for site " + names[0] + ": it is not available";
  return "waiting for site " + listed(names, " or ") + ": none of them is available";
}

std::string draining_sentence(const World& world, const Terms& terms) {
  const auto [sites, nodes] = to_undrain(world, terms);
  std::string what, how;
  const auto add = [&](const std::vector<std::string>& names, const char* noun) {
    if (names.empty()) return;
    what += std::string(what.empty() ? "" : " and ") + noun + (names.size() > 1 ? "s " : " ") +
            listed(names);
    for (const std::string& name : names)
      how += std::string(how.empty() ? "" : ", ") + "`atoll " + noun + " undrain " + name + "`";
  };
  add(sites, "site");
  add(nodes, "node");
  const bool several = sites.size() + nodes.size() > 1;
  return "waiting for " + what + (several ? ", which are" : ", which is") + " draining: " + how +
         (several ? " let them start work again" : " lets it start work again");
}

}  // namespace

std::string format_amount(const std::string& resource, int64_t value) {
  return amount(resource, value) + " " + unit_name(resource, value);
}

std::string told(Time time) {
  constexpr int64_t kSecond = 1'000'000;
  return format_time({(time.us + kSecond - 1) / kSecond * kSecond});
}

std::string sentence_for(const World& world, const Job& job, const Block& block) {
  const Terms& terms = world.state->terms_of(job);
  switch (block.obstacle) {
    case Obstacle::quota:
      if (block.never || block.asked > block.limit) {
        return "asks for " + asked(terms.resources, block) + ", more than the quota of " +
               block.holder + " ever allows: " + amount(block.resource, block.limit);
      }
      return "waiting for " + asked(terms.resources, block) + " within the quota of " +
             block.holder + ": " + in_use(terms.resources, block);
    case Obstacle::array_limit:
      return "waiting for the array's own limit of " + std::to_string(block.limit) +
             " tasks at once";
    case Obstacle::no_site:
      return no_site_sentence(block.resource);
    case Obstacle::draining:
      return draining_sentence(world, terms);
    case Obstacle::calendar:
      if (block.never) {
        return "asks for " + asked(terms.resources, block) +
               ", more than the calendar ever leaves " + enum_name(terms.tier) +
               " work: " + amount(block.resource, block.limit) + " (entry " + block.holder + ")";
      }
      return "waiting for the calendar, by which " + std::string(enum_name(terms.tier)) +
             " work has at most " + format_amount(block.resource, block.limit) +
             " at this time (entry " + block.holder + "): " + in_use(terms.resources, block) +
             (block.members > 1 ? ", and it asks for " + asked(terms.resources, block) : "");
    case Obstacle::infeasible:
      return (job.gang
                  ? "waiting for capacity to come: all nodes together cannot hold so many with "
                  : "waiting for capacity to come: no node is large enough for ") +
             format_resources(terms.resources);
    case Obstacle::reserved:
      return "what it needs on " + block.resource + " is reserved: " + block.holder;
    case Obstacle::capacity:
      return capacity_sentence(world, terms, block);
    default:
      return "starting in the next round";
  }
}

std::string holders_text(const World& world, const Block& block, const Holders& holders) {
  constexpr size_t kTold = 3;
  if (holders.all.empty()) return {};
  std::string text;
  for (size_t i = 0; i < holders.all.size() && i < kTold; ++i) {
    const HeldBy& each = holders.all[i];
    text += (i ? ", " : " (") + world.state->namespaces.at(each.ns).name + " has " +
            amount(block.resource, each.amount);
    if (each.borrowed > 0) text += ", " + amount(block.resource, each.borrowed) + " of it borrowed";
  }
  if (holders.all.size() > kTold) {
    int64_t more = 0;
    for (size_t i = kTold; i < holders.all.size(); ++i) more += holders.all[i].amount;
    text += ", " + std::to_string(holders.all.size() - kTold) + " more have " +
            amount(block.resource, more);
  }
  if (block.obstacle == Obstacle::capacity && holders.sum < block.in_use)
    text += block.resource == "cpu" || block.resource == "memory"
                ? ", the rest is reserved"
                : ", the rest is reserved or left over from parts";
  if (holders.enough_by) text += "; enough free by " + told(holders.enough_by) + " at the latest";
  return text + ")";
}

}  // namespace atl::core::scheduling
