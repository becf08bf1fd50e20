// What /metrics says about work: counted as events become durable, from zero at the server's start.
// Costs a lookup per attempt and nothing that grows with history.
#pragma once

#include <array>
#include <unordered_map>

#include "core/state.h"

namespace prometheus {
class Counter;
class Histogram;
class Registry;
}  // namespace prometheus

namespace atl::api {

class WorkCounts {
 public:
  // The registry keeps what is counted and outlives this.
  explicit WorkCounts(prometheus::Registry& registry);

  // On the runtime's thread after each commit; `state` already has the events.
  void on_commit(const core::State& state, const core::Events& events);

 private:
  struct Hash {
    size_t operator()(const AttemptId& id) const;
    size_t operator()(const JobId& id) const { return std::hash<uint64_t>()(id.value); }
  };

  void settle(core::FiringState state);
  void place(const core::State& state, const core::TaskPlaced& placed);
  // `at` is when the server heard of it, which bounds what a site's own clock says.
  void begin(AttemptId attempt, Time started, Time at);

  std::array<prometheus::Counter*, core::kOutcomes> jobs_ended_{};
  std::array<prometheus::Counter*, core::kOutcomes> tasks_ended_{};
  prometheus::Counter* jobs_submitted_ = nullptr;
  std::array<prometheus::Counter*,
             boost::mp11::mp_size<boost::describe::describe_enumerators<core::RetryReason>>::value>
      retried_{};
  std::array<prometheus::Counter*,
             boost::mp11::mp_size<boost::describe::describe_enumerators<core::Cause>>::value>
      fired_{};
  std::array<prometheus::Counter*,
             boost::mp11::mp_size<boost::describe::describe_enumerators<core::FiringState>>::value>
      settled_{};
  prometheus::Histogram* wait_seconds_ = nullptr;

  Time since_;  // when counting began

  // Jobs that could not run when they were submitted: since when they can.
  std::unordered_map<JobId, Time, Hash> ready_;
  // First attempts that were placed and are not known to have begun: since when the task could run.
  std::unordered_map<AttemptId, Time, Hash> placed_;
};

}  // namespace atl::api
