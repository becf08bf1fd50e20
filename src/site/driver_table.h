// The drivers of the sites there are, by name. Sites come and go while the server runs, so
// everybody who asks sites for something looks here at that moment. Safe from any thread: what is
// handed out is a copy that does not change, and a driver lives as long as somebody has it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "site/driver.h"

namespace atl::site {

class DriverTable {
 public:
  using Drivers = std::map<std::string, std::shared_ptr<SiteDriver>>;

  DriverTable() : drivers_(std::make_shared<Drivers>()) {}
  DriverTable(const DriverTable&) = delete;
  DriverTable& operator=(const DriverTable&) = delete;

  // All of them, as of now.
  std::shared_ptr<const Drivers> all() const {
    const std::lock_guard lock(mutex_);
    return drivers_;
  }
  // Null when the site is not connected.
  std::shared_ptr<SiteDriver> find(const std::string& site) const {
    const auto drivers = all();
    const auto found = drivers->find(site);
    return found == drivers->end() ? nullptr : found->second;
  }
  void put(const std::string& site, std::shared_ptr<SiteDriver> driver) {
    change([&](Drivers& drivers) { drivers[site] = std::move(driver); });
  }
  // Takes it out; who gets it closes it.
  std::shared_ptr<SiteDriver> take(const std::string& site) {
    std::shared_ptr<SiteDriver> taken;
    change([&](Drivers& drivers) {
      const auto found = drivers.find(site);
      if (found == drivers.end()) return;
      taken = std::move(found->second);
      drivers.erase(found);
    });
    return taken;
  }

 private:
  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<Drivers>(*drivers_);
    change(*next);
    drivers_ = std::move(next);
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const Drivers> drivers_;
};

}  // namespace atl::site
