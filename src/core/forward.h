// Runs the core forward without sites, by a clock that jumps from one happening to the next: work
// begins as soon as it is placed, and ends when a script says. What places it, ends it and lets it
// wait is the very core that a server runs.
#pragma once

#include <map>
#include <queue>
#include <tuple>

#include "core/core.h"

namespace atl::core {

class Forward {
 public:
  // An attempt on its node.
  struct Live {
    AttemptId attempt;
    Time began;
    Time ends;             // zero: nobody knows
    bool stopped = false;  // it ends because it was told to
    Duration kept;         // of its work, then
  };
  // How one that is told to stop does so.
  struct Stop {
    Duration takes;
    Duration kept;  // of its work; none: it begins anew
  };
  class Script {
   public:
    virtual ~Script() = default;
    // How long the attempt, which begins now, runs; nothing: nobody knows, and it stays.
    virtual std::optional<Duration> begins(AttemptId attempt, Time now) = 0;
    virtual Stop stops(const Live& live, Duration grace, Time now) = 0;
    virtual void ended(const Live& live, Time now) = 0;
  };

  // The state, which is changed, outlives this. `round` is the least time between two rounds of
  // scheduling: a busy server takes many reports in one turn. Zero has one after each happening.
  Forward(State& state, Script& script, Duration round, Time now = {});

  // Work that is there already.
  void add(const Live& live);
  // Work that has its place already and begins with the next round.
  void begin(AttemptId attempt) { starts_.push_back(attempt); }

  // When something happens next by itself; zero: never.
  Time next() const;
  // Ends whatever has ended by then, which becomes now; at most so many, the others in the next
  // call.
  void end_until(Time now, size_t max = SIZE_MAX);
  // The round, if it is due.
  void tick();
  void want_tick();

  [[nodiscard]] Result<Events> decide(std::variant<Request, Report, Tick> body) const;
  void apply(const Events& events);

  const State& state() const { return state_; }
  Time now() const { return now_; }
  uint64_t rounds() const { return rounds_; }

 private:
  struct End {
    Time at;
    TaskId task;
    uint32_t attempt;
    bool operator<(const End& o) const {
      return std::tie(at, task, attempt) > std::tie(o.at, o.task, o.attempt);
    }
  };
  Events decided(std::variant<Request, Report, Tick> body) const;
  void start_all();
  void stop(const StopAttempt& order);
  void end_one();

  State& state_;
  Script& script_;
  const Duration round_;
  Time now_;
  Time last_tick_;
  Time tick_at_;  // zero: none is due
  uint64_t rounds_ = 0;
  std::vector<AttemptId> starts_;
  std::map<TaskId, Live> live_;
  std::priority_queue<End> ends_;
};

}  // namespace atl::core
