#include "sim/observer.h"

#include "base/check.h"

namespace atl::sim {

void Observer::told(const Told& told) {
  ++(told.answer ? counts_.answers : counts_.refusals);
  world_.trace.note(world_.now(),
                    told.answer ? "answered" : "refused: " + told.answer.error().message);
  each([&](Checker& checker) { checker.told(told); });
}

void Observer::began(const RunBegan& run) {
  ++counts_.runs;
  world_.trace.note(world_.now(), run.site + " begins " + to_string(run.attempt));
  each([&](Checker& checker) { checker.began(run); });
}

void Observer::ended(const RunEnded& run) {
  world_.trace.note(world_.now(), "ends " + to_string(run.attempt));
  each([&](Checker& checker) { checker.ended(run); });
}

void Observer::record(uint64_t sequence, const core::Event& event) {
  world_.trace.event(sequence, event);
  if (std::holds_alternative<core::JobSubmitted>(event.body)) ++counts_.jobs;
  if (const auto* finished = std::get_if<core::ItemsFinished>(&event.body))
    counts_.items_done += core::count_of(finished->items);
  core::apply(replayed_, event);
  each([&](Checker& checker) { checker.recorded(sequence, event, replayed_); });
}

void Observer::pull() {
  const auto commits = journal_.read(sequence_, SIZE_MAX);
  CHECK(commits.has_value(), "the observer fell behind the journal");
  for (const journal::Committed& commit : *commits) {
    for (const core::Event& event : commit.events) record(commit.sequence, event);
    each([&](Checker& checker) { checker.committed(commit.sequence, replayed_); });
    sequence_ = commit.sequence;
    ++counts_.commits;
  }
}

void Observer::look(const core::State& live, Time now, bool writable, bool restarted) {
  pull();
  const Glimpse glimpse{live, replayed_, journal_, journal_, now, writable, restarted};
  each([&](Checker& checker) { checker.looked(glimpse); });
}

void Observer::settle(const core::State& live, Time now) {
  look(live, now, true, false);
  const Glimpse glimpse{live, replayed_, journal_, journal_, now, true, false};
  each([&](Checker& checker) { checker.settled(glimpse); });
}

std::string Observer::broken() const {
  for (const auto& checker : checkers_) {
    if (!checker->broken().empty())
      return std::string(checker->promise()) + ": " + checker->broken();
  }
  return {};
}

}  // namespace atl::sim
