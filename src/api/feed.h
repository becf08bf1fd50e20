// Commits as they happen, for GET /events: numbered by the journal, resumable while the journal
// still has them.
//
// While anybody listens, the latest commits are kept in memory; a listener that is further behind
// is served from the journal in small pieces on the runtime's thread. Each listener is in one place
// at a time.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "api/event_view.h"
#include "http/exchange.h"

namespace atl::api {

struct Context;

class Feed {
 public:
  explicit Feed(Context& context) : context_(context) {}

  // On the runtime's thread after each commit. Costs nothing while nobody listens.
  void on_commit(uint64_t sequence, const core::Events& events);

  // Streams what comes after `sequence` until the client goes; on the runtime's thread or before it
  // runs.
  void follow(std::shared_ptr<http::Stream> stream, EventFilter filter, uint64_t sequence);

  void heartbeat();
  void stop();

 private:
  struct Listener;
  using ListenerPtr = std::shared_ptr<Listener>;
  using Seen = std::shared_ptr<const SeenCommit>;

  void kick(const ListenerPtr& listener);
  void pump(const ListenerPtr& listener);
  void fetch(const ListenerPtr& listener);
  bool send(Listener& listener, const SeenCommit& seen);
  void rest(const ListenerPtr& listener);
  void drop(const ListenerPtr& listener);

  Context& context_;
  std::mutex mutex_;
  std::set<ListenerPtr> listeners_;
  std::deque<Seen> recent_;
  size_t recent_events_ = 0;
  uint64_t latest_ = 0;
  bool stopped_ = false;
};

}  // namespace atl::api
