#include "simulate/engine.h"

#include <algorithm>

#include "core/forward.h"
#include "core/limits.h"
#include "simulate/fit.h"

namespace atl::simulate {
namespace {

constexpr uint64_t kProgressEvery = 4096;  // tasks

class Engine : public core::Forward::Script {
 public:
  Engine(const Trace& trace, core::State state, const EngineOptions& options)
      : trace_(trace),
        options_(options),
        state_(std::move(state)),
        fitting_(trace, state_),
        out_(empty_outcome(trace)),
        forward_(state_, *this, options.round) {
    for (const std::string& user : trace.users)
      users_.push_back(forward_.state().user_names.at(user));
  }

  Outcome run() {
    for (Time next = next_happening(); next; next = next_happening()) {
      forward_.end_until(next);
      while (next_job_ < trace_.jobs.size() && submitted(next_job_) <= next) submit_some();
      forward_.tick();
    }
    out_.end = since_begin(forward_.now());
    out_.rounds = forward_.rounds();
    out_.curve.finish(out_.end);
    return std::move(out_);
  }

 private:
  Time submitted(size_t job) const { return trace_.begin + trace_.jobs[job].submit; }
  Duration since_begin(Time at) const { return at - trace_.begin; }
  // A job of the trace that the core has.
  struct Known {
    uint32_t number = 0;
    uint32_t parts = 1;  // of each of its tasks
  };
  // What a task of the core is in the trace: a task, or one of the parts of one.
  struct Part {
    const TraceJob& job;
    uint32_t index;   // of the task
    uint32_t record;  // of the outcome
    bool first;       // it stands for all parts where they are counted once
    uint32_t cpu_milli;
  };
  Part part_of(TaskId id) const {
    const Known& known = jobs_[id.job.value - 1];
    const TraceJob& job = trace_.jobs[known.number];
    const uint32_t index = id.index / known.parts;
    return {job, index, out_.first_task[known.number] + index, id.index % known.parts == 0,
            (job.cpu_milli + known.parts - 1) / known.parts};
  }

  Time next_happening() const {
    const Time next = forward_.next();
    if (next_job_ == trace_.jobs.size()) return next;
    return next ? std::min(next, submitted(next_job_)) : submitted(next_job_);
  }

  std::optional<Duration> begins(AttemptId attempt, Time now) override {
    const Part part = part_of(attempt.task());
    TaskRecord& record = out_.tasks[part.record];
    if (record.started.us < 0) record.started = since_begin(now);
    out_.curve.wait(part.job.ns, since_begin(now), -int64_t{part.cpu_milli});
    out_.curve.use(part.job.ns, since_begin(now), part.cpu_milli);
    const auto left = left_.find(attempt.task());
    return left == left_.end() ? trace_.run_of(part.job, part.index) : left->second;
  }

  // It saves its work, if there is time for that, and ends.
  core::Forward::Stop stops(const core::Forward::Live& live, Duration grace, Time now) override {
    if (options_.checkpoint > grace) return {grace, {}};
    return {options_.checkpoint, now - live.began};
  }

  void ended(const core::Forward::Live& live, Time now) override {
    const TaskId task = live.attempt.task();
    const Part part = part_of(task);
    out_.curve.use(part.job.ns, since_begin(now), -int64_t{part.cpu_milli});
    if (live.stopped) return evict(task, part, live, now);
    out_.tasks[part.record].ended = since_begin(now);
    left_.erase(task);
    if (part.first && ++ended_ % kProgressEvery == 0 && options_.progress)
      options_.progress(ended_);
  }

  void evict(TaskId task, const Part& part, const core::Forward::Live& live, Time now) {
    if (part.first) {
      TaskRecord& record = out_.tasks[part.record];
      ++record.evictions;
      record.lost = record.lost + (now - live.began) - live.kept;
    }
    Duration& left = left_.try_emplace(task, trace_.run_of(part.job, part.index)).first->second;
    left = left - live.kept;
    out_.curve.wait(part.job.ns, since_begin(now), part.cpu_milli);
  }

  // The next jobs that one user submits at once.
  void submit_some() {
    const uint32_t user = trace_.jobs[next_job_].user;
    core::SubmitJobs batch;
    std::vector<Known> numbers;
    for (; next_job_ < trace_.jobs.size() && submitted(next_job_) <= forward_.now(); ++next_job_) {
      const TraceJob& job = trace_.jobs[next_job_];
      if (job.user != user || batch.jobs.size() >= core::kBatchJobsMax) break;
      const Fit& fit = fitting_.fit(job);
      if (!fit.why_not.empty()) {
        ++out_.too_large;
        leave_out(next_job_, fit.why_not);
        continue;
      }
      const uint32_t tasks = job.tasks * fit.parts;
      core::SubmitJob submission;
      submission.ns = trace_.namespaces[job.ns];
      submission.terms = fitting_.terms(job, fit);
      submission.array = tasks > 1 || submission.terms.gang > 0;
      submission.indices = IntervalSet({0, tasks - 1});
      batch.jobs.push_back(std::move(submission));
      numbers.push_back({static_cast<uint32_t>(next_job_), fit.parts});
    }
    if (!batch.jobs.empty()) submit(users_[user], std::move(batch), numbers);
  }

  // All together, or those that are let in one by one.
  void submit(UserId user, core::SubmitJobs batch, const std::vector<Known>& numbers) {
    const auto events = forward_.decide(core::Request{{user, false, {}, {}}, batch});
    if (!events && numbers.size() > 1) {
      for (size_t i = 0; i < numbers.size(); ++i)
        submit(user, core::SubmitJobs{{std::move(batch.jobs[i])}}, {numbers[i]});
      return;
    }
    if (!events) {
      ++out_.refused;
      const TraceJob& job = trace_.jobs[numbers.front().number];
      const Fit fit{numbers.front().parts, {}};
      return leave_out(numbers.front().number, fitting_.why_refused(job, fit, events.error()));
    }
    for (const Known& known : numbers) {
      jobs_.push_back(known);
      if (known.parts > 1) ++out_.spread;
      const TraceJob& job = trace_.jobs[known.number];
      const int64_t each = (job.cpu_milli + known.parts - 1) / known.parts;
      out_.curve.wait(job.ns, since_begin(forward_.now()), each * known.parts * job.tasks);
    }
    forward_.apply(*events);
    forward_.want_tick();
  }

  void leave_out(size_t job, const std::string& why) {
    out_.kept_out[job] = true;
    const bool known = out_.left_out.count(why) || out_.left_out.size() < kReasonsMax;
    ++out_.left_out[known ? why : "other reasons"];
  }

  const Trace& trace_;
  const EngineOptions& options_;
  core::State state_;
  Fitting fitting_;
  Outcome out_;
  core::Forward forward_;
  std::vector<UserId> users_;  // by the trace's number
  size_t next_job_ = 0;
  uint64_t ended_ = 0;
  std::vector<Known> jobs_;          // by the number of the core's
  std::map<TaskId, Duration> left_;  // of the work of tasks that were stopped
};

}  // namespace

Duration round_for(const Trace& trace) {
  constexpr int64_t kRounds = 30 * 24 * 360;
  return std::min(EngineOptions{}.round, Duration{trace.span().us / kRounds});
}

Steady steady_part(const Trace& trace) {
  if (trace.jobs.empty()) return {};
  const Duration first = trace.jobs.front().submit;
  const int64_t tenth = trace.span().us / 10;
  return {first + Duration{tenth}, first + Duration{tenth * 9}};
}

Outcome empty_outcome(const Trace& trace) {
  const Steady steady = steady_part(trace);
  Outcome outcome{.curve = Curve(trace.namespaces.size(), steady.from, steady.to)};
  uint64_t tasks = 0;
  for (const TraceJob& job : trace.jobs) {
    outcome.first_task.push_back(static_cast<uint32_t>(tasks));
    tasks += job.tasks;
  }
  outcome.tasks.resize(tasks);
  outcome.kept_out.resize(trace.jobs.size());
  return outcome;
}

Outcome run_trace(const Trace& trace, core::State state, const EngineOptions& options) {
  return Engine(trace, std::move(state), options).run();
}

}  // namespace atl::simulate
