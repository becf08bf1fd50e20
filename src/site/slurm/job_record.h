// What squeue and sacct say of jobs, in JSON or as lines of text. Pure; fields that are not known
// here are left alone, because every release of Slurm has other ones.
//
// Both forms are read by the same function: it looks at the first byte. JSON is asked for from
// 23.02 on. Before that, `--json` of squeue ignores what was asked for and shows everybody's jobs,
// and that of sacct has the exit code of a failed job as zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::site {

struct SlurmVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const SlurmVersion&) const = default;
};
inline constexpr SlurmVersion kSoundJson{23, 2};

// From "slurm-wlm 22.05.8" or "slurm 24.11.5"; zero when there is no number.
SlurmVersion parse_slurm_version(std::string_view said);

struct JobRecord {
  uint64_t id = 0;
  std::string name;
  std::string state;   // the word of Slurm: "RUNNING", "NODE_FAIL"
  std::string reason;  // of one that waits or failed; empty for none
  int exit_code = 0;
  int signal = 0;
  Time started;  // zero: not yet
  Time ended;
  std::string nodes;
  uint32_t restarts = 0;     // how often Slurm put it back
  std::string cancelled_by;  // the account's number, where accounting tells
  bool operator==(const JobRecord&) const = default;
};

// The options of squeue and sacct whose lines parse_jobs reads, with SLURM_TIME_FORMAT=%s.
inline constexpr const char* kQueueFields =
    "JobID:|,State:|,Reason:|,exit_code:|,StartTime:|,EndTime:|,NodeList:|,RestartCnt:|,Name:|";
inline constexpr const char* kAccountingFields =
    "JobIDRaw,State,Reason,ExitCode,Start,End,NodeList,JobName";

// Lines that are no record (warnings of a plugin, a banner) are left out; JSON that is none is an
// error.
[[nodiscard]] Result<std::vector<JobRecord>> parse_jobs(std::string_view bytes);

}  // namespace atl::site
