// Commands about queues: who may, within which bounds, and what follows.
#include "core/decide.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "core/limits.h"
#include "core/queue/lease.h"

namespace atl::core {
namespace {

Result<const WorkQueue*> queue_for(const State& state, const Actor& actor,
                                   const std::string& ns_name, const std::string& name, Role role) {
  const auto ns = namespace_for(state, actor, ns_name, role);
  if (!ns) return tl::unexpected(ns.error());
  if (const WorkQueue* queue = state.queue_named((*ns)->id, name)) return queue;
  return fail(ErrorCode::not_found,
              "there is no queue " + quote(name) + " in namespace " + (*ns)->name, "queue");
}

Result<void> between(int64_t value, int64_t low, int64_t high, const char* field) {
  if (value >= low && value <= high) return {};
  return fail(ErrorCode::invalid,
              std::string(field) + " must be between " + std::to_string(low) + " and " +
                  std::to_string(high),
              field);
}

Result<void> between(Duration value, Duration low, Duration high, const char* field) {
  if (value >= low && value <= high) return {};
  return fail(ErrorCode::invalid,
              std::string(field) + " must be between " + format_duration(low) + " and " +
                  format_duration(high),
              field);
}

Result<void> check_settings(const QueueSettings& settings) {
  if (auto ok = between(settings.visibility, kVisibilityMin, kVisibilityMax, "visibility"); !ok)
    return ok;
  return between(settings.attempts, 1, kItemAttemptsMax, "attempts");
}

Result<void> check_item(const NewItem& item) {
  if (item.bytes > kItemBytesMax) {
    return fail(ErrorCode::too_large,
                "the body has " + std::to_string(item.bytes) + " bytes; it may have " +
                    std::to_string(kItemBytesMax) +
                    ": put large data into a file and its name into the queue",
                "body");
  }
  if (auto ok = between(item.priority, -kItemPriorityMax, kItemPriorityMax, "priority"); !ok)
    return ok;
  if (auto ok = between(item.delay, Duration{}, kItemDelayMax, "delay"); !ok) return ok;
  if (item.key.size() > kKeyBytesMax || !valid_utf8(item.key))
    return fail(ErrorCode::invalid,
                "key must be text of at most " + std::to_string(kKeyBytesMax) + " bytes", "key");
  return {};
}

// The error of one item names its place.
Error at_place(Error error, size_t place) {
  error.field = "items[" + std::to_string(place) + "]." + error.field;
  return error;
}

Result<void> check_room(const WorkQueue& queue, const std::vector<NewItem>& items) {
  uint64_t bytes = queue.bytes;
  for (const NewItem& item : items) bytes += size_bound(size_class(item.bytes));
  if (queue.size() + items.size() > kQueueItemsMax || bytes > kQueueBytesMax) {
    return fail(ErrorCode::exhausted,
                "queue " + queue.name + " has " + std::to_string(queue.size()) +
                    " items and takes up to " + std::to_string(kQueueItemsMax) +
                    " with 64 GiB of bodies; let workers finish some first",
                "items");
  }
  if (queue.last.value + items.size() > kItemIdMax)
    return fail(ErrorCode::exhausted, "queue " + queue.name + " has used up its numbers", "items");
  return {};
}

// Side by side and alike, so they may share a run.
bool alike(const PutRun& a, const PutRun& b) {
  return a.key.empty() && b.key.empty() && a.priority == b.priority && a.size == b.size &&
         a.not_before == b.not_before;
}

ItemsPut plan_put(const WorkQueue& queue, const std::vector<NewItem>& items, Time now) {
  ItemsPut put{queue.id, ItemId{queue.last.value + 1}, {}, {}};
  std::map<std::string, ItemId> fresh_keys;
  ItemId next = put.first;
  for (size_t i = 0; i < items.size(); ++i) {
    const NewItem& item = items[i];
    if (!item.key.empty()) {
      const auto known = queue.keys.find(item.key);
      const auto [seen, first] = fresh_keys.try_emplace(item.key, next);
      if (known != queue.keys.end() || !first) {
        put.repeated.push_back(
            {static_cast<uint32_t>(i), known != queue.keys.end() ? known->second : seen->second});
        continue;
      }
    }
    const PutRun run{1, item.priority, item.delay.us > 0 ? now + item.delay : Time{}, item.key,
                     size_class(item.bytes)};
    if (!put.runs.empty() && alike(put.runs.back(), run))
      ++put.runs.back().count;
    else
      put.runs.push_back(run);
    next = ItemId{next.value + 1};
  }
  return put;
}

// What a job of a step works on is the step's until that job has ended.
Result<void> check_free(const WorkQueue& queue, LeaseId lease) {
  const auto found = queue.leases.find(lease);
  if (found == queue.leases.end() || !found->second.job) return {};
  return fail(ErrorCode::conflict,
              "lease " + std::to_string(lease.value) + " of queue " + queue.name + " belongs to " +
                  found->second.holder + ", which ends it with its job " +
                  to_string(found->second.job) + "; cancel that instead",
              "lease");
}

bool meant(const WorkQueue& queue, const Item& item, Removal what) {
  const bool dead = std::holds_alternative<ItemDead>(item.standing);
  const auto* leased = std::get_if<ItemLeased>(&item.standing);
  if (leased && !check_free(queue, leased->lease)) return false;
  return what == Removal::all || (what == Removal::dead ? dead : !dead && !leased);
}

// The first of those that are meant, by number.
std::vector<ItemRange> first_meant(const WorkQueue& queue, Removal what, uint64_t max) {
  std::vector<ItemRange> found;
  uint64_t left = max;
  for (const auto& [id, item] : queue.items) {
    if (left == 0) return found;
    if (!meant(queue, item, what)) continue;
    append(found, id);
    --left;
  }
  if (what == Removal::dead) return found;
  for (const auto& [first, run] : queue.fresh) {
    if (left == 0) return found;
    const uint64_t count = std::min(left, run.last.value - first.value + 1);
    found.push_back({first, ItemId{first.value + count - 1}});
    left -= count;
  }
  return found;
}

Result<std::vector<ItemRange>> named_or_first(const WorkQueue& queue, Removal what,
                                              std::vector<ItemId> items) {
  if (items.size() > kItemsPerRemovalMax)
    return fail(ErrorCode::too_large,
                "at most " + std::to_string(kItemsPerRemovalMax) + " items at a time", "items");
  if (items.empty()) return first_meant(queue, what, kItemsPerRemovalMax);
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  std::vector<ItemRange> ranges;
  for (const ItemId id : items) {
    const auto found = queue.items.find(id);
    const auto run = queue.fresh.upper_bound(id);
    const bool fresh = run != queue.fresh.begin() && std::prev(run)->second.last >= id;
    const bool ok = fresh ? what != Removal::dead
                          : found != queue.items.end() && meant(queue, found->second, what);
    const auto* leased =
        found == queue.items.end() ? nullptr : std::get_if<ItemLeased>(&found->second.standing);
    if (auto own = leased ? check_free(queue, leased->lease) : Result<void>{}; !own)
      return tl::unexpected(own.error());
    if (!ok) {
      return fail(ErrorCode::not_found,
                  "queue " + queue.name + " has no " +
                      (what == Removal::dead ? "dead item " : "such item ") +
                      std::to_string(id.value),
                  "items");
    }
    append(ranges, id);
  }
  return ranges;
}

}  // namespace

Result<void> decide_command(const State& state, const Actor& actor, const CreateQueue& command,
                            Draft& draft) {
  const auto ns = namespace_for(state, actor, command.ns, Role::member);
  if (!ns) return tl::unexpected(ns.error());
  if (auto ok = check_identifier(command.name, "name"); !ok) return ok;
  if (auto ok = check_settings(command.settings); !ok) return ok;
  if (state.queue_named((*ns)->id, command.name)) {
    return fail(ErrorCode::conflict,
                "queue " + quote(command.name) + " exists in namespace " + (*ns)->name, "name");
  }
  if (state.queues.size() >= kQueuesMax || state.counters.queue >= kQueueIdMax)
    return fail(ErrorCode::exhausted,
                "there are " + std::to_string(state.queues.size()) +
                    " queues, and no more are possible; delete some first",
                "name");
  draft.add(QueueSet{QueueId{state.counters.queue + 1}, (*ns)->id, command.name, command.settings,
                     false});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const ChangeQueue& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.name, Role::member);
  if (!found) return tl::unexpected(found.error());
  const WorkQueue& queue = **found;
  QueueSettings settings = queue.settings;
  if (command.visibility) settings.visibility = *command.visibility;
  if (command.attempts) settings.attempts = *command.attempts;
  if (command.dead_letters) settings.dead_letters = *command.dead_letters;
  if (auto ok = check_settings(settings); !ok) return ok;
  const bool closed = command.closed.value_or(queue.closed);
  if (settings == queue.settings && closed == queue.closed) return {};
  draft.add(QueueSet{queue.id, queue.ns, queue.name, settings, closed});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const DeleteQueue& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.name, Role::admin);
  if (!found) return tl::unexpected(found.error());
  if (const uint64_t size = (*found)->size(); size > 0) {
    return fail(ErrorCode::conflict,
                "queue " + command.name + " still has " + std::to_string(size) +
                    (size == 1 ? " item" : " items") + "; finish or purge what is left first",
                "queue");
  }
  draft.add(QueueDeleted{(*found)->id});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const PutItems& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.queue, Role::member);
  if (!found) return tl::unexpected(found.error());
  const WorkQueue& queue = **found;
  if (queue.closed)
    return fail(ErrorCode::conflict,
                "queue " + queue.name + " is closed: it takes no more items; open it again first",
                "queue");
  if (command.items.empty() || command.items.size() > kItemsPerPutMax)
    return fail(ErrorCode::invalid,
                "put between 1 and " + std::to_string(kItemsPerPutMax) + " items at a time",
                "items");
  for (size_t i = 0; i < command.items.size(); ++i) {
    if (auto ok = check_item(command.items[i]); !ok)
      return tl::unexpected(at_place(std::move(ok.error()), i));
  }
  if (auto ok = check_room(queue, command.items); !ok) return ok;
  draft.add(plan_put(queue, command.items, draft.now()));
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const LeaseItems& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.queue, Role::member);
  if (!found) return tl::unexpected(found.error());
  if (auto ok = between(command.max, 1, kItemsPerLeaseMax, "max"); !ok) return ok;
  if (command.visibility) {
    if (auto ok = between(*command.visibility, kVisibilityMin, kVisibilityMax, "visibility"); !ok)
      return ok;
  }
  if (!command.holder.empty()) {
    if (auto ok = check_name(command.holder, "holder", kNameBytesMax); !ok) return ok;
  }
  queue::lease(state, **found, {command.max, command.visibility, command.holder}, draft);
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const FinishItems& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.queue, Role::member);
  if (!found) return tl::unexpected(found.error());
  if (auto ok = check_free(**found, command.lease); !ok) return ok;
  return queue::finish(**found, command.lease, command.items, draft);
}

Result<void> decide_command(const State& state, const Actor& actor, const ReturnItems& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.queue, Role::member);
  if (!found) return tl::unexpected(found.error());
  if (auto ok = between(command.delay, Duration{}, kItemDelayMax, "delay"); !ok) return ok;
  if (command.message.size() > kItemMessageBytesMax || !valid_utf8(command.message))
    return fail(
        ErrorCode::invalid,
        "message must be text of at most " + std::to_string(kItemMessageBytesMax) + " bytes",
        "message");
  if (auto ok = check_free(**found, command.lease); !ok) return ok;
  const auto dead =
      queue::give_back(**found, command.lease, command.items,
                       {ReturnCause::given_back, command.delay, command.message, false}, draft);
  if (!dead) return tl::unexpected(dead.error());
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const ExtendLeases& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.queue, Role::member);
  if (!found) return tl::unexpected(found.error());
  const WorkQueue& queue = **found;
  if (auto ok =
          between(static_cast<int64_t>(command.leases.size()), 1, kLeasesPerExtensionMax, "leases");
      !ok)
    return ok;
  const Duration visibility = command.visibility.value_or(queue.settings.visibility);
  if (auto ok = between(visibility, kVisibilityMin, kVisibilityMax, "visibility"); !ok) return ok;
  for (const LeaseId lease : command.leases) {
    if (auto ok = queue::held(queue, lease, {}); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_free(queue, lease); !ok) return ok;
  }
  draft.add(LeasesExtended{queue.id, command.leases, draft.now() + visibility});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RestoreItems& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.queue, Role::member);
  if (!found) return tl::unexpected(found.error());
  auto items = named_or_first(**found, Removal::dead, command.items);
  if (!items) return tl::unexpected(items.error());
  if (!items->empty()) draft.add(ItemsRestored{(*found)->id, std::move(*items)});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const RemoveItems& command,
                            Draft& draft) {
  const auto found = queue_for(state, actor, command.ns, command.queue, Role::admin);
  if (!found) return tl::unexpected(found.error());
  auto items = named_or_first(**found, command.what, command.items);
  if (!items) return tl::unexpected(items.error());
  if (!items->empty()) draft.add(ItemsRemoved{(*found)->id, std::move(*items)});
  return {};
}

}  // namespace atl::core
