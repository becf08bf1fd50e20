// A key never makes two jobs: whatever is lost and repeated, one user's key names one job, and
// every answer to it names the same.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Idempotency : public Checker {
 public:
  std::string_view promise() const override { return "1, a key makes one job"; }
  void told(const Told& told) override;
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;

 private:
  using Key = std::pair<UserId, std::string>;
  void name(const Key& key, JobId job);

  std::map<Key, JobId> jobs_;
};

}  // namespace atl::sim
