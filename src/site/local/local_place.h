// A home for tests of the local site, with a real warden that is shut down when the test is over.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "site/contract_test.h"
#include "site/local/local_driver.h"

namespace atl::site {

class LocalPlace : public ContractPlace {
 public:
  explicit LocalPlace(bool cgroups = true) : cgroups_(cgroups) {
    static std::atomic<int> count = 0;
    installation_ = "test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
    home_ = "/tmp/atoll-" + installation_;
    std::filesystem::create_directories(home_);
    ::chmod(home_.c_str(), 0755);
  }
  ~LocalPlace() override {
    LocalDriver last(options());
    last.adopt({}, [](core::Report) {});
    last.shutdown();
    std::filesystem::remove_all(home_);
  }

  LocalOptions options() const {
    return {.home = home_,
            .installation = installation_,
            .cgroups = cgroups_,
            .warden_idle_exit = seconds(20)};
  }
  const std::string& home() const { return home_; }
  const std::string& installation() const { return installation_; }

  std::unique_ptr<SiteDriver> driver() override { return std::make_unique<LocalDriver>(options()); }
  core::Payload sleeping(int milliseconds) override {
    return {.argv = {"sleep", std::to_string(milliseconds / 1000.0)}, .directory = "/"};
  }
  core::Payload exiting(int code) override {
    return {.argv = {"sh", "-c", "exit " + std::to_string(code)}, .directory = "/"};
  }
  core::Payload stubborn() override {
    return {.argv = {"sh", "-c", "trap '' TERM; while :; do sleep 1; done"}, .directory = "/"};
  }
  std::optional<core::Payload> talking() override {
    return core::Payload{.argv = {"echo", "hello"}, .directory = "/"};
  }
  core::Payload progressing() override {
    return {.argv = {"sh", "-c", "echo '# atoll progress=50'; sleep 2"}, .directory = "/"};
  }
  bool outlives_driver() override { return true; }

 private:
  const bool cgroups_;
  std::string installation_;
  std::string home_;
};

}  // namespace atl::site
