// A small state for unit tests of the core: one administrator, namespace `lab`, and as many nodes
// as asked for.
#pragma once

#include <gtest/gtest.h>

#include "core/core.h"

namespace atl::core {

class TestWorld {
 public:
  TestWorld() {
    run(Request{{}, CreateUser{"root", true, 0}});
    run(Request{admin(), CreateNamespace{"lab", ""}});
    run(Request{admin(), AddSite{"local", "simulated"}});
  }

  static Actor admin() { return {UserId{1}, false, {}}; }

  void nodes(std::vector<NodeCapacity> nodes) {
    run(Report{SiteProbed{"local", {std::move(nodes), {}}}});
  }

  // Decides and applies without ticking.
  [[nodiscard]] Result<Events> attempt(std::variant<Request, Report, Tick> body) {
    auto events = decide(state, {now, std::move(body)});
    if (!events) return events;
    for (const Event& event : *events) {
      for (Effect& effect : apply(state, event)) effects.push_back(std::move(effect));
    }
    EXPECT_EQ(broken_invariant(state), "");
    return events;
  }
  // The same, for what must not be refused.
  Events run(std::variant<Request, Report, Tick> body) {
    auto events = attempt(std::move(body));
    EXPECT_TRUE(events) << events.error().message;
    return events.value_or(Events{});
  }
  void settle() {
    while (!run(Tick{}).empty()) {
    }
  }

  static SubmitJob job(int64_t cpu_milli = 1000) {
    SubmitJob job;
    job.ns = "lab";
    job.name = "job";
    job.terms.resources.cpu_milli = cpu_milli;
    job.indices = IntervalSet({0, 0});
    return job;
  }
  JobId submit(SubmitJob job) {
    const Events events = run(Request{admin(), SubmitJobs{{std::move(job)}}});
    return std::get<JobSubmitted>(events.at(0).body).id;
  }

  State state;
  Time now{1};
  Effects effects;
};

inline NodeCapacity node(std::string name, int64_t cpus, int64_t memory = 1 << 30, int gpus = 0,
                         std::string model = "a100") {
  NodeCapacity capacity{std::move(name), cpus * 1000, memory, {}};
  for (int i = 0; i < gpus; ++i)
    capacity.devices.push_back({"g" + std::to_string(i), "gpu", model, 0, true});
  return capacity;
}

}  // namespace atl::core
