#include "cli/exit.h"

namespace atl::cli {

int exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid:
      return kExitUsage;
    case ErrorCode::exhausted:
    case ErrorCode::unavailable:
      return kExitTryAgain;
    case ErrorCode::timeout:
      return kExitTimeout;
    default:
      return kExitFailure;
  }
}

int launcher_exit_code(const Error& error) {
  const int code = exit_code(error);
  return code == kExitFailure ? kExitLauncher : code;
}

namespace {

int failed_exit_code(const Json& job) {
  const auto signal = job["signal"].integer();
  if (signal > 0 && signal < 127) return 128 + static_cast<int>(signal);
  if (job["exit_code"].is_null()) return kExitLauncher;
  const auto code = job["exit_code"].integer();
  return code > 0 && code < 256 ? static_cast<int>(code) : kExitFailure;
}

}  // namespace

int job_exit_code(const Json& job) {
  const std::string outcome = job.text("outcome");
  if (outcome == "succeeded") return kExitOk;
  if (outcome == "timed_out") return kExitTimeout;
  if (outcome == "cancelled") return kExitCancelled;
  if (outcome != "failed") return kExitLauncher;
  return job["array"].truth() || job["array"].is_object() ? kExitFailure : failed_exit_code(job);
}

}  // namespace atl::cli
