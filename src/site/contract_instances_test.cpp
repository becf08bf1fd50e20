#include "site/contract_test.h"
#include "site/local/local_place.h"
#include "site/simulated/simulated_driver.h"
#include "site/ssh/ssh_place.h"

namespace atl::site {
namespace {

class SimulatedPlace : public ContractPlace {
 public:
  std::unique_ptr<SiteDriver> driver() override {
    return std::make_unique<SimulatedDriver>(SimulatedOptions{});
  }
  core::Payload sleeping(int milliseconds) override {
    return {.argv = {"x"}, .simulated_us = static_cast<uint64_t>(milliseconds) * 1000};
  }
  core::Payload exiting(int code) override { return {.argv = {"x"}, .simulated_exit = code}; }
  core::Payload stubborn() override { return sleeping(60000); }
  std::optional<core::Payload> talking() override { return std::nullopt; }
  core::Payload progressing() override { return sleeping(2000); }
  bool outlives_driver() override { return false; }
};

TEST(SimulatedSite, WhatRanWithTheServerBeforeIsLostAndNotBegunAgain) {
  SimulatedDriver driver(SimulatedOptions{});
  Recorder seen;
  const AttemptId ran{JobId{1}, 0, 1};
  driver.adopt({ran}, seen.sink());
  driver.start({{.attempt = ran, .repeated = true, .payload = {.argv = {"x"}}}});
  ASSERT_TRUE(seen.wait_ended(ran));
  EXPECT_EQ(seen.result(ran).cause, core::EndCause::lost);
  driver.close();
  EXPECT_EQ(seen.ends(ran), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Sites, SiteContract,
    testing::Values(ContractParam{"local", [] { return std::make_unique<LocalPlace>(); }},
                    ContractParam{"local_rlimits",
                                  [] { return std::make_unique<LocalPlace>(false); }},
                    ContractParam{"simulated", [] { return std::make_unique<SimulatedPlace>(); }},
                    ContractParam{"ssh", [] { return std::make_unique<SshPlace>(); }}),
    [](const testing::TestParamInfo<ContractParam>& info) { return info.param.name; });

}  // namespace
}  // namespace atl::site
