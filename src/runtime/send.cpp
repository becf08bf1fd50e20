// What the core asked of the outside, handed to the sites' drivers and the notifier.
#include "base/check.h"
#include "base/overloaded.h"
#include "runtime/runtime.h"
#include "runtime/task_payload.h"

namespace atl::runtime {

void Runtime::send(core::Effects effects) {
  std::map<SiteId, std::vector<site::StartOrder>> starts;
  std::map<SiteId, std::vector<site::StopOrder>> stops;
  std::map<SiteId, std::vector<AttemptId>> forgets;
  for (const core::Effect& effect : effects) {
    match(
        effect,
        [&](const core::StartAttempt& e) {
          site::StartOrder order = start_order(e);
          const auto ready = add_secrets(e.ns, order.payload);
          if (ready) return starts[e.placement.site].push_back(std::move(order));
          core::AttemptResult never;
          never.cause = core::EndCause::start_error;
          never.message = ready.error().message;
          post(core::AttemptEnded{e.attempt, std::move(never)});
        },
        [&](const core::StopAttempt& e) {
          stops[e.site].push_back({e.attempt, e.grace, e.unless_begun, e.reason, e.deadline});
        },
        [&](const core::ForgetAttempt& e) { forgets[e.site].push_back(e.attempt); },
        [&](const core::SendNotice& e) {
          if (notice_sender_) notice_sender_(e.notice);
        },
        [&](const core::PrepareStep& e) {
          if (steward_.prepare) steward_.prepare(e);
        },
        [&](const core::CollectStep& e) {
          if (steward_.collect) steward_.collect(e);
        },
        [&](const core::TimeSchedule& e) {
          if (steward_.time) steward_.time(e);
        },
        [&](const core::OpenRun& e) {
          if (steward_.open) steward_.open(e);
        },
        [](const auto&) {});
  }
  const auto drivers = drivers_.all();
  const auto driver = [&](SiteId id) -> site::SiteDriver* {
    const auto site = state_.sites.find(id);
    const auto it = site == state_.sites.end() ? drivers->end() : drivers->find(site->second.name);
    return it == drivers->end() ? nullptr : it->second.get();
  };
  for (auto& [id, attempts] : forgets) {
    if (auto* d = driver(id)) d->forget(std::move(attempts));
  }
  for (auto& [id, orders] : starts) {
    if (auto* d = driver(id)) d->start(std::move(orders));
  }
  for (auto& [id, orders] : stops) {
    if (auto* d = driver(id)) d->stop(std::move(orders));
  }
}

site::StartOrder Runtime::start_order(const core::StartAttempt& e) {
  site::StartOrder order;
  order.attempt = e.attempt;
  order.array = e.array;
  order.resumed = e.resumed;
  order.recalls = e.recalls;
  order.repeated = e.repeated;
  order.behind = e.behind;
  order.placed = e.placed;
  order.name = e.name;
  order.placement = e.placement;
  order.resources = e.terms.resources;
  order.wall = e.terms.wall;
  order.grace = e.terms.grace;
  order.gang = e.terms.gang;
  order.leader = e.leader;
  if (const auto ns = state_.namespaces.find(e.ns); ns != state_.namespaces.end())
    order.ns = ns->second.name;
  if (const auto user = state_.users.find(e.user); user != state_.users.end()) {
    order.user = user->second.name;
    order.uid = user->second.uid;
  }
  auto decoded = payload(e.attempt.task(), e.payload);
  CHECK(decoded.has_value(), "payload of " + to_string(e.attempt) + ": " + decoded.error().message);
  order.payload = std::move(*decoded);
  return order;
}

Result<void> Runtime::add_secrets(NamespaceId ns, core::Payload& payload) {
  for (const auto& [variable, reference] : payload.secrets) {
    auto value = secret_opener_ ? secret_opener_(state_, ns, reference)
                                : fail(ErrorCode::unavailable, "this server keeps no secrets");
    if (!value) return tl::unexpected(value.error());
    payload.env[variable] = std::move(*value);
  }
  payload.secrets.clear();
  return {};
}

Result<core::Payload> Runtime::payload(TaskId task, const Digest& digest) {
  if (digest == Digest{}) return core::Payload{};  // submitted without one
  if (!payloads_.find(digest)) {
    const auto bytes = journal_.payload(task.job);
    if (!bytes) return tl::unexpected(bytes.error());
    payloads_.remember(digest, *bytes);
  }
  core::Payload* decoded = payloads_.find(digest);
  if (!decoded) return fail(ErrorCode::internal, "its bytes are malformed");
  const core::Feed* feed = core::workflow::feed_of(state_, task.job);
  return feed ? fed_payload(*feed, task.job, *decoded) : payload_of_task(*decoded, task.index);
}

// The bodies are rows of the journal as long as the lease holds, so a start that is repeated after
// a crash finds them again.
Result<core::Payload> Runtime::fed_payload(const core::Feed& feed, JobId job,
                                           const core::Payload& shared) {
  const core::Lease& lease = state_.queues.at(feed.queue).leases.at(feed.jobs.at(job).lease);
  const auto bodies = history_.bodies(feed.queue, lease.items);
  if (!bodies) return tl::unexpected(bodies.error());
  return payload_of_items(shared, *bodies, feed.terms.batch == 1);
}

}  // namespace atl::runtime
