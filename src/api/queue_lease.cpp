// Leases: what there is at once, or what comes while the worker waits.
#include "api/handlers.h"
#include "api/queue_requests.h"
#include "api/queue_view.h"

namespace atl::api {
namespace {

constexpr Duration kWaitMax = seconds(30);  // below what proxies take for a dead connection

struct LeaseAsk {
  core::LeaseItems command;
  Time until;  // when waiting is over
  bool until_dry = false;
};
using LeaseAskPtr = std::shared_ptr<const LeaseAsk>;

struct ShownLease {
  core::ItemsLeased leased;
  std::vector<std::pair<ItemId, core::Item>> items;  // in the order they are served
  uint64_t left = 0;
  bool closed = false;
};

// On the core's thread, after the commit.
ShownLease shown_lease(const core::WorkQueue& queue, const core::ItemsLeased& leased) {
  ShownLease shown{leased, {}, queue.left(), queue.closed};
  core::for_each_item(leased.items, [&](ItemId id) {
    // Another command of the same turn may have removed it.
    if (const auto item = queue.items.find(id); item != queue.items.end())
      shown.items.emplace_back(id, item->second);
  });
  return shown;
}

void write_item(spec::JsonWriter& json, ItemId id, const core::Item& item,
                const std::string& bytes) {
  json.begin_object().member("id", id.value).member("attempt", item.attempts);
  json.member("priority", int64_t{item.priority});
  if (!item.key.empty()) json.member("key", item.key);
  write_body(json, bytes);
  json.end_object();
}

// On the pool. An item whose body is gone was finished meanwhile by who else may have it; it is
// left out.
void respond_lease(const CallPtr& call, const ShownLease& shown) {
  std::vector<ItemId> ids;
  for (const auto& [id, item] : shown.items) ids.push_back(id);
  const auto bodies = call->context.history.bodies(shown.leased.queue, ids);
  if (!bodies) return call->refuse(bodies.error());
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("lease", shown.leased.lease.value);
  json.member("until", shown.leased.until).key("items").begin_array();
  for (const auto& [id, item] : shown.items) {
    if (const auto found = bodies->find(id); found != bodies->end())
      write_item(json, id, item, found->second);
  }
  json.end_array().member("left", shown.left).member("closed", shown.closed).end_object();
  call->respond_json(std::move(body));
}

void respond_nothing(const CallPtr& call, uint64_t left, bool closed) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("lease").null().key("until").null().key("items").begin_array();
  json.end_array().member("left", left).member("closed", closed).end_object();
  call->respond_json(std::move(body));
}

void ask(const CallPtr& call, const LeaseAskPtr& wish);

// Nothing was there: waits for more, unless there is nothing to wait for.
void wait_or_answer(const CallPtr& call, const LeaseAskPtr& wish, const core::WorkQueue& queue) {
  const bool dry = queue.left() == 0 && (queue.closed || wish->until_dry);
  const uint64_t left = queue.left();
  const bool closed = queue.closed;
  const auto nothing = [call, left, closed] { respond_nothing(call, left, closed); };
  if (dry || wish->until <= call->context.options.now()) return nothing();
  // Put in the same turn, after this was decided: nobody else will wake us for it.
  if (queue.ready > 0) return ask(call, wish);
  const bool waits = call->context.waiters.add(
      queue.id, {wish->until, [call, wish] { ask(call, wish); }, nothing, wish->until_dry});
  if (!waits) nothing();
}

void ask(const CallPtr& call, const LeaseAskPtr& wish) {
  command(call, wish->command, {}, [call, wish](const runtime::Accepted& accepted) {
    const auto queue = queue_in_path(call, call->context.runtime.state());
    if (!queue) return call->refuse(queue.error());
    const auto* leased = event_of<core::ItemsLeased>(accepted);
    if (!leased) return wait_or_answer(call, wish, **queue);
    auto shown = std::make_shared<const ShownLease>(shown_lease(**queue, *leased));
    run_on(call->context.quick, call, [call, shown] { respond_lease(call, *shown); });
  });
}

}  // namespace

void lease_items(const CallPtr& call) {
  const auto wish = body_of<LeaseWish>(call);
  if (!wish) return;
  const Duration wait = wish->wait.value_or(Duration{});
  if (wait > kWaitMax || wait < Duration{})
    return call->refuse({ErrorCode::invalid, "wait must be between 0s and 30s", "wait"});
  auto asked = std::make_shared<LeaseAsk>();
  asked->command = {namespace_in_path(call), queue_name_in_path(call),
                    static_cast<uint32_t>(wish->max.value_or(1)), wish->visibility,
                    wish->holder.value_or("")};
  asked->until = call->context.options.now() + wait;
  asked->until_dry = wish->until_dry.value_or(false);
  ask(call, asked);
}

}  // namespace atl::api
