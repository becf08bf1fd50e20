// How workflows go on by themselves: what is ready starts, what has finished is judged, and what
// can no longer run ends with its reason.
#include <algorithm>

#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"

namespace atl::core {
namespace {

using workflow::Fallen;

StepState state_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::succeeded:
      return StepState::succeeded;
    case Outcome::cancelled:
      return StepState::cancelled;
    default:
      return StepState::failed;
  }
}

std::string short_of(std::string text) {
  if (text.size() <= kReasonBytesMax) return text;
  size_t end = kReasonBytesMax;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;  // not within a letter
  text.resize(end);
  return text;
}

std::string why_fallen(const Workflow& of, const Fallen& each) {
  const std::string needs = "needs " + of.steps[each.because].name;
  return each.how == StepState::skipped ? needs + ", which was skipped"
                                        : needs + ", which did not succeed";
}

// Ends what falls with the steps that the draft ends, those together that fall for the same one.
void end_fallen(const Workflow& of, std::vector<Fallen> ending, Draft& draft) {
  const std::vector<Fallen> fallen = workflow::fallen_with(of, std::move(ending));
  for (size_t i = 0; i < fallen.size();) {
    StepsEnded event{of.id, {}, fallen[i].how, why_fallen(of, fallen[i]), {}, {}, {}, {}, {}};
    const Fallen first = fallen[i];
    for (; i < fallen.size() && fallen[i].how == first.how && fallen[i].because == first.because;
         ++i)
      event.steps.add(fallen[i].step);
    draft.add(std::move(event));
  }
}

// What is told of one step that ends.
struct Ending {
  StepState how = StepState::succeeded;
  std::string message;
  std::string outputs;
  StepRef reused;
  Digest cache;
};

void end_step(const Workflow& of, uint32_t step, Ending ending, Draft& draft) {
  draft.add(StepsEnded{of.id, IntervalSet(Interval{step, step}), ending.how,
                       short_of(std::move(ending.message)), std::move(ending.outputs),
                       ending.reused, ending.cache, of.steps[step].job,
                       of.steps[step].fed ? of.feeds.at(step).use : FeedUse{}});
}

// A failure that nobody puts up with, in a workflow that does not go on after one.
bool ends_all(const Workflow& of, uint32_t step, StepState how) {
  return of.fail_fast && !of.cancelled && how != StepState::succeeded &&
         how != StepState::skipped && !workflow::tolerated(of, step);
}

// One step has ended: what falls with it, or all of the workflow.
void end_one(const State& state, const Workflow& of, uint32_t step, Ending ending, Draft& draft) {
  const StepState how = ending.how;
  end_step(of, step, std::move(ending), draft);
  if (ends_all(of, step, how))
    return stop_steps(state, of, StepState::blocked, of.steps[step].name + " did not succeed",
                      {{step, how, step}}, draft);
  end_fallen(of, {{step, how, step}}, draft);
}

// What one tick has given out so far, over all workflows.
struct Round {
  uint64_t job = 0;                       // the last number
  uint64_t opening = 0;                   // likewise
  uint32_t budget = kStepsPerRoundMax;    // of steps
  std::map<NamespaceId, uint64_t> taken;  // of the quota of jobs, where there is one
  std::set<QueueId> queues;               // that were leased from
};

// Jobs of the namespace that have not ended, and steps of which each will soon be one.
uint64_t& taken_of(const State& state, const Namespace& space, Round& round) {
  const auto [known, fresh] = round.taken.try_emplace(space.id, space.jobs);
  if (fresh && space.quota.queued) {
    for (const auto& [id, each] : state.workflows)
      known->second += each.ns == space.id ? each.count(StepState::preparing) : 0;
  }
  return known->second;
}

// What is decided of one workflow by one tick.
class Advance {
 public:
  Advance(const State& state, const Workflow& of, Round& round, Draft& draft)
      : state_(state), of_(of), round_(round), draft_(draft) {}

  void run() {
    if (!of_.finished.empty()) return judge_finished();
    const uint32_t left = of_.count(StepState::waiting) + of_.count(StepState::ready);
    if (left + of_.under_way == 0) return end();
    // One at a time: two that fail may have followers in common.
    for (const auto& [number, feed] : of_.feeds) {
      if (workflow::feed_due(state_, of_, number) && feed.jobs.empty() && end_feed(number, feed))
        return;
    }
    if (of_.paused || of_.cancelled || workflow::held(of_)) return;
    start_ready();
    for (const auto& [number, feed] : of_.feeds) {
      if (workflow::feed_due(state_, of_, number)) lease_more(number, feed);
    }
  }

 private:
  // All of them at once: two that failed may have followers in common.
  void judge_finished() {
    std::vector<Fallen> ending;
    std::optional<Fallen> fatal;
    for (const uint32_t number : of_.finished) {
      if (round_.budget == 0) break;
      --round_.budget;
      const Step& step = of_.steps[number];
      if (step.collected && step.outcome == Outcome::succeeded && !of_.cancelled) {
        draft_.add(StepCollecting{{of_.id, number}, ++round_.opening});
        continue;
      }
      const StepState how = state_of(step.outcome);
      const bool plain = how == StepState::succeeded;
      end_step(of_, number,
               {how,
                plain ? "" : std::string("its job ended as ") + enum_name(step.outcome),
                {},
                {},
                {}},
               draft_);
      ending.push_back({number, how, number});
      if (ends_all(of_, number, how)) fatal = ending.back();
    }
    if (!fatal) return end_fallen(of_, std::move(ending), draft_);
    stop_steps(state_, of_, StepState::blocked, of_.steps[fatal->step].name + " did not succeed",
               std::move(ending), draft_);
  }

  void start_ready() {
    const Namespace& space = state_.namespaces.at(of_.ns);
    const uint32_t most = of_.parallel_max ? of_.parallel_max : kStepsUnderWayMax;
    uint32_t under_way = of_.under_way;
    uint64_t& jobs = taken_of(state_, space, round_);
    for (const uint32_t number : of_.ready) {
      const bool full = space.quota.queued && jobs >= *space.quota.queued;
      if (round_.budget == 0 || under_way >= most || full) return;
      --round_.budget;
      ++under_way;
      ++jobs;
      const Step& step = of_.steps[number];
      if (step.prepared) {
        draft_.add(StepPreparing{{of_.id, number}, ++round_.opening});
        continue;
      }
      if (step.fed) {
        draft_.add(begin_feed(state_, of_, number, step.payload));
        continue;
      }
      draft_.add(job_of_step(state_, of_, number, JobId{++round_.job}, step.payload, step.array,
                             step.indices, {}));
    }
  }

  // A step whose last job is over ends when nothing more will come out of its queue.
  bool end_feed(uint32_t number, const Feed& feed) {
    const Step& step = of_.steps[number];
    const WorkQueue* queue = workflow::queue_of(state_, feed);
    Ending ending{StepState::succeeded, {}, workflow::counts(feed), {}, {}};
    if (feed.stopped || of_.cancelled) {
      ending.how = StepState::cancelled;
      ending.message = feed.reason;
    } else if (!queue) {
      ending.how = StepState::failed;
      ending.message = no_queue(feed);
    } else if (!workflow::dry(*queue, feed.terms)) {
      return false;
    } else if (feed.dead > 0) {
      ending.how = StepState::failed;
      ending.message = dead_letters(*queue, feed);
    } else if (step.collected) {
      draft_.add(StepCollecting{{of_.id, number}, ++round_.opening});
      return true;
    }
    end_one(state_, of_, number, std::move(ending), draft_);
    return true;
  }

  std::string no_queue(const Feed& feed) const {
    const std::string name =
        "queue " + feed.terms.queue + " of namespace " + state_.namespaces.at(of_.ns).name;
    return feed.queue ? name + " was deleted while the step went through it"
                      : "there is no " + name + ": atoll queue create " + feed.terms.queue;
  }

  static std::string dead_letters(const WorkQueue& queue, const Feed& feed) {
    const std::string items = std::to_string(feed.dead) + (feed.dead == 1 ? " item" : " items");
    if (!queue.settings.dead_letters)
      return items + " of queue " + queue.name + " failed too often and had to be thrown away";
    return items + " failed too often: atoll queue dead " + queue.name;
  }

  // A queue is leased from once in a draft; others that go through it come next time.
  void lease_more(uint32_t number, const Feed& feed) {
    const Namespace& space = state_.namespaces.at(of_.ns);
    uint64_t& jobs = taken_of(state_, space, round_);
    uint64_t room = round_.budget;
    if (space.quota.queued)
      room = std::min(room, *space.quota.queued - std::min(jobs, *space.quota.queued));
    if (room == 0 || !round_.queues.insert(feed.queue).second) return;
    const uint32_t begun =
        feed_jobs(state_, of_, number, static_cast<uint32_t>(room), round_.job, draft_);
    round_.job += begun;
    round_.budget -= begun;
    jobs += begun;
  }

  void end() {
    if (of_.cancelled && !of_.stopped.empty()) {
      draft_.add(WorkflowEnded{of_.id, of_.overran ? Outcome::failed : Outcome::cancelled,
                               of_.stopped, of_.tally});
      return;
    }
    Outcome outcome = of_.cancelled ? Outcome::cancelled : Outcome::succeeded;
    uint64_t bad = 0;
    std::string first;
    for (uint32_t i = 0; i < of_.steps.size() && !of_.cancelled; ++i) {
      const StepState how = of_.steps[i].state;
      const bool badly = how == StepState::failed || how == StepState::cancelled;
      if (!badly || workflow::tolerated(of_, i)) continue;
      if (bad++ == 0) first = of_.steps[i].name;
      outcome = how == StepState::failed || outcome == Outcome::failed ? Outcome::failed
                                                                       : Outcome::cancelled;
    }
    const std::string more = bad > 1 ? " and " + std::to_string(bad - 1) + " more" : "";
    draft_.add(WorkflowEnded{
        of_.id, outcome, bad > 0 ? "step " + first + more + " did not succeed" : "", of_.tally});
  }

  const State& state_;
  const Workflow& of_;
  Round& round_;
  Draft& draft_;
};

// The workflow of the step a report is about, or null when the report is late: it answers to what
// was asked for before the step was cancelled and begun again.
const Workflow* current(const State& state, StepRef step, StepState as, uint64_t opening) {
  const Workflow* of = state.workflow(step.workflow);
  if (!of || step.step >= of->steps.size()) return nullptr;
  const Step& now = of->steps[step.step];
  return now.state == as && now.opening == opening ? of : nullptr;
}

bool feeds(const State& state, StepRef step) {
  const Workflow* of = state.workflow(step.workflow);
  return of && step.step < of->steps.size() && of->steps[step.step].fed;
}

}  // namespace

JobSubmitted job_of_step(const State& state, const Workflow& of, uint32_t number, JobId id,
                         const Digest& payload, bool array, const IntervalSet& indices,
                         std::optional<uint32_t> parallel_max) {
  const StepKind& kind = of.kinds[of.steps[number].kind];
  JobSubmitted job;
  job.id = id;
  job.ns = of.ns;
  job.user = of.user;
  job.name = of.steps[number].name;
  job.terms = kind.terms;
  // All members of a gang run at once.
  if (parallel_max && job.terms.gang == 0) job.terms.parallel_max = *parallel_max;
  settle_parts(state, job.terms.resources);
  job.payload = payload;
  job.array = array;
  job.indices = indices;
  job.labels = kind.labels;
  job.of = {of.id, number};
  return job;
}

void stop_steps(const State& state, const Workflow& of, StepState how, const std::string& why,
                const std::vector<Fallen>& but, Draft& draft) {
  std::set<uint32_t> left_out;
  for (const Fallen& each : but) left_out.insert(each.step);
  StepsEnded unbegun{of.id, {}, how, why, {}, {}, {}, {}, {}};
  StepsEnded under{of.id, {}, StepState::cancelled, why, {}, {}, {}, {}, {}};
  for (uint32_t i = 0; i < of.steps.size(); ++i) {
    const Step& step = of.steps[i];
    if (left_out.contains(i)) continue;
    if (step.state <= StepState::ready) unbegun.steps.add(i);
    if (step.state == StepState::preparing) under.steps.add(i);
    // One that has run keeps its job.
    if (step.state == StepState::collecting)
      end_step(of, i, {StepState::cancelled, why, {}, {}, {}}, draft);
    if (step.fed && step.state == StepState::running) stop_feed(state, of, i, why, draft);
    const Job* job = step.state == StepState::running ? state.job(step.job) : nullptr;
    if (job && !step.fed) cancel_whole(state, *job, state.terms_of(*job).grace, true, draft);
  }
  if (!unbegun.steps.empty()) draft.add(std::move(unbegun));
  if (!under.steps.empty()) draft.add(std::move(under));
}

void stop_workflow(const State& state, const Workflow& of, const std::string& reason, bool overran,
                   Draft& draft) {
  draft.add(WorkflowCancelled{of.id, reason, overran});
  stop_steps(state, of, StepState::cancelled, reason, {}, draft);
}

void decide_step(const State& state, const StepPrepared& report, Draft& draft) {
  const Workflow* of = current(state, report.step, StepState::preparing, report.opening);
  if (!of) return;
  const uint32_t step = report.step.step;
  switch (report.result) {
    case StepPrepared::Result::run:
      if (of->paused) return;  // it is asked for again when it goes on
      if (of->steps[step].fed) return draft.add(begin_feed(state, *of, step, report.payload));
      if (auto ok = check_indices(of->kinds[of->steps[step].kind].terms, report.indices); !ok)
        return end_one(state, *of, step, {StepState::failed, ok.error().message, {}, {}, {}},
                       draft);
      draft.add(job_of_step(state, *of, step, JobId{state.counters.job + 1}, report.payload,
                            report.array, report.indices, report.parallel_max));
      return;
    case StepPrepared::Result::reuse:
      return end_one(state, *of, step,
                     {StepState::succeeded, report.message, report.outputs, report.reused, {}},
                     draft);
    case StepPrepared::Result::skip:
      return end_one(state, *of, step, {StepState::skipped, report.message, {}, {}, {}}, draft);
    case StepPrepared::Result::fail:
      return end_one(state, *of, step, {StepState::failed, report.message, {}, {}, {}}, draft);
  }
}

void decide_step(const State& state, const StepCollected& report, Draft& draft) {
  if (report.job && feeds(state, report.step)) return decide_fed_job(state, report, draft);
  const Workflow* of = current(state, report.step, StepState::collecting, report.opening);
  const Step* step = of ? &of->steps[report.step.step] : nullptr;
  if (!step || report.job != (step->fed ? JobId{} : step->job)) return;
  const StepState how = report.failed ? StepState::failed : StepState::succeeded;
  end_one(state, *of, report.step.step, {how, report.message, report.outputs, {}, report.cache},
          draft);
}

void advance_workflows(const State& state, Draft& draft) {
  for (const auto& [until, id] : state.workflow_limits) {
    if (until > draft.now()) break;
    const Workflow& of = state.workflows.at(id);
    stop_workflow(state, of, "it took longer than " + format_duration(of.time_limit), true, draft);
  }
  if (!draft.empty()) return;  // their steps are not looked at twice
  Round round{.job = state.counters.job, .opening = state.counters.opening};
  for (const WorkflowId id : state.workflows_due) {
    if (round.budget == 0) return;
    Advance(state, state.workflows.at(id), round, draft).run();
  }
  for (const WorkflowId id : state.workflows_unsealed) {
    const Workflow& of = state.workflows.at(id);
    if (of.cancelled || of.touched + kUnsealedMax > draft.now()) continue;
    const std::string why = "not all of its steps arrived";
    stop_steps(state, of, StepState::cancelled, why, {}, draft);
    StepTally tally{};  // none of them has begun
    tally[static_cast<size_t>(StepState::cancelled)] = static_cast<uint32_t>(of.steps.size());
    draft.add(WorkflowEnded{id, Outcome::cancelled, why, tally});
  }
}

}  // namespace atl::core
