// How people ask for devices: kinds, models in order of preference, counts, shares and slices.
#include <algorithm>

#include "base/amount.h"
#include "base/text.h"
#include "core/limits.h"
#include "spec/job_spec.h"

namespace atl::spec {
namespace {

tl::unexpected<Error> refuse_devices(std::string message) {
  return fail(ErrorCode::invalid, "devices " + std::move(message), "devices");
}

// "1g.5gb", as NVIDIA names slices.
bool names_slice(std::string_view word) {
  const size_t digits = word.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string_view::npos && word.substr(digits).starts_with("g.");
}

// How many, or how much of one; false when the word says neither.
bool set_amount(DeviceSpec& device, std::string_view word) {
  if (const auto count = parse_int(word)) {
    device.count = *count;
    return true;
  }
  if (names_slice(word)) {
    device.slice = std::string(word);
    return true;
  }
  const bool number = word.find_first_not_of("0123456789.") == std::string_view::npos;
  if (const auto milli = parse_milli(word); number && milli) {
    // "2.0" are two devices, and 1.5 would be no part of one.
    if (*milli % core::kWholeDevice == 0) device.count = *milli / core::kWholeDevice;
    device.share = Cpus{*milli};
    if (device.count) device.share.reset();
    return true;
  }
  const bool digit = !word.empty() && word[0] >= '0' && word[0] <= '9';
  if (const auto bytes = parse_bytes(word); digit && bytes) {
    device.memory = Bytes{*bytes};
    return true;
  }
  return false;
}

Result<core::DeviceRequest> to_request(const DeviceSpec& device) {
  core::DeviceRequest request;
  const int64_t count = device.count.value_or(1);
  if (!device.kind || count < 1 || count > core::kDeviceCountMax)
    return refuse_devices("needs a kind and a count of at least 1 for each");
  request.kind = *device.kind;
  request.count = static_cast<uint32_t>(count);
  std::vector<std::string> models;
  const std::string listed = device.model.value_or("");
  for (const std::string_view model : split(listed, '|'))
    models.emplace_back(model == "any" ? "" : model);
  if (!models.empty()) request.model = models.front();
  if (models.size() > 1) request.also.assign(models.begin() + 1, models.end());
  const int ways = device.share.has_value() + device.memory.has_value() + device.slice.has_value();
  if (ways > 1)
    return refuse_devices("names more than one of share, memory and slice for " +
                          quote(request.kind) + "; choose one");
  if (device.share) {
    const int64_t share = device.share->milli;
    if (share < 1 || share > core::kWholeDevice)
      return refuse_devices("asks for a share of " + format_milli(share) +
                            " of a device; it must be between 0.001 and 1 (for several devices "
                            "write a whole count)");
    request.share_milli = static_cast<int32_t>(share);
  }
  if (device.memory) request.memory_bytes = device.memory->count;
  request.profile = device.slice.value_or("");
  return request;
}

}  // namespace

Result<DeviceSpec> parse_device(std::string_view text) {
  DeviceSpec device;
  const auto parts = split(text, ':');
  bool ok = parts.size() <= 3 && !parts[0].empty();
  device.kind = std::string(parts[0]);
  if (ok && parts.size() == 3) {
    device.model = std::string(parts[1]);
    ok = !parts[1].empty() && set_amount(device, parts[2]);
  } else if (ok && parts.size() == 2 && !set_amount(device, parts[1])) {
    device.model = std::string(parts[1]);
    ok = !parts[1].empty();
  }
  if (!ok) {
    return fail(ErrorCode::invalid,
                quote(text) +
                    " is not a device: write KIND, KIND:COUNT or KIND:MODEL:COUNT; for the count "
                    "also a share (0.25), memory (10Gi) or a slice (1g.5gb), for the model also "
                    "several (a100|v100|any)");
  }
  return device;
}

Result<std::vector<DeviceSpec>> parse_gpus(std::string_view text) {
  std::vector<DeviceSpec> devices;
  for (std::string_view part : split(text, ',')) {
    if (part.starts_with("gpu:")) part.remove_prefix(4);
    if (part == "0") continue;
    auto device = part.empty() || part == "gpu" ? Result<DeviceSpec>(DeviceSpec{"gpu"})
                                                : parse_device("gpu:" + std::string(part));
    if (part.empty() || !device || device->count.value_or(1) > core::kDeviceCountMax ||
        device->count.value_or(1) < 0)
      return fail(ErrorCode::invalid,
                  "gpus is " + quote(text) +
                      "; write 2, a100, a100:2, a100|v100|any, or for a part of one 0.25, 10Gi or "
                      "1g.5gb",
                  "gpus");
    if (device->count == 0) {
      return fail(ErrorCode::invalid,
                  "gpus has " + quote(part) +
                      ", which is no GPU at all: write a count of at least "
                      "1, or leave it out",
                  "gpus");
    }
    if (!device->count) device->count = 1;
    devices.push_back(std::move(*device));
  }
  return devices;
}

Result<std::vector<core::DeviceRequest>> device_requests(
    const Text& gpus, const std::optional<std::vector<DeviceSpec>>& devices) {
  std::vector<DeviceSpec> asked = devices.value_or(std::vector<DeviceSpec>{});
  if (gpus) {
    auto more = parse_gpus(*gpus);
    if (!more) return tl::unexpected(more.error());
    asked.insert(asked.end(), more->begin(), more->end());
  }
  std::vector<core::DeviceRequest> requests;
  for (const DeviceSpec& device : asked) {
    auto request = to_request(device);
    if (!request) return tl::unexpected(request.error());
    const auto same = [&](core::DeviceRequest other) {
      other.count = request->count;
      return other == *request;
    };
    if (std::any_of(requests.begin(), requests.end(), same))
      return refuse_devices("names " + quote(*device.kind + ":" + device.model.value_or("")) +
                            " twice; add the counts");
    requests.push_back(std::move(*request));
  }
  std::sort(requests.begin(), requests.end());
  return requests;
}

DeviceSpec describe_device(const core::DeviceRequest& request) {
  DeviceSpec device{request.kind};
  std::string models;
  for (const std::string& model : core::models_of(request))
    models +=
        (models.empty() ? "" : "|") + (model.empty() && !request.also.empty() ? "any" : model);
  if (!models.empty()) device.model = models;
  device.count = int64_t{request.count};
  if (core::takes_slice(request))
    device.slice = request.profile;
  else if (request.memory_bytes > 0)
    device.memory = Bytes{request.memory_bytes};
  else if (!core::takes_whole(request))
    device.share = Cpus{request.share_milli};
  return device;
}

std::string device_text(const core::DeviceRequest& request) {
  const DeviceSpec device = describe_device(request);
  std::string amount = std::to_string(request.count);
  if (device.slice) amount = *device.slice;
  if (device.memory) amount = format_bytes(device.memory->count);
  if (device.share) amount = format_milli(device.share->milli);
  const bool several = request.count > 1 && (device.slice || device.memory || device.share);
  return *device.kind + (device.model ? ":" + *device.model : "") + ":" + amount +
         (several ? " x " + std::to_string(request.count) : "");
}

}  // namespace atl::spec
