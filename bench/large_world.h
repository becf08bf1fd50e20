// A large world for benchmarks: 1,000 nodes with 8 devices, 1,000 namespaces in 50 cohorts, 200
// shapes, and as many waiting jobs as are asked for.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/core.h"
#include "core/limits.h"
#include "core/scheduling/round.h"

namespace atl::core {

inline constexpr int kNodes = 1000, kDevices = 8, kNamespaces = 1000, kCohorts = 50, kShapes = 200;

inline double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class World {
 public:
  World() {
    run(Request{{}, CreateUser{"root", true, 0}});
    for (int i = 1; i <= 3; ++i)
      run(Request{admin(), CreateUser{"user" + std::to_string(i), false, {}}});
    run(Request{admin(), AddSite{"cluster", "simulated"}});
    std::vector<NodeCapacity> nodes;
    for (int i = 0; i < kNodes; ++i) {
      char name[16];
      std::snprintf(name, sizeof name, "node%04d", i);
      NodeCapacity node{name, 64'000, int64_t{256} << 30, {}};
      for (int d = 0; d < kDevices; ++d)
        node.devices.push_back({"gpu" + std::to_string(d), "gpu", i % 4 ? "a100" : "v100",
                                int64_t{i % 4 ? 40 : 16} << 30, true});
      nodes.push_back(std::move(node));
    }
    run(Report{SiteProbed{"cluster", {std::move(nodes), {}}}});
    for (int i = 0; i < kCohorts; ++i)
      run(Request{admin(), SetCohort{"cohort" + std::to_string(i), {}, 1000 + i * 10, {}, {}}});
    for (int i = 0; i < kNamespaces; ++i) {
      const std::string name = "ns" + std::to_string(i);
      run(Request{admin(), CreateNamespace{name, ""}});
      Quota quota;
      quota.cpu_milli = 64'000;
      quota.devices["gpu"] = 8;
      run(Request{admin(), SetQuota{name, quota}});
      run(Request{admin(), SetStake{name,
                                    "cohort" + std::to_string(i % kCohorts),
                                    static_cast<uint32_t>(500 + i % 7 * 250),
                                    {}}});
    }
    for (int i = 0; i < kShapes; ++i) {
      Terms terms;
      terms.resources.cpu_milli = (1 + i % 16) * 1000;
      terms.resources.memory_bytes = int64_t{1 + i % 13} << 30;
      if (i % 2) terms.resources.devices = {{"gpu", i % 4 == 1 ? "a100" : "", 1u + i % 3}};
      terms.wall = hours(1 + i % 5);
      shapes_.push_back(terms);
    }
  }

  void submit(int jobs) {
    SubmitJobs batch;
    for (int i = 0; i < jobs; ++i) {
      SubmitJob job;
      job.ns = "ns" + std::to_string(random_() % kNamespaces);
      job.name = "job";
      job.terms = shapes_[random_() % kShapes];
      job.terms.priority = static_cast<int32_t>(random_() % 5);
      job.indices = IntervalSet({0, 0});
      batch.jobs.push_back(std::move(job));
      if (batch.jobs.size() < kBatchJobsMax && i + 1 < jobs) continue;
      run(Request{admin(), std::move(batch)});
      batch = {};
    }
  }

  // Ticks until nothing more is placed; how many were.
  uint64_t settle() {
    uint64_t placed = 0;
    for (;;) {
      const Events events = run(Tick{});
      if (events.empty()) return placed;
      for (const Event& event : events) {
        placed += std::holds_alternative<TaskPlaced>(event.body);
        // Whoever makes room does so at once.
        if (const auto* stop = std::get_if<TaskStopping>(&event.body)) {
          AttemptResult result;
          result.cause = EndCause::stopped;
          run(Report{AttemptEnded{stop->attempt, result}});
        }
      }
    }
  }

  // Ends some of what runs, as reports of a site would.
  void end_some(size_t count) {
    std::vector<AttemptId> running;
    for (const auto& [id, site] : state_.sites) {
      for (const auto& [name, node] : site.nodes) {
        for (const auto& [task, holder] : node.holders)
          running.push_back({task.job, task.index, holder.attempt});
      }
    }
    std::shuffle(running.begin(), running.end(), random_);
    running.resize(std::min(count, running.size()));
    for (const AttemptId& attempt : running) run(Report{AttemptEnded{attempt, {}}});
  }

  // The median of rounds that find nothing to place.
  double idle_round() {
    std::vector<double> times;
    for (int i = 0; i < 21; ++i)
      times.push_back(seconds_of([&] { scheduling::round(state_, now_, kPlacementsPerRoundMax); }));
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10];
  }

  // Spread over all that wait.
  std::vector<JobId> some_waiting(size_t count) const {
    std::vector<JobId> ready, some;
    for (const auto& [id, job] : state_.jobs) {
      if (job.ready()) ready.push_back(id);
    }
    for (size_t i = 0; i < count && !ready.empty(); ++i)
      some.push_back(ready[i * (ready.size() - 1) / std::max<size_t>(1, count - 1)]);
    return some;
  }
  JobId last_waiting() const {
    for (auto it = state_.jobs.rbegin(); it != state_.jobs.rend(); ++it) {
      if (it->second.ready()) return it->first;
    }
    return {};
  }
  const State& state() const { return state_; }
  State& state() { return state_; }
  Time now() const { return now_; }
  void wait(Duration span) { now_ = now_ + span; }

 private:
  static Actor admin() { return {UserId{1}, false, {}}; }
  Events run(std::variant<Request, Report, Tick> body) {
    auto events = decide(state_, {now_, std::move(body)});
    CHECK(events.has_value(), events.error().message);
    for (const Event& event : *events) apply(state_, event);
    return std::move(*events);
  }

  State state_;
  Time now_{hours(24 * 365 * 50).us};
  std::mt19937 random_{7};
  std::vector<Terms> shapes_;
};

}  // namespace atl::core
