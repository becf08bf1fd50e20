// What happens to queues and their items. Members are only appended: their order is the journal's
// format.
#pragma once

#include <string>
#include <vector>

#include "core/queue/types.h"

namespace atl::core {

// Made or changed.
struct QueueSet {
  QueueId id;
  NamespaceId ns;
  std::string name;
  QueueSettings settings;
  bool closed = false;
  bool operator==(const QueueSet&) const = default;
};
struct QueueDeleted {
  QueueId id;
  bool operator==(const QueueDeleted&) const = default;
};
// New items, numbered from `first` in the order of the runs. Their bodies are durable with it.
struct ItemsPut {
  QueueId queue;
  ItemId first;
  std::vector<PutRun> runs;
  std::vector<RepeatedItem> repeated;  // asked for and already there, by their key
  bool operator==(const ItemsPut&) const = default;
};
struct ItemsLeased {
  QueueId queue;
  LeaseId lease;
  Time until;  // zero: until its holder is done
  std::string holder;
  std::vector<ItemRange> items;  // in the order they are served
  JobId job;                     // of a step, that works on them
  bool operator==(const ItemsLeased&) const = default;
};
struct LeasesExtended {
  QueueId queue;
  std::vector<LeaseId> leases;
  Time until;
  bool operator==(const LeasesExtended&) const = default;
};
struct ItemsFinished {
  QueueId queue;
  LeaseId lease;
  std::vector<ItemRange> items;
  bool operator==(const ItemsFinished&) const = default;
};
// Leased items that wait again: given back, or their lease ran out.
struct ItemsReturned {
  QueueId queue;
  LeaseId lease;
  std::vector<ItemRange> items;
  ReturnCause cause = ReturnCause::given_back;
  Time not_before;
  std::string message;
  bool untried = false;  // through no fault of theirs: this lease does not count
  bool operator==(const ItemsReturned&) const = default;
};
// Leased items that became dead letters: they had all their attempts.
struct ItemsBuried {
  QueueId queue;
  LeaseId lease;
  std::vector<ItemRange> items;
  ReturnCause cause = ReturnCause::given_back;
  std::string message;
  bool operator==(const ItemsBuried&) const = default;
};
struct DelaysEnded {
  QueueId queue;
  std::vector<ItemRange> items;
  bool operator==(const DelaysEnded&) const = default;
};
// Dead letters that wait again, as if they were new.
struct ItemsRestored {
  QueueId queue;
  std::vector<ItemRange> items;
  bool operator==(const ItemsRestored&) const = default;
};
// Items that are gone without having been finished.
struct ItemsRemoved {
  QueueId queue;
  std::vector<ItemRange> items;
  bool operator==(const ItemsRemoved&) const = default;
};

ATOLL_DESCRIBE(QueueSet, id, ns, name, settings, closed)
ATOLL_DESCRIBE(QueueDeleted, id)
ATOLL_DESCRIBE(ItemsPut, queue, first, runs, repeated)
ATOLL_DESCRIBE(ItemsLeased, queue, lease, until, holder, items, job)
ATOLL_DESCRIBE(LeasesExtended, queue, leases, until)
ATOLL_DESCRIBE(ItemsFinished, queue, lease, items)
ATOLL_DESCRIBE(ItemsReturned, queue, lease, items, cause, not_before, message, untried)
ATOLL_DESCRIBE(ItemsBuried, queue, lease, items, cause, message)
ATOLL_DESCRIBE(DelaysEnded, queue, items)
ATOLL_DESCRIBE(ItemsRestored, queue, items)
ATOLL_DESCRIBE(ItemsRemoved, queue, items)

}  // namespace atl::core
