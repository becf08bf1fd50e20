#include "api/log_follower.h"

#include "api/context.h"
#include "api/job_lookup.h"
#include "api/log_chunk.h"
#include "http/sse.h"

namespace atl::api {
namespace {

constexpr size_t kChunk = 64 << 10;
constexpr auto kPauseShort = std::chrono::milliseconds(50);  // while output comes
constexpr auto kPauseLong =
    std::chrono::milliseconds(400);  // while it does not; a commit wakes us anyway
constexpr auto kHeartbeat = std::chrono::seconds(15);

JobId only_job(JobId id) { return id; }
template <class Other>
JobId only_job(Other) {
  return {};
}

}  // namespace

struct LogFollower::Reader {
  std::shared_ptr<http::Stream> stream;
  Wish wish;

  // What the state said at the last look.
  bool job_live = false;
  bool task_live = false;                 // placed, in back-off, or waiting
  uint32_t current = 0;                   // the attempt that is placed; zero: none
  std::string site;                       // of the attempt being read
  std::optional<core::Outcome> unplaced;  // how the task ended, if it did so while it waited

  Clock::duration pause = kPauseShort;
  Clock::time_point last_sent = Clock::now();
  bool woken = false;  // under mutex_: the job moved while the reader was being looked after
};

JobId job_of(const core::EventBody& body) {
  return std::visit(
      [](const auto& event) -> JobId {
        using Body = std::remove_cvref_t<decltype(event)>;
        if constexpr (requires { event.attempt.job; })
          return event.attempt.job;
        else if constexpr (std::is_same_v<Body, core::BackoffEnded>)
          return event.task.job;
        else if constexpr (std::is_same_v<Body, core::JobReopened>)
          return event.job.id;
        else if constexpr (std::is_same_v<Body, core::NoticeSettled>)
          return event.job;
        else if constexpr (requires { event.id; })
          return only_job(event.id);
        else
          return JobId{};
      },
      body);
}

LogFollower::LogFollower(Context& context) : context_(context), thread_([this] { run(); }) {}

LogFollower::~LogFollower() { stop(); }

void LogFollower::every_interval(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  interval_work_ = std::move(work);
}

void LogFollower::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    due_.clear();
    by_job_.clear();
  }
  wake_.notify_all();
  thread_.join();
}

void LogFollower::follow(std::shared_ptr<http::Stream> stream, const Wish& wish) {
  auto reader = std::make_shared<Reader>();
  reader->stream = std::move(stream);
  reader->wish = wish;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return reader->stream->close();
    by_job_.emplace(wish.task.job, reader);
  }
  schedule(reader, {});
}

void LogFollower::on_commit(const core::Events& events) {
  const std::lock_guard lock(mutex_);
  if (by_job_.empty()) return;
  bool any = false;
  for (const core::Event& event : events) {
    const JobId job = job_of(event.body);
    for (auto [at, end] = by_job_.equal_range(job); at != end; ++at) {
      any = true;
      at->second->woken = true;
    }
  }
  if (!any) return;
  for (auto it = due_.begin(); it != due_.end();) {
    if (!it->second->woken || it->first == Clock::time_point{}) {
      ++it;
      continue;
    }
    due_.emplace(Clock::time_point{}, it->second);
    it = due_.erase(it);
  }
  wake_.notify_one();
}

void LogFollower::schedule(const ReaderPtr& reader, Clock::duration pause) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  const bool now = reader->woken || pause == Clock::duration{};
  reader->woken = false;
  due_.emplace(now ? Clock::time_point{} : Clock::now() + pause, reader);
  wake_.notify_one();
}

void LogFollower::forget(const ReaderPtr& reader) {
  const std::lock_guard lock(mutex_);
  for (auto [at, end] = by_job_.equal_range(reader->wish.task.job); at != end; ++at) {
    if (at->second != reader) continue;
    by_job_.erase(at);
    return;
  }
}

void LogFollower::run() {
  Clock::time_point beat = Clock::now() + kHeartbeat;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Clock::time_point next = due_.empty() ? beat : std::min(beat, due_.begin()->first);
    if (next > Clock::now()) {
      wake_.wait_until(lock, next);
      continue;
    }
    std::vector<ReaderPtr> ready;
    while (!due_.empty() && due_.begin()->first <= Clock::now()) {
      ready.push_back(due_.begin()->second);
      due_.erase(due_.begin());
    }
    std::function<void()> work;
    if (beat <= Clock::now()) {
      beat += kHeartbeat;
      work = interval_work_;
    }
    lock.unlock();
    for (const ReaderPtr& reader : ready) look(reader);
    if (work) work();
    lock.lock();
  }
}

// On the runtime's thread: where is the task now?
void LogFollower::look(const ReaderPtr& reader) {
  context_.runtime.read([this, reader](const core::State& state) {
    const core::Job* job = state.job(reader->wish.task.job);
    reader->job_live = job != nullptr;
    reader->task_live = false;
    reader->current = 0;
    reader->unplaced.reset();
    if (job) {
      reader->unplaced = unplaced_outcome(*job, reader->wish.task.index);
      const auto task = job->tasks.find(reader->wish.task.index);
      reader->task_live =
          task != job->tasks.end() || job->waiting.contains(reader->wish.task.index);
      const core::Placement* placement =
          task == job->tasks.end() ? nullptr : core::placement_of(task->second.state);
      if (placement) {
        reader->current = task->second.attempt;
        if (reader->wish.attempt == 0) reader->wish.attempt = reader->current;
        if (reader->wish.attempt == reader->current) reader->site = name_of(state, placement->site);
      }
    }
    if (!context_.quick.post([this, reader] { read(reader); })) reader->stream->close();
  });
}

// On the pool: send what is new, then decide whether more can come.
void LogFollower::read(const ReaderPtr& reader) {
  if (!reader->stream->is_open()) return forget(reader);
  const bool over = !reader->task_live || reader->current != reader->wish.attempt;
  const bool moved = reader->wish.attempt != 0 && read_attempt(*reader, over);
  if (!moved && settle(*reader)) return forget(reader);
  reader->pause = moved ? kPauseShort : std::min<Clock::duration>(reader->pause * 2, kPauseLong);
  if (!moved && Clock::now() - reader->last_sent > kHeartbeat) {
    reader->last_sent = Clock::now();
    if (!reader->stream->write(http::kSseHeartbeat) && !reader->stream->is_open())
      return forget(reader);
  }
  schedule(reader, moved ? std::chrono::milliseconds(1) : reader->pause);
}

// True when bytes were sent, or could not be sent yet.
bool LogFollower::read_attempt(Reader& reader, bool over) {
  Wish& wish = reader.wish;
  if (reader.site.empty()) {
    const auto ended = context_.history.attempts(
        wish.task.job, {wish.task.job, wish.task.index, wish.attempt - 1}, 1);
    const bool found =
        ended && !ended->empty() &&
        ended->front().attempt == AttemptId{wish.task.job, wish.task.index, wish.attempt};
    if (!found) return false;
    reader.site = name_of(*context_.directory.table(), ended->front().placement.site);
  }
  const auto driver = driver_for(context_, reader.site);
  if (!driver) return false;
  const auto chunk = (*driver)->logs({wish.task.job, wish.task.index, wish.attempt}, wish.stream,
                                     wish.offset, kChunk);
  if (!chunk || chunk->bytes.empty()) return false;
  std::string events;
  if (chunk->offset > wish.offset) {
    events = http::format_event({.id = {},
                                 .event = "cut",
                                 .data = "{\"from\":" + std::to_string(wish.offset) +
                                         ",\"to\":" + std::to_string(chunk->offset) + "}"});
  }
  std::string_view bytes = chunk->bytes;
  const int64_t end = chunk->offset + static_cast<int64_t>(bytes.size());
  // A character that is still being written waits for its other half, unless nothing follows.
  if (const size_t whole = whole_characters(bytes); whole > 0 && !(over && end >= chunk->size))
    bytes = bytes.substr(0, whole);
  const int64_t next = chunk->offset + static_cast<int64_t>(bytes.size());
  events += log_event(bytes, wish.attempt, next);
  if (!reader.stream->write(events)) return true;
  reader.last_sent = Clock::now();
  wish.offset = next;
  return true;
}

// Everything of the attempt was sent: true when the stream has ended, else the reader goes on,
// perhaps with the next.
bool LogFollower::settle(Reader& reader) {
  if (!reader.task_live) {
    finish(reader);
    return true;
  }
  if (reader.current > reader.wish.attempt && reader.wish.attempt != 0) {
    const std::string next = std::to_string(reader.current);
    if (!reader.stream->write(http::format_event(
            {.id = next + ".0", .event = "attempt", .data = "{\"attempt\":" + next + "}"})))
      return false;
    reader.wish.attempt = reader.current;
    reader.wish.offset = 0;
    reader.site.clear();
  }
  return false;
}

// A task that ended while it waited, for its first attempt or the next, has an outcome that none of
// its attempts tells.
std::optional<core::Outcome> LogFollower::outcome_of(const Reader& reader,
                                                     const journal::EndedAttempt* last) {
  const auto of_attempt = last ? std::optional(last->outcome) : std::nullopt;
  if (reader.unplaced) return reader.unplaced;
  if (reader.job_live) return of_attempt;
  const TaskId task = reader.wish.task;
  const auto job = context_.history.job(task.job);
  if (!job) return of_attempt;
  if (const auto unplaced = unplaced_outcome(job->job, task.index)) return unplaced;
  return of_attempt ? of_attempt : job->outcome;
}

void LogFollower::finish(Reader& reader) {
  const TaskId task = reader.wish.task;
  const auto found = context_.history.last_attempt(task.job, task.index);
  const journal::EndedAttempt* last = found && *found ? &**found : nullptr;
  const auto outcome = outcome_of(reader, last);
  // What the last attempt returned is not how the task ended when the two differ.
  const core::AttemptResult* result = last && outcome == last->outcome ? &last->result : nullptr;
  std::string data;
  spec::JsonWriter json(data);
  json.begin_object().member("id", to_string(task, reader.wish.array)).key("outcome");
  outcome ? json.text(enum_name(*outcome)) : json.null();
  json.key("exit_code");
  result && result->signal == 0 ? json.number(int64_t{result->exit_code}) : json.null();
  json.key("signal");
  result && result->signal != 0 ? json.number(int64_t{result->signal}) : json.null();
  json.member("message", result ? std::string_view(result->message) : std::string_view());
  json.end_object();
  static_cast<void>(
      reader.stream->write(http::format_event({.id = {}, .event = "end", .data = data})));
  reader.stream->close();
}

}  // namespace atl::api
