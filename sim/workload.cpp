#include "sim/workload.h"

#include "base/wire.h"
#include "core/scheduling/explain.h"

namespace atl::sim {
namespace {

constexpr uint64_t kTriesMax = 200;  // of a keyed request, far more than any outage lasts

}  // namespace

Workload::Workload(World& world, Server& server, Observer& observer, Rng rng, const Faults& faults,
                   std::vector<std::string> sites)
    : world_(world),
      server_(server),
      observer_(observer),
      rng_(rng),
      faults_(faults),
      sites_(sites),
      draw_(rng_.fork(), std::move(sites)),
      clears_agenda_(rng_.chance(500)) {}

void Workload::set_up() {
  for (Ask& ask : draw_.setup()) send(std::make_shared<Ticket>(Ticket{std::move(ask)}));
}

void Workload::begin(uint64_t count, Duration pause) {
  left_ = count;
  pause_ = pause;
  ask_next();
}

void Workload::ask_next() {
  if (left_ == 0) return;
  --left_;
  Moment moment{world_.now(), 0};
  if (server_.up()) moment = {server_.now(), server_.state().calendar.utc_offset};
  meet_steps();
  send(std::make_shared<Ticket>(Ticket{draw_.next(moment)}));
  // People come in bursts: a script asks for many things at once, then nobody for a while.
  const Duration wait =
      rng_.chance(500) ? milliseconds(rng_.between(0, 5)) : rng_.between(Duration{}, pause_ * 4);
  world_.after(wait, [this] { ask_next(); });
}

// Steps' jobs are in nobody's answer: people find them in the list of jobs.
void Workload::meet_steps() {
  if (!server_.up() || !rng_.chance(200)) return;
  std::vector<JobId> found;
  for (const auto& [id, job] : server_.state().jobs) {
    if (job.of.workflow) found.push_back(id);
  }
  if (!found.empty()) draw_.know(rng_.pick(found));
}

void Workload::set_up_backlogged() {
  for (Ask& ask : draw_.backlogged_setup()) send(std::make_shared<Ticket>(Ticket{std::move(ask)}));
}

void Workload::keep_backlogged(Duration span) {
  left_ = 1;
  top_up(world_.now() + span);
}

void Workload::top_up(Time until) {
  if (world_.now() > until) {
    left_ = 0;
    if (server_.up()) {
      for (const auto& [id, job] : server_.state().jobs) order(core::CancelJob{id, {}, {}});
    }
    return;
  }
  if (server_.up()) {
    for (const auto& [id, ns] : server_.state().namespaces) {
      uint64_t waiting = 0;
      for (const auto& [job_id, job] : server_.state().jobs)
        waiting += job.ns == id ? job.waiting.size() : 0;
      if (waiting < 100) send(std::make_shared<Ticket>(Ticket{draw_.more_work(ns.name)}));
    }
  }
  world_.after(seconds(5), [this, until] { top_up(until); });
}

void Workload::send(std::shared_ptr<Ticket> ticket) {
  ++ticket->tries;
  if (!server_.up()) return send_again(std::move(ticket));
  open_[ticket.get()] = ticket->tries;
  runtime::Submission submission;
  submission.request = ticket->ask.request;
  if (ticket->ask.digest != Digest{}) {
    submission.blobs.push_back({ticket->ask.digest, wire::encode(ticket->ask.payload)});
  }
  for (const journal::Blob& blob : ticket->ask.blobs) submission.blobs.push_back(blob);
  server_.post(std::move(submission), [this, ticket](const Result<runtime::Accepted>& answer) {
    answered(ticket, answer);
  });
  world_.after(seconds(30), [this, ticket, tries = ticket->tries] {
    const auto open = open_.find(ticket.get());
    if (open != open_.end() && open->second == tries) send_again(ticket);
  });
}

// Only a keyed request is safe to repeat; for another one silence is the last word.
void Workload::send_again(std::shared_ptr<Ticket> ticket) {
  open_.erase(ticket.get());
  if (!ticket->ask.keyed || ticket->tries >= kTriesMax) return;
  open_[ticket.get()] = 0;
  world_.after(rng_.between(milliseconds(10), seconds(20)), [this, ticket] { send(ticket); });
}

void Workload::answered(const std::shared_ptr<Ticket>& ticket,
                        const Result<runtime::Accepted>& answer) {
  const std::string payload =
      ticket->ask.payload.argv.empty() ? "" : ticket->ask.payload.argv.front();
  observer_.told({ticket->ask.request, payload, ticket->ask.must_refuse, answer});
  if (rng_.chance(faults_.answer_lost)) return;
  const bool later = !answer && answer.error().code == ErrorCode::unavailable;
  if (later) return send_again(ticket);
  open_.erase(ticket.get());
  if (!answer) return;
  for (const JobId job : answer->jobs) draw_.know(job);
  for (const core::Event& event : answer->events) {
    if (const auto* made = std::get_if<core::WorkflowSubmitted>(&event.body)) draw_.know(made->id);
  }
}

void Workload::order(core::Command command) {
  send(std::make_shared<Ticket>(Ticket{{{{UserId{1}, false, {}}, std::move(command)}}}));
}

void Workload::clear_job(const core::Job& job) {
  if (job.held) order(core::ReleaseJob{job.id});
  if (job.held || job.waiting.empty() || !job.dependencies.empty()) return;
  using core::scheduling::Obstacle;
  const Obstacle obstacle =
      core::scheduling::explain(server_.state(), job, true, server_.now()).block.obstacle;
  if (obstacle == Obstacle::infeasible || obstacle == Obstacle::no_site)
    order(core::CancelJob{job.id, {}, {}});
}

void Workload::undrain(const core::Site& site) {
  for (const auto& [name, node] : site.nodes) {
    if (node.draining) order(core::DrainNode{site.name, name, false});
  }
}

void Workload::clear_away() {
  if (!server_.up()) return;
  const core::State& state = server_.state();
  for (const auto& [id, ns] : state.namespaces) {
    if (ns.stake.cohort) order(core::SetStake{ns.name, "", {}, {}});
    if (ns.quota != core::Quota{}) order(core::SetQuota{ns.name, {}});
  }
  if (clears_agenda_) {
    for (const auto& [id, each] : state.reservations) order(core::CancelReservation{each.name});
    for (const auto& each : state.calendar.entries) order(core::DeleteCalendarEntry{each.name});
  }
  for (const auto& [id, each] : state.schedules) {
    if (!each.paused)
      order(core::PauseSchedule{state.namespaces.at(each.ns).name, each.name, true});
  }
  bool complete = true;
  for (const std::string& name : sites_) {
    const core::Site* site = state.site_named(name);
    if (site) undrain(*site);
    if (!site)
      order(core::AddSite{name, "simulated"});
    else if (site->draining)
      order(core::DrainSite{name, false});
    complete &= site && site->reported && !site->draining;
  }
  if (!complete) return;
  for (const auto& [id, job] : state.jobs) clear_job(job);
  for (const auto& [id, workflow] : state.workflows) {
    if (workflow.paused) order(core::PauseWorkflow{id, false});
  }
}

}  // namespace atl::sim
