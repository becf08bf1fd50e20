// Nodes in the order they are tried, without looking at each: those of one site whose devices are
// in the same state stand together, the fullest first.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/scheduling/room.h"

namespace atl::core::scheduling {

struct NodeView;

// Of each device what is equal for those that are alike: what they are, and how they can be cut.
std::vector<uint64_t> device_makes_of(const NodeCapacity& capacity);
// Equal for nodes that could hold the same were they empty.
uint64_t make_of(const NodeCapacity& capacity, const std::vector<uint64_t>& device_makes);

struct Alike {
  size_t some = 0;  // one of them
  int64_t devices_milli = 0;
  std::set<std::tuple<int64_t, int64_t, size_t>> nodes;  // cores, memory, which
};

class Stock {
 public:
  // A node whose room is lent or kept in part has a place of its own.
  void add(const NodeView& view, size_t node);
  void remove(const NodeView& view, size_t node);

  const std::map<uint64_t, Alike>& alike() const { return alike_; }
  const std::set<size_t>& others() const { return others_; }

 private:
  std::map<uint64_t, Alike> alike_;
  std::set<size_t> others_;
};

}  // namespace atl::core::scheduling
