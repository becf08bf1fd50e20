#include "site/local/devices.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>

#include "base/amount.h"
#include "base/text.h"

namespace atl::site {
namespace {

// The part of nvml.h that is used; the library's interface is stable under these names.
using NvmlDevice = void*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
constexpr unsigned kNameBytes = 96;

struct Nvml {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*memory)(NvmlDevice, void*) = nullptr;  // fills an NvmlMemory

  template <class Fn>
  bool load(Fn& fn, const char* symbol) {
    fn = reinterpret_cast<Fn>(::dlsym(library, symbol));
    return fn != nullptr;
  }
  bool load_all() {
    return load(init, "nvmlInit_v2") && load(shutdown, "nvmlShutdown") &&
           load(count, "nvmlDeviceGetCount_v2") && load(handle, "nvmlDeviceGetHandleByIndex_v2") &&
           load(name, "nvmlDeviceGetName") && load(memory, "nvmlDeviceGetMemoryInfo");
  }
};

core::Device describe(const Nvml& nvml, unsigned index) {
  core::Device device{.unit = "gpu" + std::to_string(index), .kind = "gpu"};
  NvmlDevice handle = nullptr;
  if (nvml.handle(index, &handle) != 0) return device;
  char name[kNameBytes] = {};
  if (nvml.name(handle, name, sizeof name) == 0) device.model = gpu_model(name);
  NvmlMemory memory = {};
  if (nvml.memory(handle, &memory) == 0) device.memory_bytes = static_cast<int64_t>(memory.total);
  return device;
}

}  // namespace

FoundDevices find_nvidia_gpus(const std::string& library) {
  FoundDevices found;
  Nvml nvml;
  nvml.library = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!nvml.library) {
    found.why = library + " is not installed";
    return found;
  }
  unsigned count = 0;
  if (!nvml.load_all()) {
    found.why = library + " lacks a function of NVML";
  } else if (const int code = nvml.init(); code != 0) {
    found.why = "NVML does not start (code " + std::to_string(code) + "): is the driver loaded?";
  } else {
    if (nvml.count(&count) != 0) found.why = "NVML cannot count the devices";
    for (unsigned i = 0; i < count; ++i) found.devices.push_back(describe(nvml, i));
    nvml.shutdown();
  }
  ::dlclose(nvml.library);
  return found;
}

std::string gpu_model(const std::string& product) {
  std::string model;
  for (const std::string_view word : split(product, ' ')) {
    std::string low;
    for (const char c : word) low += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (low.empty() || low == "nvidia" || low == "tesla" || low == "geforce" || low == "quadro")
      continue;
    const size_t form = std::min(low.find("-sxm"), low.find("-pcie"));
    if (form == std::string::npos && (low.ends_with("gb") || low == "pcie")) break;
    model += (model.empty() ? "" : "-") + low.substr(0, form);
    if (form != std::string::npos) break;
  }
  return model;
}

namespace {

// What a program sees as one GPU: a slice, or all parts of a device together.
struct VisibleGpu {
  std::string name;  // for CUDA
  int32_t share_milli = 0;
  int64_t memory_bytes = 0;
};

std::string cuda_name(const core::HeldDevice& device) {
  const std::string& unit = device.unit;
  if (device.size > 0)
    return "MIG-" + unit + "/" + device.profile + "/" + std::to_string(device.start);
  const bool numbered = unit.starts_with("gpu") && parse_int(unit.substr(3)).has_value();
  return numbered ? unit.substr(3) : unit;
}

// In the order they are held. CUDA shows nothing to a program that names one twice.
std::vector<VisibleGpu> visible(const std::vector<core::HeldDevice>& held) {
  std::vector<VisibleGpu> gpus;
  for (const core::HeldDevice& device : held) {
    if (device.kind != "gpu") continue;
    const std::string name = cuda_name(device);
    auto at = std::find_if(gpus.begin(), gpus.end(),
                           [&](const VisibleGpu& each) { return each.name == name; });
    if (at == gpus.end()) at = gpus.insert(at, {name});
    at->share_milli += device.size > 0 ? core::kWholeDevice : device.share_milli;
    at->memory_bytes += device.memory_bytes;
  }
  return gpus;
}

std::string describe_held(const core::HeldDevice& device) {
  // Units, kinds, models and profiles are plain words; nothing in them needs escaping.
  std::string text = "{\"unit\":\"" + device.unit + "\",\"kind\":\"" + device.kind +
                     "\",\"model\":\"" + device.model + "\"";
  if (device.size > 0)
    text += ",\"slice\":\"" + device.profile + "\",\"slots\":[" + std::to_string(device.start) +
            "," + std::to_string(device.size) + "]";
  else
    text += ",\"share\":" + format_milli(device.share_milli);
  if (device.memory_bytes > 0) text += ",\"memory_bytes\":" + std::to_string(device.memory_bytes);
  return text + "}";
}

}  // namespace

std::string visible_gpus(const std::vector<core::HeldDevice>& held) {
  std::string text;
  for (const VisibleGpu& gpu : visible(held)) text += (text.empty() ? "" : ",") + gpu.name;
  return text;
}

std::map<std::string, std::string> parts_environment(const std::vector<core::HeldDevice>& held) {
  if (held.empty()) return {};
  std::map<std::string, std::string> env;
  std::string list;
  for (const core::HeldDevice& device : held)
    list += (list.empty() ? "" : ",") + describe_held(device);
  int32_t least = core::kWholeDevice;
  std::string limits;
  const std::vector<VisibleGpu> gpus = visible(held);
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].share_milli >= core::kWholeDevice) continue;
    least = std::min(least, gpus[i].share_milli);
    if (gpus[i].memory_bytes > 0)
      limits += (limits.empty() ? "" : ",") + std::to_string(i) + "=" +
                std::to_string(gpus[i].memory_bytes >> 20) + "M";
  }
  env["ATOLL_DEVICES"] = "[" + list + "]";
  if (least < core::kWholeDevice) {
    env["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = std::to_string(std::max(1, least / 10));
    if (!limits.empty()) env["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = limits;
  }
  return env;
}

}  // namespace atl::site
