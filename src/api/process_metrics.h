// The process_* metrics that Prometheus' own client libraries agree on, read from /proc when asked.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace atl::api {

// What cannot be read is left out.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace atl::api
