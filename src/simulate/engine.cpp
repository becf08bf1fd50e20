#include "simulate/engine.h"

#include <algorithm>
#include <unordered_map>

#include "core/forward.h"
#include "core/limits.h"

namespace atl::simulate {
namespace {

constexpr uint64_t kProgressEvery = 4096;  // tasks

class Engine : public core::Forward::Script {
 public:
  Engine(const Trace& trace, const Nodes& nodes, core::State state, const EngineOptions& options)
      : trace_(trace),
        nodes_(nodes),
        options_(options),
        state_(std::move(state)),
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
  uint32_t job_of(JobId id) const { return jobs_[id.value - 1]; }
  uint32_t task_of(TaskId id) const { return out_.first_task[job_of(id.job)] + id.index; }

  Time next_happening() const {
    const Time next = forward_.next();
    if (next_job_ == trace_.jobs.size()) return next;
    return next ? std::min(next, submitted(next_job_)) : submitted(next_job_);
  }

  std::optional<Duration> begins(AttemptId attempt, Time now) override {
    const uint32_t task = task_of(attempt.task());
    const TraceJob& job = trace_.jobs[job_of(attempt.job)];
    TaskRecord& record = out_.tasks[task];
    if (record.started.us < 0) record.started = since_begin(now);
    out_.curve.wait(job.ns, since_begin(now), -int64_t{job.cpu_milli});
    out_.curve.use(job.ns, since_begin(now), job.cpu_milli);
    const auto left = left_.find(task);
    return left == left_.end() ? job.run : left->second;
  }

  // It saves its work, if there is time for that, and ends.
  core::Forward::Stop stops(const core::Forward::Live& live, Duration grace, Time now) override {
    if (options_.checkpoint > grace) return {grace, {}};
    return {options_.checkpoint, now - live.began};
  }

  void ended(const core::Forward::Live& live, Time now) override {
    const uint32_t task = task_of(live.attempt.task());
    const TraceJob& job = trace_.jobs[job_of(live.attempt.job)];
    out_.curve.use(job.ns, since_begin(now), -int64_t{job.cpu_milli});
    if (live.stopped)
      evict(task, live, now);
    else
      record_end(task, now);
  }

  void evict(uint32_t task, const core::Forward::Live& live, Time now) {
    const TraceJob& job = trace_.jobs[job_of(live.attempt.job)];
    TaskRecord& record = out_.tasks[task];
    ++record.evictions;
    record.lost = record.lost + (now - live.began) - live.kept;
    Duration& left = left_.try_emplace(task, job.run).first->second;
    left = left - live.kept;
    out_.curve.wait(job.ns, since_begin(now), job.cpu_milli);
  }

  void record_end(uint32_t task, Time now) {
    out_.tasks[task].ended = since_begin(now);
    left_.erase(task);
    if (++ended_ % kProgressEvery == 0 && options_.progress) options_.progress(ended_);
  }

  // The next jobs that one user submits at once.
  void submit_some() {
    const uint32_t user = trace_.jobs[next_job_].user;
    core::SubmitJobs batch;
    std::vector<uint32_t> numbers;
    for (; next_job_ < trace_.jobs.size() && submitted(next_job_) <= forward_.now(); ++next_job_) {
      const TraceJob& job = trace_.jobs[next_job_];
      if (job.user != user || batch.jobs.size() >= core::kBatchJobsMax) break;
      auto terms = terms_for(job, trace_, nodes_);
      if (!terms) {
        ++out_.too_large;
        out_.kept_out[next_job_] = true;
        continue;
      }
      core::SubmitJob submission;
      submission.ns = trace_.namespaces[job.ns];
      submission.terms = std::move(*terms);
      submission.array = job.tasks > 1;
      submission.indices = IntervalSet({0, job.tasks - 1});
      batch.jobs.push_back(std::move(submission));
      numbers.push_back(static_cast<uint32_t>(next_job_));
    }
    if (!batch.jobs.empty()) submit(users_[user], std::move(batch), numbers);
  }

  // All together, or those that are let in one by one.
  void submit(UserId user, core::SubmitJobs batch, const std::vector<uint32_t>& numbers) {
    const auto events = forward_.decide(core::Request{{user, false, {}, {}}, batch});
    if (!events && numbers.size() > 1) {
      for (size_t i = 0; i < numbers.size(); ++i)
        submit(user, core::SubmitJobs{{std::move(batch.jobs[i])}}, {numbers[i]});
      return;
    }
    if (!events) {
      if (out_.refused++ == 0) out_.first_refusal = events.error().message;
      out_.kept_out[numbers.front()] = true;
      return;
    }
    for (const uint32_t number : numbers) {
      jobs_.push_back(number);
      const TraceJob& job = trace_.jobs[number];
      out_.curve.wait(job.ns, since_begin(forward_.now()), int64_t{job.cpu_milli} * job.tasks);
    }
    forward_.apply(*events);
    forward_.want_tick();
  }

  const Trace& trace_;
  const Nodes& nodes_;
  const EngineOptions& options_;
  core::State state_;
  Outcome out_;
  core::Forward forward_;
  std::vector<UserId> users_;  // by the trace's number
  size_t next_job_ = 0;
  uint64_t ended_ = 0;
  std::vector<uint32_t> jobs_;                   // the trace's number of each job of the core
  std::unordered_map<uint32_t, Duration> left_;  // of the work of tasks that were stopped
};

}  // namespace

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

Outcome run_trace(const Trace& trace, const Nodes& nodes, core::State state,
                  const EngineOptions& options) {
  return Engine(trace, nodes, std::move(state), options).run();
}

}  // namespace atl::simulate
