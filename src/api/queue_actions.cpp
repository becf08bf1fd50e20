// What happens to leased items and to dead letters.
#include "api/handlers.h"
#include "api/queue_requests.h"
#include "api/queue_view.h"
#include "core/queue/lease.h"

namespace atl::api {
namespace {

uint64_t touched_by(const runtime::Accepted& accepted) {
  uint64_t count = 0;
  for (const core::Event& event : accepted.events) count += core::queue::items_in(event.body);
  return count;
}

void respond_count(const CallPtr& call, uint64_t count, uint64_t left) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("count", count).member("left", left).end_object();
  call->respond_json(std::move(body));
}

// On the core's thread: what is left of the same kind.
uint64_t left_of(const CallPtr& call, const std::function<uint64_t(const core::WorkQueue&)>& what) {
  const auto queue = queue_in_path(call, call->context.runtime.state());
  return queue ? what(**queue) : 0;
}

uint64_t still_leased(const core::WorkQueue& queue, LeaseId id) {
  const auto lease = queue.leases.find(id);
  return lease == queue.leases.end() ? 0 : lease->second.items.size();
}

// Sends a command about a lease and says how many of its items are left.
void act_on_lease(const CallPtr& call, core::Command what, LeaseId lease) {
  command(call, std::move(what), {}, [call, lease](const runtime::Accepted& accepted) {
    respond_count(call, touched_by(accepted), left_of(call, [&](const core::WorkQueue& queue) {
                    return still_leased(queue, lease);
                  }));
  });
}

}  // namespace

void finish_items(const CallPtr& call) {
  const auto wish = body_of<DoneWish>(call);
  if (!wish) return;
  const LeaseId lease{static_cast<uint64_t>(*wish->lease)};
  act_on_lease(call,
               core::FinishItems{namespace_in_path(call), queue_name_in_path(call), lease,
                                 items_of(wish->items)},
               lease);
}

void return_items(const CallPtr& call) {
  const auto wish = body_of<RetryWish>(call);
  if (!wish) return;
  const LeaseId lease{static_cast<uint64_t>(*wish->lease)};
  act_on_lease(call,
               core::ReturnItems{namespace_in_path(call), queue_name_in_path(call), lease,
                                 items_of(wish->items), wish->delay.value_or(Duration{}),
                                 wish->message.value_or("")},
               lease);
}

void extend_leases(const CallPtr& call) {
  const auto wish = body_of<ExtendWish>(call);
  if (!wish) return;
  core::ExtendLeases extend{
      namespace_in_path(call), queue_name_in_path(call), {}, wish->visibility};
  for (const int64_t lease : *wish->leases) extend.leases.push_back({static_cast<uint64_t>(lease)});
  command(call, std::move(extend), {}, [call](const runtime::Accepted& accepted) {
    const auto* extended = event_of<core::LeasesExtended>(accepted);
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().member("until", extended ? extended->until : Time{}).end_object();
    call->respond_json(std::move(body));
  });
}

void restore_items(const CallPtr& call) {
  const auto wish = body_of<RestoreWish>(call);
  if (!wish) return;
  command(
      call,
      core::RestoreItems{namespace_in_path(call), queue_name_in_path(call), items_of(wish->items)},
      {}, [call](const runtime::Accepted& accepted) {
        respond_count(call, touched_by(accepted),
                      left_of(call, [](const core::WorkQueue& queue) { return queue.dead; }));
      });
}

void purge_items(const CallPtr& call) {
  const auto wish = body_of<PurgeWish>(call);
  if (!wish) return;
  core::Removal what = core::Removal::dead;
  if (wish->what) enum_from_name(*wish->what, what);
  command(call,
          core::RemoveItems{namespace_in_path(call), queue_name_in_path(call), what,
                            items_of(wish->items)},
          {}, [call, what](const runtime::Accepted& accepted) {
            respond_count(
                call, touched_by(accepted), left_of(call, [what](const core::WorkQueue& queue) {
                  if (what == core::Removal::dead) return queue.dead;
                  return what == core::Removal::all ? queue.size() : queue.ready + queue.delayed;
                }));
          });
}

}  // namespace atl::api
