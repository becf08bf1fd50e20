// The cluster as `scontrol show` tells it: nodes, what they have, and the partitions' limits. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/types.h"

namespace atl::site {

inline constexpr int64_t kMinutesMax = 60 * 24 * 366 * 10;  // a limit beyond ten years is none

struct SlurmNode {
  std::string name;
  std::vector<std::string> states;  // "IDLE", then flags such as "DRAIN"
  int64_t cpus = 0;
  int64_t memory_mib = 0;
  std::string gres;  // "gpu:a100:2(S:0-1),gpu:v100:2"
  std::vector<std::string> partitions;
  bool operator==(const SlurmNode&) const = default;
};

struct SlurmPartition {
  std::string name;
  bool is_default = false;
  bool up = true;
  Duration time_max;      // zero: none
  int64_t nodes_max = 0;  // zero: none
  bool operator==(const SlurmPartition&) const = default;
};

// JSON (which has no default partition), or the lines of `scontrol --oneliner show nodes` and `…
// show partitions`.
[[nodiscard]] Result<std::vector<SlurmNode>> parse_nodes(std::string_view bytes);
[[nodiscard]] Result<std::vector<SlurmPartition>> parse_partitions(std::string_view bytes);

// Whether jobs may start there now or once it is free: not down, drained, failing or powered off
// for good.
bool node_usable(const SlurmNode& node);

std::vector<core::Device> devices_of_gres(std::string_view gres);

// What Atoll may count on: the usable nodes of these partitions, or of all when none is named.
core::SiteReport report_cluster(const std::vector<SlurmNode>& nodes,
                                const std::set<std::string>& partitions);

}  // namespace atl::site
