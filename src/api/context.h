// What handlers work with. For the sources of this room only.
#pragma once

#include <atomic>
#include <chrono>

#include "api/cloudmesh_counts.h"
#include "api/cloudmesh_store.h"
#include "api/endpoint.h"
#include "api/feed.h"
#include "api/lease_waiters.h"
#include "api/log_follower.h"
#include "api/metrics.h"
#include "api/problem.h"
#include "api/service.h"
#include "auth/authenticator.h"
#include "auth/directory.h"
#include "core/authorize.h"
#include "runtime/aside.h"
#include "runtime/pool.h"
#include "spec/json_writer.h"

namespace atl::api {

using runtime::Pool;

struct Context {
  Context(runtime::Runtime& runtime_, journal::Journal& journal_, journal::History& history_,
          Options options_);

  runtime::Runtime& runtime;
  journal::Journal& journal;  // on the runtime's thread only
  journal::History& history;
  const site::DriverTable& drivers;
  const Options options;
  auth::Directory directory;
  auth::Authenticator authenticator;
  Metrics metrics;
  std::atomic<size_t> streams{0};
  Pool quick;
  Pool slow;
  runtime::Aside aside;
  Feed feed;
  LogFollower follower;
  LeaseWaiters waiters;
  CloudmeshStore cloudmesh;
  CloudmeshCounts counts;
};

// One request, after authentication.
struct Call : std::enable_shared_from_this<Call> {
  Call(Context& context_, size_t endpoint_index, std::shared_ptr<http::Exchange> exchange_)
      : context(context_), index(endpoint_index), exchange(std::move(exchange_)) {}

  Context& context;
  const size_t index;  // in endpoints()
  std::shared_ptr<http::Exchange> exchange;
  core::Actor actor;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  const http::Request& request() const { return exchange->request(); }
  void respond(http::Response response);
  void respond_json(std::string body, int status = 200, http::Headers headers = {});
  void respond_empty(int status = 204);
  void refuse(const Error& error);
  void refuse(int status, const Error& error);
  std::shared_ptr<http::Stream> stream(int status, http::Headers headers);

  // The query's parameters against the endpoint's list: unknown names, wrong types and bounds.
  [[nodiscard]] Result<void> check_query() const;
  std::vector<std::string> query_all(std::string_view name) const;
  [[nodiscard]] Result<int64_t> query_int(std::string_view name,
                                          int64_t fallback) const;  // checked already
  [[nodiscard]] Result<Selector> selector() const;                  // of {id}
};

// How the endpoint tells an error.
http::Response refusal(const Context& context, size_t endpoint, int status, const Error& error,
                       std::string_view request_id);

// Begins a server-sent event stream, or refuses the call (null) when there are too many.
std::shared_ptr<http::Stream> open_stream(const CallPtr& call);

// Posts to a pool, or refuses the call when it is full.
void run_on(Pool& pool, const CallPtr& call, std::function<void()> work);

// Looks at the state on the runtime's thread, which must take well under a millisecond, then shows
// what it found on the pool's. `look` returns Result<T>; `show` takes a T.
template <class Look, class Show>
void view(const CallPtr& call, Look look, Show show) {
  call->context.runtime.read(
      [call, look = std::move(look), show = std::move(show)](const core::State& state) mutable {
        auto found = look(state);
        if (!found) return call->refuse(found.error());
        auto kept = std::make_shared<std::decay_t<decltype(*found)>>(std::move(*found));
        run_on(call->context.quick, call, [kept, show]() mutable { show(std::move(*kept)); });
      });
}

// Sends a command; `done` runs on the runtime's thread once it is durable.
template <class Done>
void command(const CallPtr& call, core::Command what, std::vector<journal::Blob> blobs, Done done,
             runtime::Precondition precondition = {}) {
  runtime::Submission submission{
      {call->actor, std::move(what)}, std::move(blobs), std::move(precondition)};
  call->context.runtime.post(std::move(submission),
                             [call, done = std::move(done)](Result<runtime::Accepted> accepted) {
                               if (!accepted) return call->refuse(accepted.error());
                               done(*accepted);
                             });
}

// The body as a described structure, or the call is refused and nothing is returned. An empty body
// is an empty object.
template <class T>
std::optional<T> body_of(const CallPtr& call) {
  const std::string body = call->exchange->take_body();
  auto parsed = body.empty() ? spec::parse_json<T>("{}") : spec::parse_json<T>(body);
  if (parsed) return std::move(*parsed);
  call->refuse(parsed.error());
  return std::nullopt;
}

// The first event of that kind that the command decided, or null.
template <class Body>
const Body* event_of(const runtime::Accepted& accepted) {
  for (const core::Event& event : accepted.events) {
    if (const auto* body = std::get_if<Body>(&event.body)) return body;
  }
  return nullptr;
}

std::string name_of(const core::State& table, UserId id);
std::string name_of(const core::State& table, NamespaceId id);
std::string name_of(const core::State& table, SiteId id);
std::string name_of(const core::State& table, CohortId id);

}  // namespace atl::api
