// The flags of `submit` and `run`, which are also the words of #ATOLL lines: those of the field
// table, and those that say a field in another way or need the place where they are written.
// Constant data, safe on any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/job_spec.h"

namespace atl::spec {

// What flags said. All but `spec` is for whoever stands where the job is submitted.
struct JobAsk {
  JobSpec spec;
  bool env_all = false;                // all variables of that place
  std::vector<std::string> env_names;  // variables with the values they have there
  bool stdin_here = false;             // standard input is what is read there
  std::string key;                     // idempotency key
};

struct JobFlag {
  const char* name = "";          // without dashes
  char letter = 0;                // its short form
  const char* metavar = nullptr;  // null: it takes no value
  const char* sentence = "";
  const char* fallback = nullptr;  // JSON: what it is when not said
  bool hidden = false;             // understood, and said better by another flag
  // Either of the two sets what it means.
  const Field* field = nullptr;
  Result<void> (*use)(JobAsk& ask, std::string_view value) = nullptr;
  void* (*owner)(JobSpec& spec) = nullptr;  // the structure that `field` is a member of
};

const std::vector<JobFlag>& job_flags();

// By name or letter; null when there is none.
const JobFlag* find_job_flag(std::string_view name);

// `value` is "true" for a flag that takes none.
[[nodiscard]] Result<void> use_job_flag(const JobFlag& flag, JobAsk& ask, std::string_view value);

}  // namespace atl::spec
