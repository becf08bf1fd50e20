// For tests of checkers: a life of the platform, told event by event.
#pragma once

#include <string>
#include <vector>

#include "journal/memory_journal.h"
#include "sim/checkers/checker.h"

namespace atl::sim {

inline constexpr Time kNow{1'000'000'000};

// A platform with one user, one namespace and one node of two cores and one device, told to a
// checker event by event.
class Story {
 public:
  explicit Story(Checker& checker) : checker_(checker) {
    say(core::UserCreated{UserId{1}, "root", true, {}});
    say(core::NamespaceCreated{NamespaceId{1}, "lab"});
    say(core::SiteAdded{SiteId{1}, "here", "simulated"});
    report(node());
  }

  static core::NodeCapacity node() {
    core::NodeCapacity node{"node", 2000, 1000, {{"d0", "gpu", "a100", 0, true}}};
    node.devices[0].share_step_milli = 100;
    node.devices[0].slots = 8;
    node.devices[0].profiles = {{"1g", 1, {0, 1, 2, 3, 4, 5, 6}, 0}, {"3g", 4, {0, 4}, 0}};
    return node;
  }
  void report(core::NodeCapacity node) {
    say(core::SiteReported{SiteId{1}, {{std::move(node)}, {}}});
  }

  void say(core::EventBody body) {
    const core::Event event{now, {}, std::move(body)};
    core::apply(state, event);
    checker_.recorded(++sequence, event, state);
    checker_.committed(sequence, state);
  }
  // Tells the checker of an event that the core itself would never apply.
  void lie(core::EventBody body) {
    checker_.recorded(++sequence, {now, {}, std::move(body)}, state);
  }

  core::JobSubmitted job(int64_t cpu_milli) const {
    core::JobSubmitted job;
    job.id = JobId{state.counters.job + 1};
    job.ns = NamespaceId{1};
    job.user = UserId{1};
    job.name = "job-" + std::to_string(job.id.value);
    job.terms.resources.cpu_milli = cpu_milli;
    job.indices.add(0);
    return job;
  }
  JobId submit(int64_t cpu_milli, std::vector<core::Dependency> after = {}, std::string key = "") {
    core::JobSubmitted made = job(cpu_milli);
    made.dependencies = std::move(after);
    made.key = std::move(key);
    say(made);
    return made.id;
  }
  JobId submit_for(core::DeviceRequest request) {
    core::JobSubmitted made = job(100);
    made.terms.resources.devices = {std::move(request)};
    say(made);
    return made.id;
  }
  JobId submit_gang(uint32_t members) {
    core::JobSubmitted made = job(100);
    made.array = true;
    made.indices = IntervalSet({0, members - 1});
    made.terms.gang = members;
    say(made);
    return made.id;
  }
  static core::TaskPlaced placed(JobId job, std::vector<core::HeldDevice> devices = {}) {
    return {{job, 0, 1}, {SiteId{1}, "node", std::move(devices)}};
  }
  void end(JobId job, core::Outcome outcome) {
    say(core::TaskEnded{{job, 0, 1}, outcome, {}});
    say(core::JobEnded{job, outcome, ""});
  }
  void look(const core::State& live, bool restarted = false) {
    checker_.looked({live, state, journal, journal, kNow, true, restarted});
  }

  Time now = kNow;
  core::State state;
  uint64_t sequence = 0;
  journal::MemoryJournal journal;

 private:
  Checker& checker_;
};

// Whether a checker's complaint has that in it.
inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// An entry of the calendar that holds all week.
inline core::CalendarEntry always(std::optional<int32_t> share, core::Quota limit = {}) {
  return {"always", core::Tier::batch, 0b1111111, 0, 24 * 60, share, std::move(limit)};
}

}  // namespace atl::sim
