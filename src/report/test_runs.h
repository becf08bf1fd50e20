// Runs for the tests of this room.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/workflow_run.h"

namespace atl::report {

inline constexpr Time kBegin{1'767'225'600'000'000};  // 2026-01-01T00:00:00Z

// A run of "name: needs ..." lines, all succeeded, each step of one minute on its level.
WorkflowRun run_of(const std::vector<std::pair<std::string, std::vector<uint32_t>>>& steps);

// The four steps of the CONNECT workflow of CHASE-CI, with its own numbers, and a failed plot.
WorkflowRun connect_run();

// Everything that a user writes tries to be markup, a command or a path to elsewhere.
WorkflowRun hostile_run();

// `width` steps between a first and a last one.
WorkflowRun fan_out(uint32_t width);

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace atl::report
