// A queue as the state holds it. Items that were never leased are kept as runs, so a million of
// them that were put in batches cost next to nothing; one becomes an object with its first lease,
// or because it has a key or a delay. Bodies are rows of the journal and not here.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/queue/types.h"

namespace atl::core {

// Where an item, or the first of a run, stands in the line: the highest priority first, then the
// lowest number.
struct ItemPlace {
  int32_t behind = 0;  // the negated priority
  ItemId item;
  auto operator<=>(const ItemPlace&) const = default;
};

// Fresh items from the key of the map up to `last`, put within a second.
struct FreshRun {
  ItemId last;
  int32_t priority = 0;
  uint8_t size = 0;
  Time put;
  bool operator==(const FreshRun&) const = default;
};

struct ItemReady {
  bool operator==(const ItemReady&) const = default;
};
struct ItemDelayed {
  Time until;
  bool operator==(const ItemDelayed&) const = default;
};
struct ItemLeased {
  LeaseId lease;
  bool operator==(const ItemLeased&) const = default;
};
struct ItemDead {
  Time since;
  ReturnCause cause = ReturnCause::given_back;
  std::string message;
  bool operator==(const ItemDead&) const = default;
};
using ItemStanding = std::variant<ItemReady, ItemDelayed, ItemLeased, ItemDead>;

struct Item {
  int32_t priority = 0;
  uint8_t size = 0;
  uint32_t attempts = 0;  // leases so far, the present one too
  Time put;
  std::string key;
  ItemStanding standing;
  bool operator==(const Item&) const = default;
};

struct Lease {
  Time until;  // zero: it does not run out
  std::string holder;
  std::vector<ItemId> items;  // what is left of them, ascending
  JobId job;                  // of a step that works on them: it ends the lease, and nobody else
  bool operator==(const Lease&) const = default;
};

// How many, altogether and of late: this minute's and those of the minute before.
struct Flow {
  uint64_t total = 0;
  int64_t minute = 0;
  uint64_t now = 0;
  uint64_t before = 0;
  bool operator==(const Flow&) const = default;

  void add(Time at, uint64_t count);
  uint64_t per_minute(Time at) const;  // over the last sixty seconds, about
};

struct WorkQueue {
  QueueId id;
  NamespaceId ns;
  std::string name;
  QueueSettings settings;
  bool closed = false;
  Time created;
  ItemId last;  // the number of the newest item
  std::map<ItemId, FreshRun> fresh;
  std::map<ItemId, Item> items;  // all others
  std::map<LeaseId, Lease> leases;
  Flow put;
  Flow done;
  uint64_t given_back = 0;
  uint64_t expired = 0;
  // derived
  std::set<ItemPlace> line;  // what may be leased: items, and the first of each run
  std::map<std::string, ItemId> keys;
  uint64_t ready = 0;
  uint64_t delayed = 0;
  uint64_t leased = 0;
  uint64_t dead = 0;
  uint64_t bytes = 0;  // at most, of all bodies
  bool operator==(const WorkQueue&) const = default;

  uint64_t size() const { return ready + delayed + leased + dead; }
  // What somebody will still have to work on. Without it and closed, a queue is finished.
  uint64_t left() const { return ready + delayed + leased; }
};

// When a lease runs out, or the delay of an item; the other number is zero.
struct QueueTimer {
  Time at;
  QueueId queue;
  LeaseId lease;
  ItemId item;
  auto operator<=>(const QueueTimer&) const = default;
};

ATOLL_DESCRIBE(FreshRun, last, priority, size, put)
ATOLL_DESCRIBE(ItemReady)
ATOLL_DESCRIBE(ItemDelayed, until)
ATOLL_DESCRIBE(ItemLeased, lease)
ATOLL_DESCRIBE(ItemDead, since, cause, message)
ATOLL_DESCRIBE(Item, priority, size, attempts, put, key, standing)
ATOLL_DESCRIBE(Lease, until, holder, items, job)
ATOLL_DESCRIBE(Flow, total, minute, now, before)
ATOLL_DESCRIBE(WorkQueue, id, ns, name, settings, closed, created, last, fresh, items, leases, put,
               done, given_back, expired)

}  // namespace atl::core
