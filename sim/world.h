// The simulated world's time: a queue of things to happen, the clock that the server sees, and the
// trace of what happened. Single-threaded; two things due at one instant happen in the order in
// which they were asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "core/event.h"

namespace atl::sim {

// A running hash of everything that happened; with `print`, also a line each on standard output.
class Trace {
 public:
  explicit Trace(bool print) : print_(print) {}

  void note(Time at, std::string_view line);
  void event(uint64_t sequence, const core::Event& event);
  uint64_t hash() const { return hash_; }

 private:
  void mix(std::string_view bytes);

  const bool print_;
  uint64_t hash_ = 0xcbf29ce484222325u;
};

class World {
 public:
  explicit World(bool print) : trace(print) {}

  Time now() const { return now_; }
  void after(Duration delay, std::function<void()> action);
  // Advances to the next thing and does it; false when nothing is left.
  bool step();

  Trace trace;

 private:
  Time now_ = Time{} + hours(24 * 365 * 55);
  uint64_t order_ = 0;
  std::map<std::pair<Time, uint64_t>, std::function<void()>> queue_;
};

// What the server takes for the time: the world's, and wrong by what the jumps add up to.
class SimClock : public Clock {
 public:
  explicit SimClock(const World& world) : world_(world) {}
  Time now() override { return world_.now() + offset_; }
  void jump(Duration by) { offset_ = offset_ + by; }
  Duration offset() const { return offset_; }

 private:
  const World& world_;
  Duration offset_;
};

}  // namespace atl::sim
