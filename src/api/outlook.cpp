#include "api/outlook.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "api/context.h"
#include "base/text.h"
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
constexpr size_t kExplainedMax = 10;  // jobs of one question

uint32_t ends_per_round(const core::State& state) {
  size_t running = 0;
  for (const auto& [id, site] : state.sites) {
    for (const auto& [name, node] : site.nodes) running += node.holders.size();
  }
  return static_cast<uint32_t>(std::max<size_t>(1, running / kRoundsToTurn));
}

core::ForecastOptions options_for(const core::State& state, int32_t quantile,
                                  Steady::time_point deadline) {
  return {.quantile_milli = quantile,
          .ends_per_round = ends_per_round(state),
          .go_on = [deadline](uint64_t) { return Steady::now() < deadline; }};
}

// One line for each job, from copy to copy, and one that says that these are all.
std::string starts_text(const Starts& starts) {
  std::string out;
  for (const auto& [id, each] : starts)
    out += std::to_string(id.value) + " " + std::to_string(each.at.us) + " " +
           std::to_string(each.not_before.us) + (each.rough ? " 1\n" : " 0\n");
  return out + "all\n";
}

// The last that was said in full.
Starts starts_of(const std::string& text) {
  Starts whole, some;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (line == "all") whole = std::exchange(some, {});
    if (words.size() != 4) continue;
    int64_t numbers[4] = {};
    for (size_t i = 0; i < 4; ++i)
      std::from_chars(words[i].data(), words[i].data() + words[i].size(), numbers[i]);
    some[JobId{static_cast<uint64_t>(numbers[0])}] = {{numbers[1]}, {numbers[2]}, numbers[3] != 0};
  }
  return whole;
}

// Three runs, which need a state each. A small one is copied. For a large one the process is copied
// once more, so that the runs go on side by side, and what they have found when the time is up
// counts.
class Scenarios {
 public:
  Scenarios(const core::State& state, Time now, const std::set<JobId>& jobs)
      : state_(state), now_(now), jobs_(jobs), small_(state.jobs.size() <= kSmall) {
    if (small_ || jobs.empty()) return;
    for (const int32_t quantile : kQuantiles) {
      const auto work = [&](const runtime::Copy::Tell& tell) {
        (void)!::nice(10);  // the explanation itself goes first
        auto options = options_for(state_, quantile, begun_ + kTimeMax);
        options.so_far = [&](const Starts& starts) { tell(starts_text(starts)); };
        auto& own = const_cast<core::State&>(state_);  // nobody else has this copy
        tell(starts_text(core::run_ahead(own, now_, jobs_, options)));
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
      if (copy != copies_.end()) found[quantile] = starts_of(copy->second->heard());
      if (small_)
        found[quantile] = core::forecast(
            state_, now_, jobs_, options_for(state_, quantile, Steady::now() + kTimeMax / 3));
      // On a busy machine a copy may not have come to say anything.
      if (found[quantile].empty()) found[quantile] = roughly(quantile);
    }
    std::map<JobId, ExpectedStart> spread;
    for (const auto& [id, each] : found[kMedian])
      spread[id] = spread_of(each, found[kShort][id], found[kLong][id]);
    return spread;
  }

  // What the sooner ones would come to, with the others that wait beside them: those that are not
  // sooner then are left out.
  void correct(JobId id, Explanation& why) const {
    const core::Job& job = state_.jobs.at(id);
    if (!small_ || job.gang || core::has_placed(job) || why.sooner.empty()) return;
    const auto options = options_for(state_, kMedian, Steady::now() + kTimeMax / 3);
    const Time own = core::forecast(state_, now_, {id}, options).at(id).at;
    std::vector<Alternative> kept;
    for (Alternative& each : why.sooner) {
      each.starts = core::forecast_changed(state_, now_, id, each.terms, options).at;
      if (each.starts && (!own || each.starts < own)) kept.push_back(std::move(each));
    }
    why.sooner = std::move(kept);
  }

 private:
  Starts roughly(int32_t quantile) const {
    Starts starts;
    for (const JobId id : jobs_) {
      if (starts.size() < kExplainedMax)
        starts[id] = core::rough_forecast(state_, now_, id, quantile);
    }
    return starts;
  }

  // Later ends can make a job start earlier, because others get out of its way.
  static ExpectedStart spread_of(const core::Outlook& median, const core::Outlook& early,
                                 const core::Outlook& late) {
    // With the short run times it starts soonest: before that one came no run says anything.
    ExpectedStart start{median.at, median.at, median.at, early.not_before, median.rough};
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

Outlooks look_ahead(const core::State& state, Time now, const std::set<JobId>& jobs) {
  Outlooks found;
  std::set<JobId> waiting;  // held ones start when somebody says so
  for (const JobId id : jobs) {
    if (!state.jobs.at(id).held) waiting.insert(id);
  }
  Scenarios scenarios(state, now, waiting);
  for (const JobId id : jobs) {
    const core::Job& job = state.jobs.at(id);
    if (found.why.size() >= kExplainedMax) break;
    auto& why = found.why[id] = core::scheduling::explain(state, job, false, now);
    if (!job.held) scenarios.correct(id, why);
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
  for (const auto* list : {&why.alternatives, &why.sooner}) {
    for (const Alternative& each : *list) {
      json.begin_object().member("change", each.change).key("starts");
      list == &why.alternatives || each.starts <= now ? json.text("now") : json.time(each.starts);
      json.end_object();
    }
  }
  json.end_array();
}

std::string explanation_body(const core::State& table, JobId id, JobState state,
                             const Explanation& why, const ExpectedStart* starts) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object()
      .member("id", to_string(id))
      .member("state", kStateWords[static_cast<size_t>(state)])
      .key("reason");
  why.sentence.empty() ? json.null() : json.text(core::scheduling::reason_word(why));
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
