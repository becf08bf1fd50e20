// An SQLite file layer for tests that passes everything on to the real one and fails at the n-th
// write, sync or truncation.
#pragma once

#include <atomic>
#include <cstdint>

namespace atl::journal {

struct FaultPlan {
  std::atomic<int64_t> operations = 0;  // seen since it was armed
  std::atomic<int64_t> fail_at = 0;     // the first that fails, counting from 1; zero: none
  std::atomic<bool> for_good = false;   // and all after it

  void arm(int64_t at, bool ever_after);
  void disarm() { fail_at = 0; }
};

// Registers the layer on first use; its name is for SqliteOptions::vfs.
const char* faulty_vfs();
FaultPlan& fault_plan();

}  // namespace atl::journal
