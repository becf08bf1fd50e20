#include "api/feed.h"

#include "api/context.h"
#include "http/sse.h"

namespace atl::api {
namespace {

constexpr size_t kRecentCommits = 1024;
constexpr size_t kRecentEvents = 100'000;  // about 30 MB at worst, and only while somebody listens
constexpr size_t kFetchCommits =
    8;  // one read of the journal holds the core's thread about a millisecond

}  // namespace

struct Feed::Listener {
  std::shared_ptr<http::Stream> stream;
  EventFilter filter;
  uint64_t sequence = 0;  // the last commit that was sent or had nothing for this listener

  // Under the feed's mutex.
  bool busy = false;   // being served
  bool again = false;  // something came meanwhile
};

void Feed::on_commit(uint64_t sequence, const core::Events& events) {
  std::vector<ListenerPtr> awake;
  {
    const std::lock_guard lock(mutex_);
    latest_ = sequence;
    if (listeners_.empty()) return;
  }
  auto seen = std::make_shared<const SeenCommit>(see(context_.runtime.state(), {sequence, events}));
  {
    const std::lock_guard lock(mutex_);
    recent_.push_back(seen);
    recent_events_ += events.size();
    while (recent_.size() > kRecentCommits ||
           (recent_events_ > kRecentEvents && recent_.size() > 1)) {
      recent_events_ -= recent_.front()->commit.events.size();
      recent_.pop_front();
    }
    awake.assign(listeners_.begin(), listeners_.end());
  }
  for (const ListenerPtr& listener : awake) kick(listener);
}

void Feed::follow(std::shared_ptr<http::Stream> stream, EventFilter filter, uint64_t sequence) {
  auto listener = std::make_shared<Listener>();
  listener->stream = std::move(stream);
  listener->filter = std::move(filter);
  listener->sequence = sequence;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return listener->stream->close();
    latest_ = std::max(latest_, context_.runtime.health().sequence);
    listeners_.insert(listener);
  }
  // Weak, because the stream keeps its callbacks and the listener keeps the stream.
  const std::weak_ptr<Listener> weak = listener;
  listener->stream->on_writable([this, weak] {
    if (const auto alive = weak.lock()) kick(alive);
  });
  listener->stream->on_close([this, weak] {
    if (const auto alive = weak.lock()) kick(alive);
  });
  static_cast<void>(listener->stream->write(http::kSseHeartbeat));
  kick(listener);
}

void Feed::kick(const ListenerPtr& listener) {
  {
    const std::lock_guard lock(mutex_);
    listener->again = true;
    if (listener->busy) return;
    listener->busy = true;
  }
  if (!context_.quick.post([this, listener] { pump(listener); })) drop(listener);
}

// On the pool: sends what is in memory, or has the journal asked.
void Feed::pump(const ListenerPtr& listener) {
  for (;;) {
    if (!listener->stream->is_open()) return drop(listener);
    std::vector<Seen> batch;
    bool behind = false;
    {
      const std::lock_guard lock(mutex_);
      listener->again = false;
      const uint64_t first = recent_.empty() ? UINT64_MAX : recent_.front()->commit.sequence;
      behind = listener->sequence < latest_ && listener->sequence + 1 < first;
      for (const Seen& seen : recent_) {
        if (!behind && seen->commit.sequence > listener->sequence) batch.push_back(seen);
      }
    }
    if (behind) return fetch(listener);
    for (const Seen& seen : batch) {
      if (!send(*listener, *seen))
        return listener->stream->is_open() ? rest(listener) : drop(listener);
    }
    const std::lock_guard lock(mutex_);
    if (listener->again) continue;
    listener->busy = false;
    return;
  }
}

void Feed::fetch(const ListenerPtr& listener) {
  context_.runtime.read([this, listener](const core::State& state) {
    auto commits = context_.journal.read(listener->sequence, kFetchCommits);
    auto batch = std::make_shared<std::vector<SeenCommit>>();
    if (commits) {
      for (journal::Committed& commit : *commits) batch->push_back(see(state, std::move(commit)));
    }
    const bool reset = !commits && commits.error().code == ErrorCode::not_found;
    const uint64_t now = context_.runtime.health().sequence;
    const bool posted = context_.quick.post([this, listener, batch, reset, now] {
      if (reset) {
        // What was missed is gone; the client reads the present afresh and goes on from here.
        const std::string id = std::to_string(now);
        if (!listener->stream->write(http::format_event(
                {.id = id, .event = "reset", .data = "{\"sequence\":" + id + "}"})))
          return rest(listener);
        listener->sequence = now;
      } else if (batch->empty()) {
        return rest(listener);
      }
      for (const SeenCommit& seen : *batch) {
        if (!send(*listener, seen))
          return listener->stream->is_open() ? rest(listener) : drop(listener);
      }
      pump(listener);
    });
    if (!posted) drop(listener);
  });
}

// All events of a commit in one piece, the last with the commit's number, so that a broken stream
// resumes between commits.
bool Feed::send(Listener& listener, const SeenCommit& seen) {
  const auto table = context_.directory.table();
  auto shown = show_commit(*table, context_.history, listener.filter, seen);
  std::string bytes;
  for (size_t i = 0; i < shown.size(); ++i) {
    const bool last = i + 1 == shown.size();
    bytes += http::format_event({.id = last ? std::to_string(seen.commit.sequence) : "",
                                 .event = shown[i].type,
                                 .data = std::move(shown[i].json)});
  }
  if (!bytes.empty() && !listener.stream->write(bytes)) return false;
  listener.sequence = seen.commit.sequence;
  return true;
}

// The client is slow: on_writable or the next commit goes on.
void Feed::rest(const ListenerPtr& listener) {
  const std::lock_guard lock(mutex_);
  listener->busy = false;
}

void Feed::drop(const ListenerPtr& listener) {
  listener->stream->close();
  const std::lock_guard lock(mutex_);
  listeners_.erase(listener);
  if (!listeners_.empty()) return;
  recent_.clear();
  recent_events_ = 0;
}

void Feed::heartbeat() {
  std::vector<ListenerPtr> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(listeners_.begin(), listeners_.end());
  }
  for (const ListenerPtr& listener : all) {
    if (!listener->stream->write(http::kSseHeartbeat) && !listener->stream->is_open())
      kick(listener);
  }
}

void Feed::stop() {
  std::set<ListenerPtr> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    all.swap(listeners_);
  }
  for (const ListenerPtr& listener : all) listener->stream->close();
}

}  // namespace atl::api
