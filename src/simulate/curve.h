// What was in use and who waited, over time: sums by hour and namespace, and of the whole.
#pragma once

#include <vector>

#include "base/time.h"

namespace atl::simulate {

class Curve {
 public:
  // Times are since the trace began. [from, to) is the part that counts as steady.
  Curve(size_t namespaces, Duration from, Duration to);

  // More or less is in use by, or waited for in, a namespace from now on. Times never go back.
  void use(size_t ns, Duration now, int64_t cpu_milli);
  void wait(size_t ns, Duration now, int64_t cpu_milli);
  void finish(Duration now);

  static constexpr Duration kBucket = hours(1);
  size_t buckets() const { return used_.empty() ? 0 : used_.front().size(); }
  double used(size_t ns, size_t bucket) const { return used_[ns][bucket]; }  // core-seconds
  // What its waiting tasks would have used.
  double wanted(size_t ns, size_t bucket) const { return wanted_[ns][bucket]; }
  double used_steadily() const { return steady_; }  // core-seconds

 private:
  struct Account {
    Duration since;
    int64_t used_milli = 0;
    int64_t wanted_milli = 0;
  };
  void advance(size_t ns, Duration now);

  const Duration from_, to_;
  std::vector<Account> accounts_;
  std::vector<std::vector<double>> used_, wanted_;
  double steady_ = 0;
};

}  // namespace atl::simulate
