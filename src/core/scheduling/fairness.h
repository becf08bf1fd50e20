// Who is behind their fair share. The share of an account is its dominant one: of cores, memory and
// each kind of device, the resource of which it has the largest part. What it has now and what it
// had lately both count, and the weight divides.
#pragma once

#include "base/flat.h"
#include "core/scheduling/world.h"

namespace atl::core::scheduling {

inline constexpr int64_t kWhole = 1'000'000'000;  // all of a resource

// The dominant part, of kWhole, that amounts are of the platform.
int64_t dominant_share(const Amounts& amounts, const Amounts& capacity);

// What counts against work of this tier: its own tier and those above, as of the world's time, with
// what the round has placed.
Amounts counted(const World& world, const Payer& payer, Tier tier);

// The same without what the round has placed, by resource of the platform.
struct Counted {
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  SmallVector<int64_t, 2> devices_milli;  // in the order of its kinds
};
Counted counted_before(const World& world, const Payer& payer, Tier tier);

// Remembers it for a round, which asks more than once.
class Counting {
 public:
  explicit Counting(const World& world) : world_(world) {}
  const World& world() const { return world_; }
  const Counted& before(const Payer& payer, Tier tier);

 private:
  const World& world_;
  std::map<Tier, HashMap<Payer, Counted>> known_;
};

// The share for the weight: whoever has the smallest is served first.
int64_t standing(const World& world, const Payer& payer, const Counted& before);
int64_t standing(const World& world, const Payer& payer, Tier tier);

}  // namespace atl::core::scheduling
