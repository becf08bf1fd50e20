// Paths and records of the log store, shared by its writer and its reader.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"

namespace atl::site {

struct LogRecord {
  uint32_t index = 0;
  uint32_t attempt = 0;
  uint32_t stream = 0;
  uint32_t length = 0;
  uint64_t stream_offset = 0;
  uint64_t data_offset = 0;
};
static_assert(sizeof(LogRecord) == 32);

inline std::string log_bucket(const std::string& root, JobId job) {
  return root + "/" + std::to_string(job.value / 1000);
}
inline std::string log_file(const std::string& root, AttemptId id, uint32_t stream) {
  static constexpr const char* kSuffix[] = {".out", ".err", ".use"};
  return log_bucket(root, id.job) + "/" + std::to_string(id.job.value) + "." +
         std::to_string(id.attempt) + kSuffix[stream];
}
inline std::string log_array(const std::string& root, JobId job) {
  return log_bucket(root, job) + "/" + std::to_string(job.value) + ".array";
}

inline std::string log_live_use(const std::string& root, AttemptId id) {
  return log_array(root, id.job) + "/" + std::to_string(id.index) + "." +
         std::to_string(id.attempt) + ".use";
}

}  // namespace atl::site
