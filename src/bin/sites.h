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
#include "site/driver_table.h"
#include "site/local/local_driver.h"

namespace atl::bin {

// What jobs get that do not say, and the reason for `atoll doctor`.
struct IsolationChoice {
  core::Isolation level = core::Isolation::none;
  std::string why;
};

struct Sites {
  site::DriverTable::Drivers drivers;
  std::map<std::string, std::shared_ptr<api::SampleSource>> samples;
  std::shared_ptr<site::LocalDriver> local;  // null when the file has no local site
};

Sites make_sites(const std::string& home, const Config& config, const journal::Identity& identity);

// The driver of a site that a command added, from its definition. One that cannot be made is
// answered with a driver that does nothing and says why. May block; from any thread.
std::shared_ptr<site::SiteDriver> make_defined_site(const std::string& home,
                                                    const journal::Identity& identity,
                                                    const std::string& name,
                                                    const std::string& kind,
                                                    const std::string& definition);

// As configured; else `sandbox` once the platform has several users, `none` while it has one.
IsolationChoice choose_isolation(const Config& config, const core::State& state);

}  // namespace atl::bin
