#include "runtime/runtime.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "base/overloaded.h"
#include "core/queue/lease.h"

namespace atl::runtime {
namespace {

bool is_archive(const core::Effect& effect) {
  return match(
      effect, [](const core::ArchiveAttempt&) { return true; },
      [](const core::ArchiveJob&) { return true; }, [](const core::UnarchiveJob&) { return true; },
      [](const core::RememberKey&) { return true; }, [](const core::DropItems&) { return true; },
      [](const auto&) { return false; });
}

Error read_only_error(const std::string& why) {
  return {ErrorCode::unavailable,
          "the server is read-only until its disk takes writes again: " + why,
          {}};
}

}  // namespace

Runtime::Runtime(Clock& clock, journal::Journal& journal, journal::History& history,
                 Options options)
    : clock_(clock),
      journal_(journal),
      history_(history),
      options_(options),
      last_wall_(clock.now()) {}

Runtime::~Runtime() { stop(); }

void Runtime::add_driver(const std::string& site, std::shared_ptr<site::SiteDriver> driver) {
  drivers_.put(site, std::move(driver));
}

void Runtime::set_notice_sender(NoticeSender sender) { notice_sender_ = std::move(sender); }
void Runtime::set_secret_opener(SecretOpener opener) { secret_opener_ = std::move(opener); }
void Runtime::set_steward(Steward steward) { steward_ = std::move(steward); }
void Runtime::on_commit(CommitListener listener) { listeners_.push_back(std::move(listener)); }
void Runtime::on_turn(std::function<void()> upkeep) { upkeep_.push_back(std::move(upkeep)); }

Result<void> Runtime::open() {
  auto loaded = journal_.load();
  if (!loaded) return tl::unexpected(loaded.error());
  state_ = std::move(loaded->state);
  sequence_ = loaded->sequence;
  last_now_ = std::max(last_now_, state_.now);
  tick_due_ = true;
  std::lock_guard lock(mutex_);
  health_.sequence = sequence_;
  health_.damage = std::move(loaded->warning);
  return {};
}

void Runtime::post(Submission submission, Reply reply) {
  {
    std::lock_guard lock(mutex_);
    if (inputs_.size() < options_.queue_max && !stopping_) {
      inputs_.push_back(PendingRequest{std::move(submission), std::move(reply)});
      reply = nullptr;
    }
  }
  if (reply) {
    reply(fail(ErrorCode::exhausted, "too many requests are waiting; try again in a moment"));
    return;
  }
  wake_.notify_one();
}

void Runtime::post(core::Report report, std::vector<journal::Blob> blobs) {
  {
    std::lock_guard lock(mutex_);
    inputs_.push_back(PendingReport{std::move(report), std::move(blobs)});
  }
  wake_.notify_one();
}

void Runtime::read(Read read) {
  {
    std::lock_guard lock(mutex_);
    reads_.push_back(std::move(read));
  }
  wake_.notify_one();
}

std::deque<Runtime::Pending> Runtime::take_inputs() {
  std::lock_guard lock(mutex_);
  if (inputs_.size() <= options_.inputs_per_turn) return std::exchange(inputs_, {});
  std::deque<Pending> taken;
  for (size_t i = 0; i < options_.inputs_per_turn; ++i) {
    taken.push_back(std::move(inputs_.front()));
    inputs_.pop_front();
  }
  return taken;
}

std::deque<Read> Runtime::take_reads() {
  std::lock_guard lock(mutex_);
  return std::exchange(reads_, {});
}

// Never backwards: after the wall clock was set back, time goes on at half its speed until the wall
// clock has caught up.
Time Runtime::advance_clock() {
  const Time wall = clock_.now();
  const Duration passed = std::max(Duration{}, wall - last_wall_);
  last_wall_ = wall;
  last_now_ = std::max(last_now_ + Duration{passed.us / 2}, wall);
  return last_now_;
}

bool Runtime::step() {
  const Time begun = clock_.now();
  if (std::exchange(upkeep_owed_, false)) {
    run_upkeep();
    return true;
  }
  if (health().read_only) recover();
  std::deque<Pending> inputs = take_inputs();
  Turn turn;
  turn.now = advance_clock();
  const Time deadline = begun + options_.turn;
  while (!inputs.empty()) {
    decide_input(turn, std::move(inputs.front()));
    inputs.pop_front();
    // A large batch may use up the turn; what is left goes first in the next one.
    const bool large = turn.batch.events.size() + turn.items > 1000;
    const bool over = large && clock_.now() > deadline;
    if (!inputs.empty() && (over || ahead_of_history(turn, inputs.front()))) {
      std::lock_guard lock(mutex_);
      inputs_.insert(inputs_.begin(), std::make_move_iterator(inputs.begin()),
                     std::make_move_iterator(inputs.end()));
      break;
    }
  }
  if (!health().read_only) tick(turn);
  const bool worked = !turn.batch.events.empty() || !turn.answers.empty();
  commit(turn);
  const bool read = run_reads();
  // After a long turn it gets one of its own, so that nobody waits for both.
  upkeep_owed_ = clock_.now() - begun > options_.turn;
  if (!upkeep_owed_) run_upkeep();
  return worked || read || upkeep_owed_;
}

void Runtime::run_upkeep() {
  for (const auto& upkeep : upkeep_) upkeep();
}

bool Runtime::ahead_of_history(const Turn& turn, const Pending& pending) {
  const auto* request = std::get_if<PendingRequest>(&pending);
  if (!request || turn.ended.empty()) return false;
  const core::Command& command = request->submission.request.command;
  if (const auto* requeue = std::get_if<core::RequeueJob>(&command)) {
    return turn.ended.count(requeue->id) > 0;
  }
  const auto* submit = std::get_if<core::SubmitJobs>(&command);
  if (!submit) return false;
  for (const core::SubmitJob& job : submit->jobs) {
    for (const core::Dependency& dependency : job.dependencies) {
      if (turn.ended.count(dependency.job)) return true;
    }
  }
  return false;
}

void Runtime::decide_input(Turn& turn, Pending pending) {
  match(
      std::move(pending), [&](PendingRequest request) { decide_request(turn, std::move(request)); },
      [&](PendingReport report) { decide_report(turn, std::move(report)); });
}

void Runtime::decide_request(Turn& turn, PendingRequest pending) {
  const auto answer = [&](Result<Accepted> result) {
    turn.answers.push_back({std::move(pending.reply), std::move(result)});
  };
  if (const Health now = health(); now.read_only)
    return answer(tl::unexpected(read_only_error(now.why)));
  if (const auto& precondition = pending.submission.precondition) {
    if (const auto met = precondition(state_); !met) return answer(tl::unexpected(met.error()));
  }
  core::Request& request = pending.submission.request;
  const auto known = known_keys(turn, request);
  if (!known) return answer(tl::unexpected(known.error()));
  if (!known->empty()) return answer(Accepted{{}, *known, true, sequence_});
  if (auto completed = complete(request); !completed)
    return answer(tl::unexpected(completed.error()));
  auto events = core::decide(state_, {turn.now, std::move(request)});
  if (!events) return answer(tl::unexpected(events.error()));
  Accepted accepted;
  accepted.events = *events;
  for (const core::Event& event : *events) {
    const auto* submitted = std::get_if<core::JobSubmitted>(&event.body);
    if (!submitted) continue;
    accepted.jobs.push_back(submitted->id);
    if (!submitted->key.empty()) turn.keys[{submitted->user, submitted->key}] = submitted->id;
  }
  for (journal::Blob& blob : pending.submission.blobs) {
    payloads_.remember(blob.digest, blob.bytes);
    turn.batch.blobs.push_back(std::move(blob));
  }
  keep_bodies(turn, *events, std::move(pending.submission.bodies));
  absorb(turn, std::move(*events));
  answer(std::move(accepted));
}

// Gives each body the number of its item; that of one which was there already is not needed.
void Runtime::keep_bodies(Turn& turn, const core::Events& events, std::vector<std::string> bodies) {
  const auto* put = events.empty() ? nullptr : std::get_if<core::ItemsPut>(&events.front().body);
  if (!put) return;
  CHECK(bodies.size() == core::queue::items_in(*put), "items are put without their bodies");
  auto repeated = put->repeated.begin();
  uint64_t next = put->first.value;
  for (size_t place = 0; place < bodies.size(); ++place) {
    if (repeated != put->repeated.end() && repeated->place == place)
      ++repeated;
    else
      turn.batch.bodies.push_back({put->queue, ItemId{next++}, std::move(bodies[place])});
  }
}

void Runtime::decide_report(Turn& turn, PendingReport pending) {
  if (health().read_only) {
    std::lock_guard lock(mutex_);
    inputs_.push_back(std::move(pending));
    return;
  }
  auto events = core::decide(state_, {turn.now, pending.report});
  CHECK(events.has_value(), "a report is never refused");
  const auto* ended = std::get_if<core::AttemptEnded>(&pending.report);
  if (ended && events->empty()) turn.stale.push_back(ended->attempt);
  if (!events->empty()) {
    for (const journal::Blob& blob : pending.blobs) {
      payloads_.remember(blob.digest, blob.bytes);
      turn.batch.blobs.push_back(blob);
    }
  }
  absorb(turn, std::move(*events));
  turn.reports.push_back(std::move(pending));
}

void Runtime::tick(Turn& turn) {
  const Time due = core::next_timer(state_, ticked_);
  const bool timer = due && due <= turn.now;
  if (!tick_due_ && !timer) return;
  ticked_ = turn.now;
  for (uint32_t i = 0; i < options_.ticks_per_turn; ++i) {
    auto events = core::decide(state_, {turn.now, core::Tick{}});
    CHECK(events.has_value(), "a tick is never refused");
    if (events->empty()) {
      tick_due_ = false;
      return;
    }
    absorb(turn, std::move(*events));
  }
}

void Runtime::absorb(Turn& turn, core::Events events) {
  if (events.empty()) return;
  for (core::Event& event : events) {
    turn.items += core::queue::items_in(event.body);
    for (core::Effect& effect : core::apply(state_, event)) {
      (is_archive(effect) ? turn.batch.archive : turn.outward).push_back(std::move(effect));
    }
    // A step that goes through the queue may have something to do now.
    const auto feeder = state_.feeders.lower_bound({core::queue::queue_in(event.body), {}});
    tick_due_ |=
        !core::queue::only_items(event.body) ||
        (feeder != state_.feeders.end() && feeder->first == core::queue::queue_in(event.body));
    if (const auto* ended = std::get_if<core::JobEnded>(&event.body)) turn.ended.insert(ended->id);
    turn.batch.events.push_back(std::move(event));
  }
}

bool Runtime::commit(Turn& turn) {
  if (!turn.batch.events.empty()) {
    const auto sequence = journal_.commit(turn.batch);
    if (!sequence) {
      refuse(turn, sequence.error());
      return false;
    }
    sequence_ = *sequence;
    for (const CommitListener& listener : listeners_) listener(sequence_, turn.batch.events);
  }
  {
    std::lock_guard lock(mutex_);
    health_.sequence = sequence_;
    health_.turns += 1;
    health_.events += turn.batch.events.size();
  }
  for (Answer& answer : turn.answers) {
    if (!answer.reply) continue;
    if (answer.result) answer.result->sequence = sequence_;
    answer.reply(std::move(answer.result));
  }
  send(std::move(turn.outward));
  // The sites' copies of results that no longer matter are dropped as well.
  if (!turn.stale.empty()) {
    for (const auto& [name, driver] : *drivers_.all()) driver->forget(turn.stale);
  }
  return true;
}

// Nothing of the turn is durable: its callers hear so, its reports wait, and the state goes back to
// what is.
void Runtime::refuse(Turn& turn, const Error& error) {
  {
    std::lock_guard lock(mutex_);
    health_.read_only = true;
    health_.why = error.message;
    for (auto it = turn.reports.rbegin(); it != turn.reports.rend(); ++it)
      inputs_.push_front(std::move(*it));
  }
  trial_at_ = turn.now + options_.trial_pause;
  const Result<void> reopened = open();
  CHECK(reopened.has_value(), "the durable state cannot be read back: " + reopened.error().message);
  for (Answer& answer : turn.answers) {
    const bool refused = !answer.result;
    if (answer.reply)
      answer.reply(refused ? std::move(answer.result)
                           : tl::unexpected(read_only_error(error.message)));
  }
}

void Runtime::recover() {
  const Time now = advance_clock();
  if (now < trial_at_) return;
  trial_at_ = now + options_.trial_pause;
  const auto written = journal_.trial_write();
  {
    std::lock_guard lock(mutex_);
    health_.read_only = !written;
    health_.why = written ? "" : written.error().message;
  }
  if (!written) return;
  tick_due_ = true;
  // The commit that failed may have reached the disk after all; what it asked for was never sent.
  send(core::pending_effects(state_));
}

bool Runtime::run_reads() {
  std::deque<Read> reads = take_reads();
  for (const Read& read : reads) read(state_);
  return !reads.empty();
}

Time Runtime::next_wake() const {
  if (health().read_only) return trial_at_;
  if (tick_due_) return last_now_;
  return core::next_timer(state_, ticked_);
}

void Runtime::start() {
  thread_ = std::thread([this] {
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (stopping_) return;
      }
      const auto begun = std::chrono::steady_clock::now();
      const bool worked = step();
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - begun);
      const bool read_only = note_turn({took.count()});
      // Reports put back while read-only would spin; wait() sleeps until the trial instead.
      if (!worked || read_only) wait();
    }
  });
}

bool Runtime::note_turn(Duration took) {
  std::lock_guard lock(mutex_);
  health_.longest_turn = std::max(health_.longest_turn, took);
  return health_.read_only;
}

void Runtime::wait() {
  const Time wake = next_wake();
  const Time now = advance_clock();
  const bool read_only = health().read_only;
  constexpr int64_t kIdleUs = 1'000'000;  // upkeep looks around once a second
  const int64_t us = wake ? std::clamp<int64_t>(wake.us - now.us, 0, kIdleUs) : kIdleUs;
  std::unique_lock lock(mutex_);
  const auto due = [&] { return stopping_ || !reads_.empty() || (!inputs_.empty() && !read_only); };
  wake_.wait_for(lock, std::chrono::microseconds(read_only ? std::min<int64_t>(us, 50'000) : us),
                 due);
}

void Runtime::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Health Runtime::health() const {
  std::lock_guard lock(mutex_);
  Health health = health_;
  health.queued = inputs_.size();
  return health;
}

}  // namespace atl::runtime
