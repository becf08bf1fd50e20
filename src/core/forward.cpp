#include "core/forward.h"

#include <algorithm>

#include "base/check.h"

namespace atl::core {

Forward::Forward(State& state, Script& script, Duration round, Time now)
    : state_(state), script_(script), round_(round), now_(now) {}

void Forward::add(const Live& live) {
  live_[live.attempt.task()] = live;
  if (live.ends) ends_.push({live.ends, live.attempt.task(), live.attempt.attempt});
}

Time Forward::next() const {
  if (ends_.empty() || (tick_at_ && tick_at_ < ends_.top().at)) return tick_at_;
  return ends_.top().at;
}

void Forward::end_until(Time now, size_t max) {
  now_ = now;
  for (; max > 0 && !ends_.empty() && ends_.top().at <= now_; --max) end_one();
}

// The next round is due as soon as its time has come.
void Forward::want_tick() {
  const Time due = std::max(now_, last_tick_ + round_);
  if (!tick_at_ || due < tick_at_) tick_at_ = due;
}

void Forward::tick() {
  if (!tick_at_ || tick_at_ > now_) return;
  tick_at_ = {};
  last_tick_ = now_;
  ++rounds_;
  const Events events = decided(Tick{});
  apply(events);
  start_all();
  if (!events.empty()) want_tick();
  if (const Time timer = next_timer(state_, last_tick_); timer && (!tick_at_ || timer < tick_at_))
    tick_at_ = std::max(timer, now_);
}

Result<Events> Forward::decide(std::variant<Request, Report, Tick> body) const {
  return core::decide(state_, {now_, std::move(body)});
}

Events Forward::decided(std::variant<Request, Report, Tick> body) const {
  auto events = decide(std::move(body));
  CHECK(events.has_value(), "only requests are refused: " + events.error().message);
  return std::move(*events);
}

void Forward::apply(const Events& events) {
  for (const Event& event : events) {
    for (const Effect& effect : core::apply(state_, event)) {
      if (const auto* start = std::get_if<StartAttempt>(&effect))
        starts_.push_back(start->attempt);
      else if (const auto* order = std::get_if<StopAttempt>(&effect))
        stop(*order);
    }
  }
}

void Forward::start_all() {
  for (const AttemptId& attempt : starts_) {
    const auto runs = script_.begins(attempt, now_);
    add({attempt, now_, runs ? now_ + *runs : Time{}, false, {}});
    apply(decided(Report{AttemptStarted{attempt, now_}}));
  }
  starts_.clear();
}

// Unless it ends by itself before.
void Forward::stop(const StopAttempt& order) {
  const auto it = live_.find(order.attempt.task());
  if (it == live_.end() || it->second.attempt != order.attempt) return;
  Live& live = it->second;
  const Stop how = script_.stops(live, order.grace, now_);
  const Time ends = now_ + how.takes;
  if (live.ends && live.ends <= ends) return;
  live.ends = ends;
  live.stopped = true;
  live.kept = how.kept;
  ends_.push({ends, order.attempt.task(), order.attempt.attempt});
}

void Forward::end_one() {
  const End end = ends_.top();
  ends_.pop();
  const auto it = live_.find(end.task);
  const bool stale =
      it == live_.end() || it->second.attempt.attempt != end.attempt || it->second.ends != end.at;
  if (stale) return;
  const Live live = it->second;
  live_.erase(it);
  script_.ended(live, now_);
  AttemptResult result;
  result.usage.started = live.began;
  result.usage.ended = end.at;
  if (live.stopped) result.cause = EndCause::stopped;
  result.checkpointed = live.stopped && live.kept.us > 0;
  apply(decided(Report{AttemptEnded{live.attempt, std::move(result)}}));
  want_tick();
}

}  // namespace atl::core
