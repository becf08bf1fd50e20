// Promise 3: allocations never exceed a device, a node or a quota. The sums are kept here from the
// events alone, not from the state's own indexes; the sites' truth is held against the devices as
// well.
//
// A capacity or quota that shrinks under what is placed is no breach: what counts is that nothing
// is placed beyond it. What is placed in line takes over the room of the one before it: the same
// amount on the same node for the same namespace, and really begins only after it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/checkers/checker.h"
#include "sim/checkers/parts.h"

namespace atl::sim {

class Allocation : public Checker {
 public:
  std::string_view promise() const override {
    return "3, allocations stay within device, node and quota";
  }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void began(const RunBegan& run) override;
  void ended(const RunEnded& run) override;

 private:
  struct Held {
    core::Placement placement;
    core::Resources resources;
    NamespaceId ns;
    std::optional<AttemptId> behind;  // counts when that one ends
  };
  struct Sum {
    int64_t cpu_milli = 0;
    int64_t memory_bytes = 0;
    uint64_t tasks = 0;
    std::map<std::string, int64_t> devices_milli;
  };
  using NodeKey = std::pair<SiteId, std::string>;

  void place(const core::TaskPlaced& placed, const core::State& after);
  void line_up(const core::TaskPlaced& placed, Held held);
  void count(const Held& held, int sign);
  void release(AttemptId attempt);
  void check_open(const core::Placement& at, const core::State& after);
  void check_node(const Held& held, const core::State& after);
  void check_level(const std::string& name, const Sum& sum, const core::Quota& quota,
                   const core::Stake& stake, const Held& held);
  void check_quota(const Held& held, const core::State& after);
  void check_queued(NamespaceId ns, const core::State& after);
  static void add(Sum& sum, const Held& held, int sign);

  std::map<AttemptId, Held> held_;
  std::map<AttemptId, AttemptId> followers_;  // by whom they are behind
  std::map<NodeKey, Sum> nodes_;
  std::map<NamespaceId, Sum> namespaces_;
  DeviceParts units_;        // as placed
  DeviceParts really_used_;  // as the sites see it
  std::map<AttemptId, RunBegan> running_;
  std::set<core::StepRef> prepared_;  // steps of which each will be a job
};

}  // namespace atl::sim
