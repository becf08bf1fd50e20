// The machine's accelerators: NVIDIA GPUs through NVML, loaded at run time because few machines
// have it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/types.h"

namespace atl::site {

struct FoundDevices {
  std::vector<core::Device> devices;
  std::string why;  // when there are none: what was missing
};

// `library` is a name or path for dlopen.
FoundDevices find_nvidia_gpus(const std::string& library = "libnvidia-ml.so.1");

// "NVIDIA A100-SXM4-80GB" -> "a100": the word people ask for.
std::string gpu_model(const std::string& product);

// What CUDA_VISIBLE_DEVICES says for these units, each once: the number of "gpu3", else the unit as
// it is; of a slice its unit, profile and first slot.
std::string visible_gpus(const std::vector<core::HeldDevice>& held);

// ATOLL_DEVICES says all there is to say, as JSON; where shares are held, the variables of NVIDIA's
// MPS keep a program to them.
std::map<std::string, std::string> parts_environment(const std::vector<core::HeldDevice>& held);

}  // namespace atl::site
