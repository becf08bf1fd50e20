// What is asked of devices: whole ones, shares and slices.
#include <algorithm>
#include <set>

#include "base/amount.h"
#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/scheduling/devices.h"

namespace atl::core {
namespace {

tl::unexpected<Error> refuse_devices(std::string message) {
  return fail(ErrorCode::invalid, std::move(message), "devices");
}

template <class Fn>
void for_each_device(const State& state, Fn fn) {
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) {
      for (const Device& device : node.capacity.devices) fn(device);
    }
  }
}

std::string join(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
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
                            " may take several models; name the model of the others");
  }
  return {};
}

void settle_parts(const State& state, Resources& resources) {
  for (DeviceRequest& request : resources.devices) {
    if (!takes_slice(request) && request.memory_bytes == 0) continue;
    int64_t most = 0;
    for_each_device(state, [&](const Device& device) {
      if (scheduling::serves(device, request))
        most = std::max(most, part_of_device(device, request));
    });
    request.share_milli = most > 0 ? static_cast<int32_t>(most) : kWholeDevice;
  }
}

std::string why_no_device(const State& state, const Resources& resources) {
  for (const DeviceRequest& request : resources.devices) {
    bool kind = false, serves = false;
    std::set<std::string> models, profiles, shared;
    for_each_device(state, [&](const Device& device) {
      if (device.kind != request.kind) return;
      kind = true;
      serves |= scheduling::serves(device, request);
      models.insert(device.model.empty() ? "of no known model" : device.model);
      if (device.share_step_milli > 0) shared.insert(device.model);
      for (const SliceProfile& profile : device.profiles) profiles.insert(profile.name);
    });
    if (serves) continue;
    if (!kind) return "no node has a " + request.kind;
    if (takes_slice(request))
      return profiles.empty() ? "no " + request.kind + " is cut into slices: ask for a whole one"
                              : "the slices that there are: " + join(profiles);
    if (!takes_whole(request))
      return shared.empty() ? "no " + request.kind + " can be shared: ask for a whole one"
                            : "of these a share can be had: " + join(shared);
    return "the models that there are: " + join(models);
  }
  return "no node has such devices";
}

}  // namespace atl::core
