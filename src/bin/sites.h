// From the configuration to drivers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/service.h"
#include "bin/config.h"
#include "core/state.h"
#include "journal/sqlite_journal.h"
#include "site/driver.h"
#include "site/local/local_driver.h"

namespace atl::bin {

// What jobs get that do not say, and the reason for `atoll doctor`.
struct IsolationChoice {
  core::Isolation level = core::Isolation::none;
  std::string why;
};

struct Sites {
  api::Drivers drivers;
  std::map<std::string, std::shared_ptr<api::SampleSource>> samples;
  std::shared_ptr<site::LocalDriver> local;  // null when the file has no local site
};

Sites make_sites(const std::string& home, const Config& config, const journal::Identity& identity);

// As configured; else `sandbox` once the platform has several users, `none` while it has one.
IsolationChoice choose_isolation(const Config& config, const core::State& state);

}  // namespace atl::bin
