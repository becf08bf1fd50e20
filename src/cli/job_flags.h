// The flags of `submit` and `run`, made from the field table of a job, and their way to the JSON
// that the server takes: defaults, then the script's directives, then flags.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "spec/directives.h"
#include "spec/job_flags.h"
#include "spec/job_spec.h"

namespace atl::cli {

struct JobFlags {
  spec::JobAsk ask;                // what flags said
  std::vector<std::string> words;  // SCRIPT [ARGS…], or a command
  bool is_command = false;         // it stood after "--"
  // Dependencies on `last`, by the flag and its text: which job that is, the server knows.
  std::vector<std::pair<const spec::JobFlag*, std::string>> after_last;
};

// Puts that job in the place of `last`.
[[nodiscard]] Result<void> use_last(JobFlags& flags, const std::string& id);

// One option per field of `shape` that has a flag, writing to `object`; both outlive the parse.
void add_table_flags(CLI::App* verb, const spec::Shape& shape, void* object);

void add_job_flags(CLI::App* verb, JobFlags& flags);

// What the caller's machine adds to the flags. Tests hand in their own.
struct Surroundings {
  std::string directory;               // where the job runs unless it says otherwise
  std::vector<std::string> variables;  // K=V, for --env-all and for --env NAME
  std::function<Result<std::string>(const std::string& path, std::size_t max)> read_file;
  std::function<Result<std::string>(std::size_t max)> read_stdin;
};
Surroundings real_surroundings();

struct JobDraft {
  spec::JobSpec spec;
  bool env_all = false;
  bool stdin_here = false;
  std::string key;          // the idempotency key: a flag's, else the script's
  std::string script_name;  // for warnings
  std::vector<spec::Warning> warnings;
};

// `invalid` says what to write instead.
[[nodiscard]] Result<JobDraft> draft_job(const JobFlags& flags, const Surroundings& here);

}  // namespace atl::cli
