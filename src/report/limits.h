// Every bound of drawings and reports, each with its reason.
#pragma once

#include <cstddef>

#include "base/time.h"

namespace atl::report {

inline constexpr size_t kNodesMax = 400;  // more boxes than this nobody reads; then like joins like
inline constexpr size_t kEdgesMax = 3000;    // Graphviz takes seconds for more
inline constexpr size_t kRoundsMax = 64;     // of joining; each is a pass over all steps
inline constexpr size_t kTextNodesMax = 80;  // boxes in a terminal; then a list
inline constexpr size_t kLabelLinesMax = 6;
inline constexpr int kLabelColumnsMax = 40;

inline constexpr Duration kLayoutTime = seconds(5);          // a caller waits for it
inline constexpr size_t kLayoutBytesMax = size_t{8} << 20;   // of Graphviz's answer
inline constexpr size_t kLayoutMemoryMax = size_t{1} << 30;  // of its address space

inline constexpr size_t kTableRowsMax = 2000;  // a browser sorts these at once
inline constexpr size_t kGanttRowsMax = 200;
inline constexpr size_t kLogBytesMax = 16 << 10;          // of one stream, its end
inline constexpr size_t kLogStepsMax = 200;               // steps whose logs are shown
inline constexpr size_t kLogsBytesMax = size_t{1} << 20;  // of all logs, before escapes
inline constexpr size_t kFileBytesMax = 128 << 10;  // shown of one file; the crate has it whole
inline constexpr size_t kFilesBytesMax = size_t{1} << 20;  // shown of all files
inline constexpr size_t kValueBytesMax = 2 << 10;          // shown of one value or message
inline constexpr size_t kListedMax = 500;                  // parameters, outputs, files

inline constexpr size_t kCrateEntitiesMax = 20'000;  // outputs described one by one
inline constexpr size_t kCrateStepsMax = 500;  // runs of steps; validators take minutes for more
inline constexpr size_t kCrateBytesMax = size_t{256} << 20;

}  // namespace atl::report
