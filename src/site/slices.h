// Into which slices a model can be cut, as its maker's tools list the legal places.
#pragma once

#include <string>
#include <vector>

#include "core/types.h"

namespace atl::site {

// Gives the device the profiles of a table; false when there is none of that name.
bool set_slices(core::Device& device, const std::string& table);
std::vector<std::string> slice_tables();

}  // namespace atl::site
