// What is asked of devices: whole ones, shares and slices.
#include <algorithm>
#include <set>

#include "base/amount.h"
#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/scheduling/devices.h"
#include "core/scheduling/explain.h"
#include "core/scheduling/place.h"
#include "core/site_choice.h"

namespace atl::core {
namespace {

tl::unexpected<Error> refuse_devices(std::string message) {
  return fail(ErrorCode::invalid, std::move(message), "devices");
}

template <class Fn>
void for_each_device(const State& state, Fn fn) {
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      for (const Device& device : node.capacity.devices) fn(site, device);
    }
  }
}

// In thousandths of the device.
int64_t part_of_device(const Device& device, const DeviceRequest& request) {
  if (takes_slice(request)) {
    for (const SliceProfile& profile : device.profiles) {
      if (profile.name == request.profile)
        return (int64_t{profile.size} * kWholeDevice + device.slots - 1) / device.slots;
    }
  }
  const int64_t mib = std::max<int64_t>(1, device.memory_bytes >> 20);
  return std::min<int64_t>(kWholeDevice,
                           ((request.memory_bytes >> 20) * kWholeDevice + mib - 1) / mib);
}

Result<void> check_models(const DeviceRequest& request) {
  if (request.also.size() >= kDeviceModelsMax)
    return refuse_devices("at most " + std::to_string(kDeviceModelsMax) +
                          " models may be listed for one device");
  const std::vector<std::string> models = models_of(request);
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i].empty()) {
      if (i + 1 < models.size())
        return refuse_devices("any takes whatever is there, so it comes last in a list of models");
      continue;
    }
    if (auto ok = check_identifier(models[i], "devices"); !ok) return ok;
    if (std::count(models.begin(), models.end(), models[i]) > 1)
      return refuse_devices("model " + quote(models[i]) + " is listed twice");
  }
  return {};
}

// What there is of a kind where the terms may go.
struct Offer {
  bool kind = false;
  bool model = false;   // one that was asked for
  bool serves = false;  // all that was asked for
  std::set<std::string> models, profiles;
  std::set<std::string> shared;  // models of which a share can be had
  int64_t shared_memory = 0;     // of the largest such device
  std::string whole;             // a model of which one has the memory that is asked for
  int64_t whole_memory = 0;
};

Offer offer_for(const State& state, const Terms& terms, const DeviceRequest& request) {
  const std::vector<std::string> wanted = models_of(request);
  Offer offer;
  for_each_device(state, [&](const Site& site, const Device& device) {
    if (!scheduling::meant(state, site, terms) || device.kind != request.kind) return;
    offer.kind = true;
    offer.models.insert(device.model.empty() ? "of no known model" : device.model);
    const bool named = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& model) {
      return model.empty() || model == device.model;
    });
    if (!named) return;
    offer.model = true;
    offer.serves |= scheduling::serves(device, request);
    for (const SliceProfile& profile : device.profiles) offer.profiles.insert(profile.name);
    if (device.memory_bytes >= request.memory_bytes &&
        (offer.whole.empty() || device.memory_bytes < offer.whole_memory)) {
      offer.whole = device.model;
      offer.whole_memory = device.memory_bytes;
    }
    if (device.share_step_milli <= 0) return;
    offer.shared.insert(device.model);
    offer.shared_memory = std::max(offer.shared_memory, device.memory_bytes);
  });
  return offer;
}

std::string why_not(const Offer& offer, const DeviceRequest& request) {
  if (!offer.kind) return "no node has a " + request.kind;
  if (!offer.model) return "the models that there are: " + comma_list(offer.models);
  const std::string name =
      device_name(request.kind, request.also.empty() ? request.model : std::string());
  if (takes_slice(request)) {
    if (!offer.profiles.empty()) return "the slices that there are: " + comma_list(offer.profiles);
    return "no " + name + " is cut into slices: ask for a whole one" +
           (offer.shared.empty() ? "" : ", or for a share such as 0.25");
  }
  if (offer.shared.empty())
    return "no " + name + " can be shared: ask for a whole one" +
           (offer.profiles.empty() ? "" : ", or for a slice: " + comma_list(offer.profiles));
  if (request.memory_bytes == 0) return "of these a share can be had: " + comma_list(offer.shared);
  return "the largest " + request.kind + " of which a part can be had has " +
         format_bytes(offer.shared_memory) +
         (offer.whole.empty()
              ? ""
              : ", and a whole " + offer.whole + " has " + format_bytes(offer.whole_memory));
}

// Another site that could hold it, or less of it: one that takes only work that names it, or not
// the one named.
std::string other_site(const State& state, Terms terms) {
  const std::string named = terms.site;
  std::string less;
  for (const auto& [id, site] : state.sites) {
    if (site_rank(named, site.name, only_by_name(state, site))) continue;
    terms.site = site.name;
    const std::string write = (named.empty() ? ", and takes only work that names it" : "") +
                              std::string(": write --site ") + site.name;
    if (scheduling::feasible(state, terms)) return "site " + site.name + " could" + write;
    const auto nearest = scheduling::nearest_feasible(state, terms);
    if (nearest && less.empty())
      less = "site " + site.name + " could hold " + scheduling::format_resources(*nearest) + write;
  }
  return less;
}

// "gpu:a100:1g.5gb".
std::string part_name(const DeviceRequest& request) {
  const std::string name = device_name(request.kind, request.model);
  if (takes_slice(request)) return name + ":" + request.profile;
  if (request.memory_bytes > 0) return name + ":" + format_bytes(request.memory_bytes);
  return takes_whole(request) ? name : name + ":" + format_milli(request.share_milli);
}

// How many of one request a node could give, when the rest of them stays as it is; zero: even one
// is too many.
uint32_t most_at_once(const State& state, Terms terms, size_t at) {
  uint32_t& count = terms.resources.devices[at].count;
  uint32_t low = 0, high = count;
  while (low + 1 < high) {
    count = low + (high - low) / 2;
    (scheduling::feasible(state, terms) ? low : high) = count;
  }
  return low;
}

}  // namespace

Result<void> check_devices(const std::vector<DeviceRequest>& devices) {
  if (devices.size() > kDeviceRequestsMax)
    return refuse_devices("at most 16 kinds of device may be asked for");
  std::set<std::string> open;  // kinds of which some request takes several models
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceRequest& request = devices[i];
    if (auto ok = check_identifier(request.kind, "devices"); !ok) return ok;
    if (auto ok = check_models(request); !ok) return ok;
    if (request.count < 1 || request.count > kDeviceCountMax)
      return refuse_devices("devices is " + std::to_string(request.count) +
                            "; it must be between 1 and " + std::to_string(kDeviceCountMax));
    if (request.share_milli < 1 || request.share_milli > kWholeDevice)
      return refuse_devices("a share of a device must be between 0.001 and 1");
    if (request.memory_bytes < 0 || request.memory_bytes > kMemoryBytesMax)
      return refuse_devices("memory of a device must be between 0 and " +
                            format_bytes(kMemoryBytesMax));
    if (takes_slice(request)) {
      if (auto ok = check_name(request.profile, "devices", kNameBytesMax); !ok) return ok;
    }
    if (i > 0 && !(devices[i - 1] < request))
      return refuse_devices("each kind and model of device may be named once, in order");
    const bool several = request.model.empty() || !request.also.empty();
    if (several && !open.insert(request.kind).second)
      return refuse_devices("only one request for " + quote(request.kind) +
                            " may take several models, or any; name the model of the others, such "
                            "as a100:1 or a100:1g.5gb");
  }
  return {};
}

void settle_parts(const State& state, Resources& resources) {
  for (DeviceRequest& request : resources.devices) {
    if (!takes_slice(request) && request.memory_bytes == 0) continue;
    int64_t most = 0;
    for_each_device(state, [&](const Site&, const Device& device) {
      if (scheduling::serves(device, request))
        most = std::max(most, part_of_device(device, request));
    });
    request.share_milli = most > 0 ? static_cast<int32_t>(most) : kWholeDevice;
  }
}

std::string why_no_device(const State& state, const Terms& terms) {
  if (std::string other = other_site(state, terms); !other.empty()) return other;
  if (terms.resources.devices.empty())
    return named_sites(terms.site).empty() ? "there is no node yet"
                                           : "site " + terms.site + " has no node yet";
  for (const DeviceRequest& request : terms.resources.devices) {
    const Offer offer = offer_for(state, terms, request);
    if (!offer.serves) return why_not(offer, request);
  }
  for (size_t i = 0; i < terms.resources.devices.size(); ++i) {
    const uint32_t most = most_at_once(state, terms, i);
    if (most == 0) continue;
    return "the most that it could have of " + part_name(terms.resources.devices[i]) +
           " at once is " + std::to_string(most);
  }
  return "no node has all of these devices together";
}

}  // namespace atl::core
