// Sites are asked what really runs there: all of them after a start, and one whose driver has come.
#include "runtime/runtime.h"

namespace atl::runtime {

void Runtime::adopt() {
  std::map<SiteId, std::vector<AttemptId>> expected;
  for (const auto& [id, job] : state_.jobs) {
    for (const auto& [index, task] : job.tasks) {
      if (const auto* placement = core::placement_of(task.state)) {
        expected[placement->site].push_back({id, index, task.attempt});
      }
    }
  }
  for (const auto& [name, driver] : *drivers_.all()) {
    const core::Site* site = state_.site_named(name);
    driver->adopt(site ? std::move(expected[site->id]) : std::vector<AttemptId>{},
                  [this](core::Report report) { post(std::move(report)); });
  }
  send(core::pending_effects(state_));
}

void Runtime::attach(SiteId id, std::shared_ptr<site::SiteDriver> driver) {
  read([this, id, driver = std::move(driver)](const core::State& state) {
    const auto site = state.sites.find(id);
    if (site == state.sites.end()) return;
    drivers_.put(site->second.name, driver);
    adopt_site(id, *driver);
  });
}

void Runtime::adopt_site(SiteId id, site::SiteDriver& driver) {
  std::vector<AttemptId> expected;
  for (const auto& [job_id, job] : state_.jobs) {
    for (const auto& [index, task] : job.tasks) {
      const auto* placement = core::placement_of(task.state);
      if (placement && placement->site == id) expected.push_back({job_id, index, task.attempt});
    }
  }
  if (expected.empty())
    return driver.adopt({}, [this](core::Report report) { post(std::move(report)); });
  driver.adopt(std::move(expected), [this](core::Report report) { post(std::move(report)); });
  // Orders of the time without a driver went nowhere; those of other sites may be repeated.
  send(core::pending_effects(state_));
}

}  // namespace atl::runtime
