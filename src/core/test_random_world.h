// Small random worlds for property tests of the core: what is drawn depends on the seed alone.
#pragma once

#include <random>

#include "core/test_world.h"

namespace atl::core {

class RandomWorld : public TestWorld {
 public:
  explicit RandomWorld(uint32_t seed) : random_(seed) {}

  int draw(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<uint32_t>(high - low + 1));
  }
  bool one_in(int times) { return draw(1, times) == 1; }

  void draw_nodes(int most, int cpus_most = 6) {
    std::vector<NodeCapacity> all;
    const int count = draw(1, most);
    for (int i = 0; i < count; ++i)
      all.push_back(node("n" + std::to_string(i), draw(1, cpus_most), int64_t{draw(1, 4)} << 30,
                         draw(0, 2), one_in(2) ? "a100" : "v100"));
    nodes(std::move(all));
  }

  Quota draw_quota() {
    Quota quota;
    if (one_in(2)) quota.cpu_milli = 1000 * draw(0, 4);
    if (one_in(4)) quota.memory_bytes = int64_t{draw(0, 4)} << 30;
    if (one_in(4)) quota.running = static_cast<uint64_t>(draw(0, 4));
    if (one_in(3)) quota.devices[one_in(2) ? "gpu" : "gpu:a100"] = one_in(2);
    return quota;
  }

  // Namespaces with quotas, most of them in one cohort.
  void draw_namespaces(const std::vector<std::string>& names) {
    run(Request{admin(), SetCohort{"group", {}, {}, {}, {}}});
    for (const std::string& ns : names) {
      if (!state.namespace_named(ns)) run(Request{admin(), CreateNamespace{ns, ""}});
      run(Request{admin(), SetQuota{ns, draw_quota()}});
      if (!one_in(3)) run(Request{admin(), SetStake{ns, "group", {}, {}}});
    }
  }

  // Of any tier, up to three cores; a limit only where there is one to be drawn.
  SubmitJob draw_job(const std::vector<std::string>& names) {
    SubmitJob one = job(500 * draw(1, 6));
    one.ns = names[static_cast<size_t>(draw(0, static_cast<int>(names.size()) - 1))];
    one.terms.tier = kTiers[draw(0, 3)];
    one.terms.grace = {};
    one.keep = true;
    if (one_in(3)) one.terms.resources.memory_bytes = int64_t{draw(1, 2)} << 30;
    if (one_in(3))
      one.terms.resources.devices = {
          {"gpu", one_in(2) ? "a100" : "", static_cast<uint32_t>(draw(1, 2))}};
    return one;
  }
  void draw_gang(SubmitJob& one) {
    const auto members = static_cast<uint32_t>(draw(2, 3));
    one.array = true;
    one.indices = IntervalSet({0, members - 1});
    one.terms.gang = members;
  }
  void draw_wall(SubmitJob& one) { one.terms.wall = minutes(10 * draw(1, 12)); }

  // What was placed begins.
  void start_all() {
    settle();
    for (const AttemptId attempt : attempts<TaskStarting>())
      run(Report{AttemptStarted{attempt, now}});
  }
  // What was told to stop is gone.
  void end_stopping() {
    for (const AttemptId attempt : attempts<TaskStop>()) end(attempt, EndCause::stopped);
  }
  void end(AttemptId attempt, EndCause cause = EndCause::exited) {
    AttemptResult result;
    result.cause = cause;
    run(Report{AttemptEnded{attempt, result}});
  }
  // Time passes until something has reached its limit, or its grace is over; false: nothing does.
  bool pass() {
    Time next;
    std::vector<std::pair<AttemptId, Holder>> holders;
    for (const auto& [id, site] : state.sites) {
      for (const auto& [name, each] : site.nodes) {
        for (const auto& [task, holder] : each.holders) {
          holders.push_back({{task.job, task.index, holder.attempt}, holder});
          if (holder.until && (!next || holder.until < next)) next = holder.until;
        }
      }
    }
    if (!next) return false;
    now = std::max(now, next);
    for (const auto& [attempt, holder] : holders) {
      if (holder.until && holder.until <= now)
        end(attempt, holder.stopping ? EndCause::stopped : EndCause::exited);
    }
    return true;
  }

  // The attempts whose task is in that state.
  template <class Is>
  std::vector<AttemptId> attempts() const {
    std::vector<AttemptId> found;
    for (const auto& [id, one] : state.jobs) {
      for (const auto& [index, task] : one.tasks) {
        if (std::holds_alternative<Is>(task.state)) found.push_back({id, index, task.attempt});
      }
    }
    return found;
  }

  // Everybody else who waits goes on waiting; those for whom others have made room only if wanted.
  void hold_all_but(JobId job, bool owed_too = true) {
    std::vector<JobId> others;
    for (const auto& [id, other] : state.jobs) {
      if (id != job && !other.held && (owed_too || other.owed == 0)) others.push_back(id);
    }
    for (const JobId id : others) apply(state, {now, {}, JobHeld{id}});
  }

 private:
  std::mt19937 random_;
};

}  // namespace atl::core
