// The runs as pictures: how full the machine was, how long people waited, who used it.
#pragma once

#include <string>
#include <vector>

#include "simulate/report.h"

namespace atl::simulate {

std::string plot_utilisation(const std::vector<NamedRun>& runs);
std::string plot_waits(const Trace& trace, const std::vector<NamedRun>& runs);
std::string plot_namespaces(const std::vector<NamedRun>& runs);

// Writes utilisation.svg, waits.svg and namespaces.svg into the directory, which is made if need
// be; gives back their paths.
[[nodiscard]] Result<std::vector<std::string>> write_plots(const std::string& directory,
                                                           const Trace& trace,
                                                           const std::vector<NamedRun>& runs);

}  // namespace atl::simulate
