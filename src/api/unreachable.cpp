#include "api/unreachable.h"

namespace atl::api {
namespace {

constexpr size_t kTasksLookedAt = 4096;  // of a job: the core's thread waits meanwhile

bool is_unreachable(const core::TaskState& state) {
  const auto* running = std::get_if<core::TaskRunning>(&state);
  const auto* stop = std::get_if<core::TaskStop>(&state);
  return (running && running->unreachable) || (stop && stop->unreachable);
}

std::string trouble_with(const site::DriverTable& drivers, const std::string& site,
                         const std::string& node) {
  const auto driver = drivers.find(site);
  if (!driver) return "no driver serves its site";
  const auto of_nodes = driver->node_trouble();
  const auto found = of_nodes.find(node);
  return found == of_nodes.end() ? driver->trouble() : found->second;
}

}  // namespace

std::string unreachable_sentence(const core::State& state, const site::DriverTable& drivers,
                                 const core::Job& job, std::optional<uint32_t> index) {
  size_t looked_at = 0;
  for (const auto& [at, task] : job.tasks) {
    if (++looked_at > kTasksLookedAt) break;
    if ((index && at != *index) || !is_unreachable(task.state)) continue;
    const core::Placement& place = *core::placement_of(task.state);
    const std::string& site = state.sites.at(place.site).name;
    const std::string trouble = trouble_with(drivers, site, place.node);
    return site + "/" + place.node + " cannot be asked" + (trouble.empty() ? "" : ": " + trouble) +
           "; " + to_string(TaskId{job.id, at}, job.array) +
           " goes on there as far as anybody knows, and is not started elsewhere before it is "
           "known "
           "to have ended";
  }
  return {};
}

}  // namespace atl::api
