#include "api/outlook.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "api/aside_message.h"
#include "api/context.h"
#include "runtime/aside.h"

namespace atl::api {
namespace {

using core::scheduling::Alternative;
using core::scheduling::Explanation;
using Steady = std::chrono::steady_clock;
using Starts = core::Outlooks;

constexpr int32_t kShort = 200, kMedian = 500, kLong = 800;  // thousandths of the work
constexpr int32_t kQuantiles[] = {kMedian, kShort, kLong};
constexpr auto kTimeMax = std::chrono::milliseconds(45);  // of all forecasts of one question
constexpr size_t kSmall = 500;        // jobs of a state that is copied rather than the process
constexpr size_t kRoundsToTurn = 64;  // in which all that runs has ended once, at least

uint32_t ends_per_round(const core::State& state) {
  size_t running = 0;
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) running += node.holders.size();
  }
  return static_cast<uint32_t>(std::max<size_t>(1, running / kRoundsToTurn));
}

core::ForecastOptions options_for(const core::State& state, const LookOptions& look,
                                  int32_t quantile, Steady::time_point deadline) {
  return {.quantile_milli = quantile,
          .ends_per_round = ends_per_round(state),
          .tasks = look.tasks,
          .to_the_last = look.to_the_last,
          .go_on = [deadline](uint64_t) { return Steady::now() < deadline; }};
}

// Three runs, which need a state each. A small one is copied. For a large one the process is copied
// once more, so that the runs go on side by side, and what they have found when the time is up
// counts.
class Scenarios {
 public:
  Scenarios(core::State& own, Time now, const std::set<JobId>& jobs, const LookOptions& look)
      : state_(own), now_(now), jobs_(jobs), look_(look), small_(own.jobs.size() <= kSmall) {
    if (small_ || jobs.empty()) return;
    for (const int32_t quantile : kQuantiles) {
      const auto work = [&](const runtime::Copy::Tell& tell) {
        (void)!::nice(10);  // the explanation itself goes first
        auto options = options_for(own, look_, quantile, begun_ + kTimeMax);
        options.so_far = [&](const Starts& starts) { tell(starts_message(starts)); };
        tell(starts_message(core::run_ahead(own, now_, jobs_, options)));
      };
      const auto left = begun_ + kTimeMax - Steady::now();
      auto copy = runtime::Copy::begin(work, {left / std::chrono::microseconds(1)});
      if (copy) copies_[quantile] = std::move(*copy);
    }
  }

  std::map<JobId, ExpectedStart> take() {
    std::map<int32_t, Starts> found;
    for (const int32_t quantile : kQuantiles) {
      const auto copy = copies_.find(quantile);
      if (copy != copies_.end()) found[quantile] = last_starts(copy->second->heard());
      if (small_) found[quantile] = core::forecast(state_, now_, jobs_, options_in(quantile));
      // On a busy machine a copy may not have come to say anything.
      if (found[quantile].empty()) found[quantile] = roughly(quantile);
    }
    std::map<JobId, ExpectedStart> spread;
    for (const auto& [id, each] : found[kMedian])
      spread[id] = spread_of(each, found[kShort][id], found[kLong][id]);
    return spread;
  }

  // In a small state what is offered is tried with all others that wait beside it. In a large one
  // there is no time for that: what only a trial can tell is left out.
  void confirm(JobId id, Explanation& why) const {
    const core::Job& job = state_.jobs.at(id);
    if (small_ && !core::has_placed(job))
      core::confirm(state_, now_, job, why, options_in(kMedian));
    std::erase_if(why.sooner, [](const Alternative& each) { return !each.starts; });
  }

 private:
  core::ForecastOptions options_in(int32_t quantile) const {
    return options_for(state_, look_, quantile, Steady::now() + kTimeMax / 3);
  }

  Starts roughly(int32_t quantile) const {
    Starts starts;
    for (const JobId id : jobs_) {
      if (starts.size() < kExplainedMax)
        starts[id] = core::rough_forecast(state_, now_, id, options_in(quantile));
    }
    return starts;
  }

  // Later ends can make a job start earlier, because others get out of its way.
  static ExpectedStart spread_of(const core::Outlook& median, const core::Outlook& early,
                                 const core::Outlook& late) {
    // With the short run times it starts soonest: before that one came no run says anything.
    ExpectedStart start{median.at,        median.at,    median.at,
                        early.not_before, median.rough, median.last};
    for (const core::Outlook* each : {&early, &late}) {
      start.rough |= each->rough;
      if (!each->at || !start.expected) continue;
      start.earliest = std::min(start.earliest, each->at);
      start.latest = std::max(start.latest, each->at);
    }
    if (!late.at) start.latest = {};
    return start;
  }

  const core::State& state_;
  const Time now_;
  const std::set<JobId>& jobs_;
  const LookOptions& look_;
  const bool small_;
  const Steady::time_point begun_ = Steady::now();
  std::map<int32_t, std::unique_ptr<runtime::Copy>> copies_;
};

// Cores and devices as numbers with a fraction, memory in bytes, tasks as they are.
void write_amount(spec::JsonWriter& json, const std::string& resource, int64_t amount) {
  if (resource == "memory" || resource == "tasks")
    json.number(amount);
  else
    json.milli(amount);
}

void write_block(spec::JsonWriter& json, const core::State& table, const Explanation& why) {
  const core::scheduling::Block& block = why.block;
  const bool counted = block.limit > 0 || block.asked > 0;
  json.key("resource");
  counted ? json.text(block.resource) : json.null();
  for (const auto& [name, amount] :
       {std::pair{"asked", block.asked}, {"in_use", block.in_use}, {"limit", block.limit}}) {
    json.key(name);
    if (counted)
      write_amount(json, block.resource, amount);
    else
      json.null();
  }
  json.key("held_by").begin_array();
  for (const core::scheduling::HeldBy& held : why.held_by) {
    json.begin_object().member("namespace", name_of(table, held.ns)).key("amount");
    write_amount(json, block.resource, held.amount);
    json.key("borrowed");
    write_amount(json, block.resource, held.borrowed);
    json.member("since", held.since).member("until", held.until).end_object();
  }
  json.end_array();
}

}  // namespace

Outlooks look_ahead(core::State& own, Time now, const std::set<JobId>& jobs,
                    const LookOptions& options) {
  const core::State& state = own;
  Outlooks found;
  std::set<JobId> waiting;  // held ones start when somebody says so
  for (const JobId id : jobs) {
    if (!state.jobs.at(id).held) waiting.insert(id);
  }
  Scenarios scenarios(own, now, waiting, options);
  core::scheduling::Glance glance(state, now);
  for (const JobId id : jobs) {
    const core::Job& job = state.jobs.at(id);
    if (found.why.size() >= kExplainedMax) break;
    const auto task = options.tasks.find(id);
    const auto index =
        task == options.tasks.end() ? std::nullopt : std::optional<uint32_t>(task->second);
    auto& why = found.why[id] = core::scheduling::explain(glance, job, false, index);
    if (!job.held) scenarios.confirm(id, why);
  }
  if (!waiting.empty()) found.starts = scenarios.take();
  return found;
}

void write_outlook(spec::JsonWriter& json, const Explanation& why, const ExpectedStart* starts,
                   Time now) {
  json.key("expected_start");
  if (starts) {
    json.begin_object()
        .member("expected", starts->expected)
        .member("earliest", starts->earliest)
        .member("latest", starts->latest)
        .member("not_before", starts->not_before)
        .member("rough", starts->rough)
        .end_object();
  } else {
    json.null();
  }
  json.key("alternatives").begin_array();
  const auto write = [&](const Alternative& each, bool starts_now) {
    json.begin_object().member("change", each.change).key("starts");
    starts_now ? json.text("now") : json.time(each.starts);
    json.member("yields", each.yields).end_object();
  };
  for (const Alternative& each : why.alternatives) write(each, true);
  for (const Alternative& each : why.sooner) write(each, each.starts <= now);
  if (why.nearest) write(*why.nearest, false);
  json.end_array();
}

std::string explanation_body(const core::State& table, const std::string& id, JobState state,
                             const Explanation& why, const ExpectedStart* starts,
                             const char* reason) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object()
      .member("id", id)
      .member("state", kStateWords[static_cast<size_t>(state)])
      .key("reason");
  why.sentence.empty() ? json.null()
                       : json.text(reason ? reason : core::scheduling::reason_word(why));
  json.key("sentence");
  why.sentence.empty() ? json.null() : json.text(why.sentence);
  json.key("waits_for").begin_array();
  for (const JobId other : why.waits_for) json.text(to_string(other));
  json.end_array().member("until", why.until).key("position");
  why.position ? json.number(why.position) : json.null();
  write_block(json, table, why);
  json.member("starts_by", why.starts_by);
  write_outlook(json, why, starts, {});
  json.end_object();
  return body;
}

}  // namespace atl::api
