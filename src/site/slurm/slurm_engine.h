// A real Slurm cluster for tests (tests/engines/slurm_cluster), one for each version and program,
// started when it is first asked for and ended with the program, however that ends.
#pragma once

#include <map>
#include <string>

#include "site/contract_test.h"
#include "site/slurm/slurm_driver.h"

namespace atl::site {

class SlurmEngine {
 public:
  // Fails the test, and gives back an engine without a `bin`, when it cannot be started.
  static SlurmEngine& of(const std::string& version);
  ~SlurmEngine();

  const std::string& bin() const { return bin_; }
  const std::string& folder() const { return folder_; }
  // "kill slurmctld", "start n1": see the program.
  void order(const std::string& line);
  // Runs a line of shell with Slurm's programs in front of PATH; gives back what it printed.
  std::string shell(const std::string& line) const;
  // Waits until the line prints this, or a minute.
  bool await(const std::string& line, const std::string& printed) const;

 private:
  explicit SlurmEngine(const std::string& version);
  std::string read_line();

  int in_ = -1;
  int out_ = -1;
  int pid_ = -1;
  std::string bin_;
  std::string folder_;
};

// Drivers on such a cluster, with run directories of their own below /tmp, which its nodes share.
class SlurmPlace : public ContractPlace {
 public:
  explicit SlurmPlace(const std::string& version);
  ~SlurmPlace() override;

  SlurmEngine& engine() { return engine_; }
  SlurmOptions options() const;
  const std::string& installation() const { return installation_; }

  std::unique_ptr<SiteDriver> driver() override { return std::make_unique<SlurmDriver>(options()); }
  core::Payload sleeping(int milliseconds) override;
  core::Payload exiting(int code) override;
  core::Payload stubborn() override;
  std::optional<core::Payload> talking() override;
  core::Payload progressing() override;
  int patience() override { return 240; }  // sbatch starts a dozen in a second, at best
  bool outlives_driver() override { return true; }

 private:
  SlurmEngine& engine_;
  std::string installation_;
  std::string home_;
};

}  // namespace atl::site
