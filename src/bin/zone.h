// Tells the core what the clock on the wall says, by which its calendar goes: at the start, and
// when summer time begins or ends.
#pragma once

#include "base/time.h"
#include "runtime/runtime.h"

namespace atl::bin {

class ZoneWatch {
 public:
  ZoneWatch(Clock& clock, runtime::Runtime& runtime) : clock_(clock), runtime_(runtime) {}

  // Once per turn of the loop, on its thread.
  void operator()();

 private:
  Clock& clock_;
  runtime::Runtime& runtime_;
  Time look_at_;
};

// In minutes, at that time, as the machine is set.
int32_t utc_offset(Time at);

}  // namespace atl::bin
