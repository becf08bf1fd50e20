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
        [&](const core::StartAttempt& e) { starts[e.placement.site].push_back(start_order(e)); },
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
        [](const auto&) {});
  }
  const auto driver = [&](SiteId id) -> site::SiteDriver* {
    const auto site = state_.sites.find(id);
    const auto it = site == state_.sites.end() ? drivers_.end() : drivers_.find(site->second.name);
    return it == drivers_.end() ? nullptr : it->second.get();
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

Result<core::Payload> Runtime::payload(TaskId task, const Digest& digest) {
  if (digest == Digest{}) return core::Payload{};  // submitted without one
  if (core::Payload* known = payloads_.find(digest)) return payload_of_task(*known, task.index);
  const auto bytes = journal_.payload(task.job);
  if (!bytes) return tl::unexpected(bytes.error());
  payloads_.remember(digest, *bytes);
  if (core::Payload* decoded = payloads_.find(digest)) return payload_of_task(*decoded, task.index);
  return fail(ErrorCode::internal, "its bytes are malformed");
}

}  // namespace atl::runtime
