#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "site/slurm/batch_script.h"
#include "site/slurm/cluster.h"
#include "site/slurm/job_name.h"
#include "site/slurm/verdict.h"

using namespace atl::site;

// Whatever Slurm says is read without harm, and what is made of it can be shown.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto jobs = parse_jobs(bytes)) {
    for (const JobRecord& job : *jobs) {
      if (job.id == 0 || job.exit_code < 0 || job.signal < 0) std::abort();
      if (verdict_of(job).usage.ended < job.started) std::abort();
      static_cast<void>(never_starts(job));
      if (const auto attempt = attempt_of_name("t", job.name)) {
        if (attempt_of_name("t", slurm_job_name("t", *attempt)) != attempt) std::abort();
      }
    }
  }
  if (const auto nodes = parse_nodes(bytes)) static_cast<void>(report_cluster(*nodes, {}));
  static_cast<void>(parse_partitions(bytes));
  static_cast<void>(submit_failure(bytes));
  static_cast<void>(parse_slurm_version(bytes));
  static_cast<void>(check_template(bytes));
  return 0;
}
