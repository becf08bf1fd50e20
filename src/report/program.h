// A program that computes something from a text and may do nothing else for long: it reads its
// input and writes its answer in memory, and is killed when it takes too long or grows too large.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::report {

struct ProgramLimits {
  Duration time;          // on the clock; on the processor a second more
  size_t answer_max = 0;  // bytes
  size_t memory_max = 0;  // bytes of address space
};

// Blocks the calling thread until the program has ended or its time is up; any thread will do, and
// several at once. `argv[0]` is looked up in the system's folders. Its standard output is the
// answer; what it says on standard error is lost. `unavailable`: it is not installed, could not be
// started, or failed; `timeout`: its time was up; `too_large`: its answer was.
[[nodiscard]] Result<std::string> run_program(const std::vector<std::string>& argv,
                                              std::string_view input, const ProgramLimits& limits);

}  // namespace atl::report
