// How people ask for devices: kinds, models in order of preference, counts, shares and slices.
#include <algorithm>
#include <span>

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
  return digits > 0 && digits != std::string_view::npos && word.substr(digits).starts_with("g.") &&
         word.find('|') == std::string_view::npos;
}

// Digits with a dot are meant as a number, whatever they come to.
bool is_decimal(std::string_view word) {
  return word.find('.') != std::string_view::npos &&
         word.find_first_not_of("0123456789.") == std::string_view::npos;
}

constexpr int64_t kPartBytesMax = int64_t{1} << 46;  // more is a model's name: 3090Ti

enum class Said : uint8_t { nothing, count, part };

// What the word says: how many devices, or how much of one.
Result<Said> read_amount(DeviceSpec& device, std::string_view word) {
  if (const auto count = parse_int(word)) {
    device.count = *count;
    return Said::count;
  }
  if (names_slice(word)) {
    device.slice = std::string(word);
    return Said::part;
  }
  if (is_decimal(word)) {
    const auto milli = parse_milli(word);
    if (!milli || *milli == 0)
      return fail(ErrorCode::invalid,
                  quote(word) +
                      " is not a share of a device: write a number from 0.001 to 1, in steps of "
                      "0.001, such as 0.25");
    // "2.0" are two devices, and 1.5 would be no part of one.
    if (*milli % core::kWholeDevice == 0) {
      device.count = *milli / core::kWholeDevice;
      return Said::count;
    }
    device.share = Cpus{*milli};
    return Said::part;
  }
  const bool digit = !word.empty() && word[0] >= '0' && word[0] <= '9';
  if (const auto bytes = parse_bytes(word); digit && bytes && *bytes <= kPartBytesMax) {
    device.memory = Bytes{*bytes};
    return Said::part;
  }
  return Said::nothing;
}

// What follows the kind: [MODEL][:COUNT], or [MODEL:]PART[:COUNT]; nullopt when it is neither.
Result<std::optional<DeviceSpec>> read_words(DeviceSpec device,
                                             std::span<const std::string_view> words) {
  if (words.empty()) return device;
  DeviceSpec with_first = device;
  const auto first = read_amount(with_first, words[0]);
  if (!first) return tl::unexpected(first.error());
  const bool named = *first == Said::nothing || (*first == Said::count && words.size() > 1);
  if (!named)
    device = std::move(with_first);
  else if (words[0].empty())
    return std::nullopt;
  else
    device.model = std::string(words[0]);
  Said before = named ? Said::nothing : *first;
  for (const std::string_view word : words.subspan(1)) {
    const auto said = read_amount(device, word);
    if (!said) return tl::unexpected(said.error());
    const bool fits = before == Said::nothing ? *said != Said::nothing
                                              : before == Said::part && *said == Said::count;
    if (!fits) return std::nullopt;
    before = *said;
  }
  return device;
}

tl::unexpected<Error> too_many(int64_t count) {
  return refuse_devices("has a count of " + std::to_string(count) + "; the most is " +
                        std::to_string(core::kDeviceCountMax));
}

// The model, unless it is a part that stands in the wrong place.
Result<void> check_model_word(std::string_view model, std::string_view listed) {
  if (model.empty() && !listed.empty())
    return refuse_devices("lists models as " + quote(listed) +
                          ", where one is missing; write a100|v100, or a100|any");
  DeviceSpec unused;
  const auto said = read_amount(unused, model);
  if (said && *said != Said::part) return {};
  return refuse_devices("lists " + quote(model) +
                        " as a model, and it is a part of one; write MODEL|MODEL:PART, and a comma "
                        "between two requests");
}

Result<core::DeviceRequest> to_request(const DeviceSpec& device) {
  core::DeviceRequest request;
  const int64_t count = device.count.value_or(1);
  if (!device.kind || count < 1)
    return refuse_devices("needs a kind and a count of at least 1 for each");
  if (count > core::kDeviceCountMax) return too_many(count);
  request.kind = *device.kind;
  request.count = static_cast<uint32_t>(count);
  std::vector<std::string> models;
  const std::string listed = device.model.value_or("");
  for (const std::string_view model : split(listed, '|')) {
    if (auto ok = check_model_word(model, listed); !ok) return tl::unexpected(ok.error());
    models.emplace_back(model == "any" ? "" : model);
  }
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
  if (device.memory && device.memory->count < kMemoryBytesMin)
    return refuse_devices("asks for " + std::to_string(device.memory->count) +
                          " bytes of a device's memory; the least is " +
                          format_bytes(kMemoryBytesMin));
  if (device.memory) request.memory_bytes = device.memory->count;
  request.profile = device.slice.value_or("");
  return request;
}

}  // namespace

Result<DeviceSpec> parse_device(std::string_view text) {
  const auto parts = split(text, ':');
  auto device = read_words(DeviceSpec{std::string(parts[0])}, std::span(parts).subspan(1));
  if (!device) return tl::unexpected(device.error());
  if (*device && !parts[0].empty()) return std::move(**device);
  return fail(ErrorCode::invalid,
              quote(text) +
                  " is not a device: write KIND, KIND:COUNT or KIND:MODEL:COUNT; in the place of "
                  "the count also a part (0.25, 10Gi or 1g.5gb), or several (1g.5gb:2); for the "
                  "model also several (a100|v100|any)");
}

Result<std::vector<DeviceSpec>> parse_gpus(std::string_view text) {
  const auto refuse = [](std::string message) {
    return fail(ErrorCode::invalid, std::move(message), "gpus");
  };
  const std::string write =
      "; write 2, a100, a100:2, a100|v100|any, for a part of one 0.25, 10Gi or 1g.5gb, and for two "
      "parts 1g.5gb:2";
  std::vector<DeviceSpec> devices;
  for (std::string_view part : split(text, ',')) {
    if (part.starts_with("gpu:")) part.remove_prefix(4);
    if (part == "0") continue;
    auto read = read_words(DeviceSpec{"gpu"}, split(part == "gpu" ? "1" : part, ':'));
    if (!read) return refuse("gpus: " + read.error().message);
    std::optional<DeviceSpec>& device = *read;
    const int64_t count = device ? device->count.value_or(1) : -1;
    if (count < 0) return refuse("gpus is " + quote(text) + write);
    if (count > core::kDeviceCountMax) return too_many(count);
    if (count == 0)
      return refuse("gpus has " + quote(part) +
                    ", which is no GPU at all: write a count of at least 1, or leave it out");
    device->count = count;
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
    if (const auto twice = std::find_if(requests.begin(), requests.end(), same);
        twice != requests.end()) {
      const std::string once = device_text(*twice);
      twice->count += request->count;
      return refuse_devices("names " + quote(once) + " twice; write " + device_text(*twice));
    }
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
  const std::string name = *device.kind + (device.model ? ":" + *device.model : "");
  const std::string count = std::to_string(request.count);
  std::string part;
  if (device.slice) part = *device.slice;
  if (device.memory) part = format_bytes(device.memory->count);
  if (device.share) part = format_milli(device.share->milli);
  if (part.empty()) return name + ":" + count;
  return name + ":" + part + (request.count > 1 ? ":" + count : "");
}

}  // namespace atl::spec
