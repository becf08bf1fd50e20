// What the core is asked for on behalf of a job of the trace, if the nodes could ever hold it.
#pragma once

#include <map>
#include <string>

#include "core/state.h"
#include "simulate/trace.h"

namespace atl::simulate {

struct Fit {
  // How many tasks of the core each task of the trace becomes. More than one: it is wider than a
  // node, and they are a gang that divides it equally.
  uint32_t parts = 1;
  std::string why_not;  // it cannot be run; empty: it can

  bool operator==(const Fit&) const = default;
};

// Equal jobs are looked at once.
class Fitting {
 public:
  // The state is one that build_state made; its nodes must not change. Both outlive this.
  Fitting(const Trace& trace, const core::State& state) : trace_(trace), state_(state) {}

  const Fit& fit(const TraceJob& job);
  // Of each of the parts.
  core::Terms terms(const TraceJob& job, const Fit& fit) const;
  // The core's error in words that jobs of other sizes share, so that they can be counted, and
  // without what it advises those who submit.
  std::string why_refused(const TraceJob& job, const Fit& fit, const Error& error) const;

 private:
  struct Key {
    int64_t memory_bytes;
    uint32_t cpu_milli;
    uint16_t wishes;
    auto operator<=>(const Key&) const = default;
  };
  Fit look(const TraceJob& job) const;
  uint32_t parts_for(const TraceJob& job) const;
  std::string why_not(const TraceJob& job) const;
  bool some_node_holds(const core::Resources& resources) const;

  const Trace& trace_;
  const core::State& state_;
  std::map<Key, Fit> known_;
};

}  // namespace atl::simulate
