#include "sim/site.h"

#include <algorithm>

#include "base/overloaded.h"
#include "core/scheduling/line.h"

namespace atl::sim {

SimSite::SimSite(World& world, Rng rng, SiteOptions options, const Faults& faults,
                 const Sabotage& sabotage, Witness& witness)
    : world_(world),
      rng_(rng),
      options_(std::move(options)),
      faults_(faults),
      sabotage_(sabotage),
      witness_(witness),
      nodes_(options_.nodes),
      boot_(world.now()) {
  beat();
}

// Once in a while the site says what it has and repeats results that nobody has taken yet.
void SimSite::beat() {
  if (reachable() && adopted_) {
    report(core::SiteProbed{options_.name, capacity()});
    for (const AttemptId attempt : kept_) report_known(attempt, ledger_.at(attempt));
  }
  world_.after(rng_.between(seconds(15), seconds(45)), [this] { beat(); });
}

void SimSite::carry_out(const Adopt& adopt) {
  adopted_ = true;
  // A new server says again who is in line.
  for (const auto& [behind, attempt] : line_) ledger_.erase(attempt);
  line_.clear();
  report(core::SiteProbed{options_.name, capacity()});
  const std::set<AttemptId> expected(adopt.expected.begin(), adopt.expected.end());
  for (const AttemptId attempt : expected) {
    const auto known = ledger_.find(attempt);
    if (known == ledger_.end()) continue;
    Entry& entry = known->second;
    if (!entry.running && !entry.result)
      lose(entry, attempt, "its result was dropped");
    else
      report_known(attempt, entry);
  }
  for (const AttemptId attempt : kept_) {
    if (!expected.count(attempt)) report_known(attempt, ledger_.at(attempt));
  }
  for (auto& [attempt, entry] : ledger_) {
    if (entry.running && !expected.count(attempt)) finish_later(attempt, {}, draw_stopped());
  }
}

void SimSite::carry_out(const site::StartOrder& order) {
  const auto [it, unheard] = ledger_.try_emplace(order.attempt);
  Entry& entry = it->second;
  if (!unheard) {
    if (sabotage_.start_twice && entry.running) begin(order, entry);
    report_known(order.attempt, entry);
    return;
  }
  entry.placement = order.placement;
  if (order.repeated && order.placed < boot_) {
    lose(entry, order.attempt, "the machine has started anew since it was placed");
  } else if (order.behind && live(*order.behind) && !sabotage_.jump_the_line) {
    entry.waiting = order;
    line_.emplace(*order.behind, order.attempt);
  } else {
    begin_if_possible(order, entry);
  }
}

bool SimSite::live(AttemptId attempt) const {
  const auto known = ledger_.find(attempt);
  return known != ledger_.end() && (known->second.running || known->second.waiting);
}

void SimSite::begin_if_possible(const site::StartOrder& order, Entry& entry) {
  if (!rng_.chance(faults_.start_error) && has_node(order.placement.node))
    return begin(order, entry);
  core::AttemptResult result;
  result.cause = core::EndCause::start_error;
  result.message = "no such node or directory";
  finish(order.attempt, result);
}

void SimSite::begin_next(AttemptId ended) {
  const auto next = line_.extract(ended);
  if (!next) return;
  Entry& entry = ledger_.at(next.mapped());
  const site::StartOrder order = std::move(*entry.waiting);
  entry.waiting.reset();
  begin_if_possible(order, entry);
}

// One that waits ends without having begun; the one behind it gets its place.
void SimSite::leave_line(AttemptId attempt, core::EndCause cause) {
  Entry& entry = ledger_.at(attempt);
  if (entry.waiting) {
    const AttemptId leader = *entry.waiting->behind;
    line_.erase(leader);
    if (const auto next = line_.extract(attempt)) {
      ledger_.at(next.mapped()).waiting->behind = leader;
      line_.emplace(leader, next.mapped());
    }
  }
  entry.waiting.reset();
  core::AttemptResult result;
  result.cause = cause;
  finish(attempt, result);
}

void SimSite::carry_out(const site::StopOrder& order) {
  const auto [it, unheard] = ledger_.try_emplace(order.attempt);
  Entry& entry = it->second;
  // Remembering an attempt that was stopped before it was started keeps a late order from starting
  // it.
  if (entry.waiting || (order.unless_begun && !entry.running && !entry.result)) {
    return leave_line(order.attempt,
                      order.unless_begun ? core::EndCause::recalled : core::EndCause::stopped);
  }
  if (order.unless_begun && entry.running) return;
  if (!entry.running && !entry.result) return lose(entry, order.attempt, "not known here");
  if (!entry.running) return report_known(order.attempt, entry);
  if (sabotage_.deaf_to_stop) {
    entry.result = draw_stopped();
    kept_.insert(order.attempt);
    report_known(order.attempt, entry);
    return;
  }
  ++entry.stopping;
  const bool obedient = order.grace.us > 0 && rng_.chance(700);
  if (obedient) {
    finish_later(order.attempt, rng_.between(Duration{}, order.grace), draw_stopped());
  } else {
    core::AttemptResult killed;
    killed.cause = core::EndCause::stopped;
    killed.signal = 9;
    finish_later(order.attempt, order.grace, killed);
  }
}

void SimSite::carry_out(const Forget& forget) {
  const auto it = ledger_.find(forget.attempt);
  if (it == ledger_.end() || it->second.running) return;
  it->second.result.reset();
  kept_.erase(forget.attempt);
}

void SimSite::report_known(AttemptId attempt, const Entry& entry) {
  if (entry.result)
    report(core::AttemptEnded{attempt, *entry.result});
  else if (entry.running)
    report(core::AttemptStarted{attempt, entry.began + options_.skew});
}

core::SiteReport SimSite::capacity() const {
  core::SiteReport report{nodes_, {"simulated"}};
  if (options_.line) {
    report.abilities.push_back(core::scheduling::kLineAbility);
    report.abilities.push_back(core::scheduling::kLongLineAbility);
  }
  return report;
}

bool SimSite::has_node(const std::string& name) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const auto& node) { return node.name == name; });
}

void SimSite::begin(const site::StartOrder& order, Entry& entry) {
  entry.began = world_.now();
  entry.running = true;
  ++live_;
  const std::string payload = order.payload.argv.empty() ? "" : order.payload.argv.front();
  const auto items = order.payload.env.find("ATOLL_ITEM_ID");
  witness_.began({order.attempt, options_.name, order.placement, order.resources, payload,
                  world_.now(), items == order.payload.env.end() ? "" : items->second});
  report_known(order.attempt, entry);
  const bool brisk = options_.line && rng_.chance(500);
  const bool quick = rng_.chance(600);
  const Duration length = brisk   ? rng_.between(milliseconds(1), milliseconds(90))
                          : quick ? rng_.between(milliseconds(10), seconds(20))
                                  : rng_.between(seconds(20), minutes(12));
  core::AttemptResult result = draw_exit();
  const bool over = order.wall.us > 0 && length > order.wall;
  if (over) {
    result = {};
    result.cause = core::EndCause::wall_time;
    result.checkpointed = rng_.chance(100);
  }
  if (sabotage_.never_end) return;
  finish_later(order.attempt, over ? order.wall : length, result);
}

core::AttemptResult SimSite::draw_exit() {
  core::AttemptResult result;
  const uint64_t die = rng_.below(100);
  if (die < 75) return result;
  if (die < 90) {
    result.exit_code = static_cast<int32_t>(rng_.between(1, 4));
  } else if (die < 95) {
    result.exit_code = core::kCheckpointExit;
  } else if (die < 97) {
    result.cause = core::EndCause::signalled;
    result.signal = 11;
  } else if (die < 99) {
    result.cause = core::EndCause::memory;
  } else {
    result.cause = core::EndCause::lost;
  }
  return result;
}

// What a process makes of SIGTERM: dies of it, saves itself first, or is done anyway.
core::AttemptResult SimSite::draw_stopped() {
  core::AttemptResult result;
  const uint64_t die = rng_.below(10);
  if (die == 0) return result;
  if (die == 1) {
    result.exit_code = core::kCheckpointExit;
    return result;
  }
  result.cause = core::EndCause::stopped;
  result.signal = 15;
  result.checkpointed = die == 2;
  return result;
}

void SimSite::lose(Entry& entry, AttemptId attempt, const std::string& why) {
  core::AttemptResult result;
  result.cause = core::EndCause::lost;
  result.message = why;
  (void)entry;
  finish(attempt, result);
}

void SimSite::finish_later(AttemptId attempt, Duration delay, core::AttemptResult result) {
  if (sabotage_.never_end) return;
  world_.after(delay,
               [this, attempt, began = ledger_.at(attempt).began, result = std::move(result)] {
                 const Entry& entry = ledger_.at(attempt);
                 if (entry.running && entry.began == began) finish(attempt, result);
               });
}

void SimSite::finish(AttemptId attempt, core::AttemptResult result) {
  Entry& entry = ledger_.at(attempt);
  if (entry.running) {
    entry.running = false;
    --live_;
    result.usage.started = entry.began + options_.skew;
    result.usage.ended = site_time();
    result.usage.cpu = world_.now() - entry.began;
    witness_.ended({attempt, world_.now()});
  }
  entry.result = std::move(result);
  kept_.insert(attempt);
  if (!down_) report_known(attempt, entry);
  begin_next(attempt);
}

}  // namespace atl::sim
