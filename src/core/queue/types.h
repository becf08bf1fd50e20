// The words of queues as plain values: what events and commands say about items.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/time.h"

namespace atl::core {

struct QueueSettings {
  Duration visibility = seconds(60);  // how long a lease holds unless it says or is extended
  uint32_t attempts = 5;              // leases that an item gets
  bool dead_letters = true;           // what has had them all is kept; else it is removed
  bool operator==(const QueueSettings&) const = default;
};

struct ItemRange {
  ItemId first;
  ItemId last;  // the same for a single one
  uint64_t count() const { return last.value - first.value + 1; }
  bool operator==(const ItemRange&) const = default;
};

// Items that were put side by side and are alike. One that has a key is a run of its own.
struct PutRun {
  uint32_t count = 1;
  int32_t priority = 0;
  Time not_before;  // zero: may be leased at once
  std::string key;
  uint8_t size = 0;  // class_of its body
  bool operator==(const PutRun&) const = default;
};
struct RepeatedItem {
  uint32_t place = 0;  // in the command
  ItemId item;         // that has its key
  bool operator==(const RepeatedItem&) const = default;
};

enum class ReturnCause : uint8_t { given_back, expired };
BOOST_DESCRIBE_ENUM(ReturnCause, given_back, expired)

// What is removed: dead letters, what waits (ready or delayed), or everything, leased items too.
enum class Removal : uint8_t { dead, waiting, all };
BOOST_DESCRIBE_ENUM(Removal, dead, waiting, all)

// Bodies are kept outside the state; of their size it knows the power of two that is not below it,
// which is enough to bound an answer and lets alike items share a run.
constexpr uint8_t size_class(uint64_t bytes) {
  uint8_t power = 0;
  while ((uint64_t{1} << power) < bytes) ++power;
  return power;
}
constexpr uint64_t size_bound(uint8_t power) { return uint64_t{1} << power; }

// Appends an item, to the last range if it is the next one.
inline void append(std::vector<ItemRange>& ranges, ItemId item) {
  if (!ranges.empty() && ranges.back().last.value + 1 == item.value)
    ranges.back().last = item;
  else
    ranges.push_back({item, item});
}
inline uint64_t count_of(const std::vector<ItemRange>& ranges) {
  uint64_t count = 0;
  for (const ItemRange& range : ranges) count += range.count();
  return count;
}
// "5", "5-8,10"
inline std::string to_text(const std::vector<ItemRange>& ranges) {
  std::string text;
  for (const ItemRange& range : ranges) {
    text += (text.empty() ? "" : ",") + std::to_string(range.first.value);
    if (range.last != range.first) text += "-" + std::to_string(range.last.value);
  }
  return text;
}
template <class Fn>
void for_each_item(const std::vector<ItemRange>& ranges, Fn&& fn) {
  for (const ItemRange& range : ranges) {
    for (uint64_t id = range.first.value; id <= range.last.value; ++id) fn(ItemId{id});
  }
}

ATOLL_DESCRIBE(QueueSettings, visibility, attempts, dead_letters)
ATOLL_DESCRIBE(ItemRange, first, last)
ATOLL_DESCRIBE(PutRun, count, priority, not_before, key, size)
ATOLL_DESCRIBE(RepeatedItem, place, item)

}  // namespace atl::core
