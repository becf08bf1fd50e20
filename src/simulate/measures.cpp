#include "simulate/measures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atl::simulate {
namespace {

double in_seconds(Duration span) { return static_cast<double>(span.us) / 1e6; }

// Gathers the waits of some tasks.
class Gathered {
 public:
  void add(const TraceJob& job, Duration runs, const TaskRecord& record) {
    waits_.push_back(in_seconds(record.started - job.submit));
    if (record.ended.us < 0) return;
    const double run = std::max(in_seconds(runs), kSlowdownBound);
    slowdowns_ += std::max(1.0, in_seconds(record.ended - job.submit) / run);
    ++ended_;
  }
  Waits take() {
    Waits waits;
    waits.tasks = waits_.size();
    if (waits_.empty()) return waits;
    waits.mean =
        std::accumulate(waits_.begin(), waits_.end(), 0.0) / static_cast<double>(waits_.size());
    waits.median = percentile(waits_, 0.5);
    waits.p95 = percentile(waits_, 0.95);
    waits.slowdown = ended_ == 0 ? 0 : slowdowns_ / static_cast<double>(ended_);
    return waits;
  }

 private:
  std::vector<double> waits_;
  double slowdowns_ = 0;
  uint64_t ended_ = 0;
};

template <class Fn>
void for_each_task(const Trace& trace, const Outcome& outcome, Fn fn) {
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    for (uint32_t k = 0; k < job.tasks; ++k)
      fn(job, trace.run_of(job, k), outcome.tasks[outcome.first_task[i] + k]);
  }
}

std::array<Waits, 4> by_size(const Trace& trace, const Outcome& outcome) {
  struct Sized {
    double work;
    Duration run;
    uint32_t job, task;
    bool operator<(const Sized& o) const { return std::tie(work, task) < std::tie(o.work, o.task); }
  };
  std::vector<Sized> sizes;
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    for (uint32_t k = 0; k < job.tasks; ++k) {
      const uint32_t task = outcome.first_task[i] + k;
      const Duration run = trace.run_of(job, k);
      if (outcome.tasks[task].started.us >= 0)
        sizes.push_back({job.cpu_milli * in_seconds(run), run, static_cast<uint32_t>(i), task});
    }
  }
  std::sort(sizes.begin(), sizes.end());
  std::array<Waits, 4> quarters;
  for (size_t quarter = 0; quarter < 4; ++quarter) {
    Gathered gathered;
    for (size_t i = sizes.size() * quarter / 4; i < sizes.size() * (quarter + 1) / 4; ++i)
      gathered.add(trace.jobs[sizes[i].job], sizes[i].run, outcome.tasks[sizes[i].task]);
    quarters[quarter] = gathered.take();
  }
  return quarters;
}

// What each namespace got, and what was due to it, in the hours in which it had work waiting.
void measure_fairness(const Curve& curve, Measures& measures) {
  std::vector<double> got(measures.namespaces.size()), due(measures.namespaces.size());
  for (size_t hour = 0; hour < curve.buckets(); ++hour) {
    double used = 0, entitled = 0;
    for (size_t ns = 0; ns < got.size(); ++ns) {
      used += curve.used(ns, hour);
      if (curve.used(ns, hour) + curve.wanted(ns, hour) > 0)
        entitled += measures.namespaces[ns].entitled;
    }
    for (size_t ns = 0; ns < got.size() && entitled > 0; ++ns) {
      if (curve.wanted(ns, hour) <= 0) continue;
      const double part = used * measures.namespaces[ns].entitled / entitled;
      got[ns] += curve.used(ns, hour);
      due[ns] += std::min(part, curve.used(ns, hour) + curve.wanted(ns, hour));
    }
  }
  std::vector<double> parts;
  for (size_t ns = 0; ns < got.size(); ++ns) {
    if (due[ns] <= 0) continue;
    measures.namespaces[ns].got = got[ns] / due[ns];
    parts.push_back(std::min(1.0, measures.namespaces[ns].got));
  }
  measures.fairness = jain(parts);
  if (!parts.empty()) measures.worst = *std::min_element(parts.begin(), parts.end());
}

void measure_namespaces(const Trace& trace, const Outcome& outcome,
                        const std::vector<double>& entitled, Measures& measures) {
  std::vector<Gathered> gathered(trace.namespaces.size());
  for_each_task(trace, outcome, [&](const TraceJob& job, Duration run, const TaskRecord& record) {
    if (record.started.us >= 0) gathered[job.ns].add(job, run, record);
  });
  double all = 0;
  for (size_t ns = 0; ns < trace.namespaces.size(); ++ns) {
    NamespaceMeasures& each = measures.namespaces.emplace_back();
    each.name = trace.namespaces[ns];
    each.entitled = entitled[ns];
    each.waits = gathered[ns].take();
    for (size_t bucket = 0; bucket < outcome.curve.buckets(); ++bucket)
      each.core_hours += outcome.curve.used(ns, bucket) / 3600;
    all += each.core_hours;
  }
  for (NamespaceMeasures& each : measures.namespaces)
    each.used = all > 0 ? each.core_hours / all : 0;
}

}  // namespace

double percentile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank > 0 ? rank - 1 : 0);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double jain(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

std::vector<double> entitlements(const core::State& state, const Trace& trace) {
  // Weights of those of one cohort that the trace is about.
  std::map<CohortId, double> sums;
  std::map<CohortId, bool> seen;
  for (const std::string& name : trace.namespaces) {
    const core::Stake* stake = &state.namespace_named(name)->stake;
    for (;;) {
      sums[stake->cohort] += stake->weight_milli;
      if (!stake->cohort || std::exchange(seen[stake->cohort], true)) break;
      stake = &state.cohorts.at(stake->cohort).stake;
    }
  }
  std::vector<double> parts;
  for (const std::string& name : trace.namespaces) {
    double part = 1;
    for (const core::Stake* stake = &state.namespace_named(name)->stake;;) {
      part *= stake->weight_milli / sums[stake->cohort];
      if (!stake->cohort) break;
      stake = &state.cohorts.at(stake->cohort).stake;
    }
    parts.push_back(part);
  }
  return parts;
}

Measures measure(const Trace& trace, const Outcome& outcome, int64_t cpu_milli,
                 const std::vector<double>& entitled) {
  Measures measures;
  Gathered all;
  std::map<core::Tier, Gathered> tiers;
  for_each_task(trace, outcome, [&](const TraceJob& job, Duration run, const TaskRecord& record) {
    measures.evictions += record.evictions;
    measures.lost_core_hours += in_seconds(record.lost) / 3600 * job.cpu_milli / 1000;
    if (record.started.us < 0) {
      ++measures.never_started;
      return;
    }
    all.add(job, run, record);
    tiers[job.tier].add(job, run, record);
  });
  measures.all = all.take();
  for (auto& [tier, gathered] : tiers) measures.tiers[tier] = gathered.take();
  measures.quarters = by_size(trace, outcome);
  measure_namespaces(trace, outcome, entitled, measures);
  if (measures.all.tasks > 0) measure_fairness(outcome.curve, measures);
  measures.too_large = outcome.too_large;
  measures.refused = outcome.refused;
  measures.spread = outcome.spread;
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    if (outcome.kept_out[i]) measures.never_started -= trace.jobs[i].tasks;
  }
  const double cores = static_cast<double>(cpu_milli) / 1000;
  const Steady steady = steady_part(trace);
  measures.makespan = in_seconds(outcome.end - trace.jobs.front().submit);
  double used = 0;
  for (const NamespaceMeasures& each : measures.namespaces) used += each.core_hours * 3600;
  if (measures.makespan > 0) measures.utilisation = used / (cores * measures.makespan);
  if (steady.to > steady.from)
    measures.steady = outcome.curve.used_steadily() / (cores * in_seconds(steady.to - steady.from));
  return measures;
}

}  // namespace atl::simulate
