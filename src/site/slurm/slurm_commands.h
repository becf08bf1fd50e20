// What is asked of Slurm's programs, several at once in one exchange, and their answers. Pure: the
// scripts are run by a Shell, on the login node.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/slurm/slurm_options.h"

namespace atl::site {

// Answers of several programs in one output, each between two lines with a mark that no program
// prints.
class Sections {
 public:
  explicit Sections(std::string mark) : mark_(std::move(mark)) {}

  // A line of shell that runs the command and tells its output and exit code under this name. What
  // it says on stderr is part of it only if `errors`.
  std::string run(const std::string& name, const std::string& command, bool errors = false) const;

  struct Answer {
    int exit_code = 0;
    std::string out;
  };
  // By name; one whose end is missing is left out.
  std::map<std::string, Answer> read(std::string_view out) const;

 private:
  const std::string mark_;
};

// The head of every script: where the programs are, and how they write times and words.
std::string slurm_prelude(const SlurmOptions& options);

std::string queue_command(bool json);
std::string accounting_command(const std::vector<uint64_t>& jobs, bool json);
// All that accounting has of these names since yesterday.
std::string accounting_by_name_command(const std::vector<std::string>& names, bool json);
std::string nodes_command(bool json);
// As text: the JSON of 24.11 does not say which one is the default.
inline constexpr const char* kPartitionsCommand = "scontrol --oneliner show partitions";

// Hands the script that is in the run directory to sbatch, unless that was done before: the number
// of the job is kept there. `directory` is a word of shell.
std::string submit_command(const std::string& directory, const std::vector<std::string>& arguments);

// The job's number in what a submission printed; nothing when it failed.
std::optional<uint64_t> submitted_job(std::string_view said);

// Each for many jobs. A job that waits is taken out of the queue; one that runs is told by SIGTERM
// to its batch shell, which hands it on.
std::string cancel_waiting_command(const std::vector<uint64_t>& jobs);
std::string terminate_command(const std::vector<uint64_t>& jobs);
// Ends whatever there is of them.
std::string cancel_command(const std::vector<uint64_t>& jobs);

}  // namespace atl::site
