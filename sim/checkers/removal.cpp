#include "sim/checkers/removal.h"

#include <algorithm>

namespace atl::sim {
namespace {

using core::scheduling::Obstacle;

// A device that serves the request with nothing to spare.
core::Device device_for(const core::DeviceRequest& request, std::string unit) {
  core::Device device{std::move(unit), request.kind, request.model, 0, true};
  device.memory_bytes = request.memory_bytes;
  if (!core::takes_whole(request)) device.share_step_milli = 1;
  if (core::takes_slice(request)) {
    device.slots = 1;
    device.profiles = {{request.profile, 1, {0}, 0}};
  }
  return device;
}

// Room for this job alone: everything else is held, and a node as large as it asks for appears.
void make_room(core::State& copy, const core::Job& job, Time now) {
  const core::Terms terms = copy.terms_of(job);
  const uint32_t members = std::max<uint32_t>(1, terms.gang);
  core::NodeCapacity node{
      "giant", terms.resources.cpu_milli * members, terms.resources.memory_bytes * members, {}};
  for (const core::DeviceRequest& request : terms.resources.devices) {
    for (uint32_t i = 0; i < request.count * members; ++i) {
      const std::string unit = "giant" + std::to_string(node.devices.size());
      node.devices.push_back(device_for(request, unit));
    }
  }
  const bool any = terms.site.empty() || terms.site.ends_with("|any");
  const std::string where = any ? "elsewhere" : terms.site.substr(0, terms.site.find('|'));
  const core::Site* site = copy.site_named(where);
  const SiteId id = site ? site->id : SiteId{copy.counters.site + 1};
  if (!site) core::apply(copy, {now, {}, core::SiteAdded{.id = id, .name = where, .kind = "test"}});
  core::SiteReport report;
  for (const auto& [name, known] : copy.sites.at(id).nodes) {
    if (!known.gone) report.nodes.push_back(known.capacity);
  }
  report.nodes.push_back(std::move(node));
  core::apply(copy, {now, {}, core::SiteReported{id, std::move(report)}});
  core::apply(copy, {now, {}, core::SiteDrained{id, false}});
}

// Those that make room have ended, and wait for good; so have others that were stopping anyway, and
// were counted on.
void end_stopping(core::State& copy, Time now, JobId except) {
  std::vector<AttemptId> ended;
  for (const auto& [id, other] : copy.jobs) {
    for (const auto& [index, task] : other.tasks) {
      if (std::holds_alternative<core::TaskStop>(task.state) && !task.line)
        ended.push_back({id, index, task.attempt});
    }
  }
  for (const AttemptId attempt : ended) {
    core::apply(copy, {now, {}, core::TaskRetried{attempt, core::RetryReason::yielded, {}, now}});
    if (attempt.job != except) core::apply(copy, {now, {}, core::JobHeld{attempt.job}});
  }
}

// The first pause is over; of a gang all of them, as its members wait for each other.
void end_backoff(core::State& copy, const core::Job& job, Time now) {
  for (const auto& [index, task] : job.tasks) {
    if (!std::holds_alternative<core::TaskBackoff>(task.state)) continue;
    core::apply(copy, {now, {}, core::BackoffEnded{{job.id, index}}});
    if (!job.gang) return;
  }
}

}  // namespace

void hold_others(core::State& copy, JobId job, Time now) {
  std::vector<JobId> others;
  for (const auto& [id, other] : copy.jobs) {
    if (id != job && !other.held) others.push_back(id);
  }
  for (const JobId id : others) core::apply(copy, {now, {}, core::JobHeld{id}});
}

void remove_obstacle(core::State& copy, const core::Job& job, Time now, Obstacle obstacle) {
  const auto say = [&](core::EventBody body) { core::apply(copy, {now, {}, std::move(body)}); };
  switch (obstacle) {
    case Obstacle::held:
      return say(core::JobReleased{job.id});
    case Obstacle::dependency:
      return say(core::DependenciesSettled{job.id});
    case Obstacle::quota:
      say(core::StakeSet{job.ns, {}});
      return say(core::QuotaSet{job.ns, {}});
    case Obstacle::array_limit:
      copy.terms.at(job.terms).terms.parallel_max = 0;
      return;
    case Obstacle::backoff:
      return end_backoff(copy, job, now);
    case Obstacle::yielding:
    case Obstacle::members:
      return end_stopping(copy, now, job.id);
    case Obstacle::calendar:
      return say(core::CalendarSet{});
    case Obstacle::reserved:
      while (!copy.reservations.empty())
        say(core::ReservationEnded{copy.reservations.begin()->first, true});
      return;
    default:
      return make_room(copy, job, now);
  }
}

}  // namespace atl::sim
