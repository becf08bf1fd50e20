#include "sim/checkers/settles.h"

#include "base/overloaded.h"
#include "core/scheduling/explain.h"

namespace atl::sim {
namespace {

std::string describe(const core::State& state, const core::Job& job) {
  const std::string name = "job " + to_string(job.id);
  if (!job.tasks.empty()) {
    const auto& [index, task] = *job.tasks.begin();
    const char* what = match(
        task.state, [](const core::TaskBackoff&) { return "in back-off"; },
        [](const core::TaskStarting&) { return "starting"; },
        [](const core::TaskRunning&) { return "running"; },
        [](const core::TaskStop&) { return "stopping"; });
    return name + " has not ended: " + to_string(AttemptId{job.id, index, task.attempt}) + " is " +
           what;
  }
  return name + " has not ended: " + core::scheduling::explain(state, job).sentence;
}

}  // namespace

void Settles::settled(const Glimpse& glimpse) {
  const core::State& state = glimpse.live;
  if (!state.jobs.empty()) broke(describe(state, state.jobs.begin()->second));
  if (!state.workflows.empty())
    broke("workflow " + to_string(state.workflows.begin()->first) + " has not ended");
  if (!state.notices.empty()) broke("a notice is still owed");
  if (!glimpse.writable) broke("the server is still read-only");
}

}  // namespace atl::sim
