#include "simulate/engine.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "base/check.h"
#include "core/core.h"
#include "core/limits.h"

namespace atl::simulate {
namespace {

constexpr uint64_t kProgressEvery = 4096;  // tasks

class Engine {
 public:
  Engine(const Trace& trace, const Nodes& nodes, core::State state, const EngineOptions& options)
      : trace_(trace),
        nodes_(nodes),
        options_(options),
        state_(std::move(state)),
        out_(empty_outcome(trace)) {
    for (const std::string& user : trace.users) users_.push_back(state_.user_names.at(user));
  }

  Outcome run() {
    for (Time next = next_happening(); next; next = next_happening()) {
      now_ = next;
      while (!ends_.empty() && ends_.top().at <= now_) end_one();
      while (next_job_ < trace_.jobs.size() && submitted(next_job_) <= now_) submit_some();
      if (tick_at_ && tick_at_ <= now_) tick();
    }
    out_.end = since_begin(now_);
    out_.curve.finish(out_.end);
    return std::move(out_);
  }

 private:
  // An attempt on its node.
  struct Live {
    AttemptId attempt;
    Time began;
    Time ends;
    bool stopped = false;  // it ends because it was told to
    Duration kept;         // of its work, then
  };
  struct End {
    Time at;
    uint32_t task;
    uint32_t attempt;
    bool operator<(const End& o) const {
      return std::tie(at, task, attempt) > std::tie(o.at, o.task, o.attempt);
    }
  };

  Time submitted(size_t job) const { return trace_.begin + trace_.jobs[job].submit; }
  Duration since_begin(Time at) const { return at - trace_.begin; }
  uint32_t job_of(JobId id) const { return jobs_[id.value - 1]; }
  uint32_t task_of(TaskId id) const { return out_.first_task[job_of(id.job)] + id.index; }

  Time next_happening() const {
    Time next = tick_at_;
    const auto earlier = [&](Time at) {
      if (at && (!next || at < next)) next = at;
    };
    if (!ends_.empty()) earlier(ends_.top().at);
    if (next_job_ < trace_.jobs.size()) earlier(submitted(next_job_));
    return next;
  }

  // The next round is due as soon as its time has come.
  void want_tick() {
    if (!tick_at_) tick_at_ = std::max(now_, last_tick_ + options_.round);
  }

  core::Events decide(std::variant<core::Request, core::Report, core::Tick> body) {
    auto events = core::decide(state_, {now_, std::move(body)});
    CHECK(events.has_value(), "only submissions are refused: " + events.error().message);
    return std::move(*events);
  }

  void apply(const core::Events& events) {
    for (const core::Event& event : events) {
      for (const core::Effect& effect : core::apply(state_, event)) {
        if (const auto* start = std::get_if<core::StartAttempt>(&effect))
          starts_.push_back(start->attempt);
        else if (const auto* stop = std::get_if<core::StopAttempt>(&effect))
          stop_one(*stop);
      }
    }
  }

  void tick() {
    tick_at_ = {};
    last_tick_ = now_;
    ++out_.rounds;
    const core::Events events = decide(core::Tick{});
    apply(events);
    start_all();
    if (!events.empty()) want_tick();
    if (const Time timer = core::next_timer(state_, last_tick_);
        timer && (!tick_at_ || timer < tick_at_))
      tick_at_ = std::max(timer, now_);
  }

  void start_all() {
    for (const AttemptId& attempt : starts_) {
      const uint32_t task = task_of(attempt.task());
      const TraceJob& job = trace_.jobs[job_of(attempt.job)];
      TaskRecord& record = out_.tasks[task];
      if (record.started.us < 0) record.started = since_begin(now_);
      const auto left = left_.find(task);
      const Time ends = now_ + (left == left_.end() ? job.run : left->second);
      live_[task] = {attempt, now_, ends, false, {}};
      ends_.push({ends, task, attempt.attempt});
      out_.curve.wait(job.ns, since_begin(now_), -int64_t{job.cpu_milli});
      out_.curve.use(job.ns, since_begin(now_), job.cpu_milli);
      apply(decide(core::Report{core::AttemptStarted{attempt, now_}}));
    }
    starts_.clear();
  }

  // It saves its work, if there is time for that, and ends; unless it ends by itself before.
  void stop_one(const core::StopAttempt& stop) {
    const uint32_t task = task_of(stop.attempt.task());
    const auto it = live_.find(task);
    if (it == live_.end() || it->second.attempt != stop.attempt) return;
    Live& live = it->second;
    const bool saves = options_.checkpoint <= stop.grace;
    const Time ends = now_ + (saves ? options_.checkpoint : stop.grace);
    if (live.ends <= ends) return;
    live.ends = ends;
    live.stopped = true;
    live.kept = saves ? now_ - live.began : Duration{};
    ends_.push({ends, task, stop.attempt.attempt});
  }

  void end_one() {
    const End end = ends_.top();
    ends_.pop();
    const auto it = live_.find(end.task);
    const bool stale =
        it == live_.end() || it->second.attempt.attempt != end.attempt || it->second.ends != end.at;
    if (stale) return;
    const Live live = it->second;
    live_.erase(it);
    const TraceJob& job = trace_.jobs[job_of(live.attempt.job)];
    out_.curve.use(job.ns, since_begin(now_), -int64_t{job.cpu_milli});
    core::AttemptResult result;
    result.usage.started = live.began;
    result.usage.ended = end.at;
    if (live.stopped)
      evict(end.task, live, result);
    else
      record_end(end.task);
    apply(decide(core::Report{core::AttemptEnded{live.attempt, std::move(result)}}));
    want_tick();
  }

  void evict(uint32_t task, const Live& live, core::AttemptResult& result) {
    result.cause = core::EndCause::stopped;
    result.checkpointed = live.kept.us > 0;
    const TraceJob& job = trace_.jobs[job_of(live.attempt.job)];
    TaskRecord& record = out_.tasks[task];
    ++record.evictions;
    record.lost = record.lost + (now_ - live.began) - live.kept;
    Duration& left = left_.try_emplace(task, job.run).first->second;
    left = left - live.kept;
    out_.curve.wait(job.ns, since_begin(now_), job.cpu_milli);
  }

  void record_end(uint32_t task) {
    out_.tasks[task].ended = since_begin(now_);
    left_.erase(task);
    if (++ended_ % kProgressEvery == 0 && options_.progress) options_.progress(ended_);
  }

  // The next jobs that one user submits at once.
  void submit_some() {
    const uint32_t user = trace_.jobs[next_job_].user;
    core::SubmitJobs batch;
    std::vector<uint32_t> numbers;
    for (; next_job_ < trace_.jobs.size() && submitted(next_job_) <= now_; ++next_job_) {
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
    core::Input input{now_, core::Request{{user, false, {}, {}}, batch}};
    const auto events = core::decide(state_, input);
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
      out_.curve.wait(job.ns, since_begin(now_), int64_t{job.cpu_milli} * job.tasks);
    }
    apply(*events);
    want_tick();
  }

  const Trace& trace_;
  const Nodes& nodes_;
  const EngineOptions& options_;
  core::State state_;
  Outcome out_;
  std::vector<UserId> users_;  // by the trace's number

  Time now_;
  Time last_tick_;
  Time tick_at_;  // zero: none is due
  size_t next_job_ = 0;
  uint64_t ended_ = 0;
  std::vector<uint32_t> jobs_;  // the trace's number of each job of the core
  std::vector<AttemptId> starts_;
  std::unordered_map<uint32_t, Live> live_;      // by task
  std::unordered_map<uint32_t, Duration> left_;  // of the work of tasks that were stopped
  std::priority_queue<End> ends_;
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
