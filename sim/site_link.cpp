// The connection between a server and a simulated site, and what befalls both.
#include <algorithm>

#include "base/overloaded.h"
#include "sim/site.h"

namespace atl::sim {

// One server's view of the site. An order may be followed by the server's death: some have then
// left, some have not.
class SimDriver : public site::SiteDriver {
 public:
  SimDriver(SimSite& site, uint64_t link) : site_(site), link_(link) {}

  void adopt(std::vector<AttemptId> expected, site::ReportSink sink) override {
    site_.sink_ = std::move(sink);
    send(SimSite::Adopt{std::move(expected)});
  }
  void start(std::vector<site::StartOrder> orders) override {
    for (site::StartOrder& order : orders) send(std::move(order));
  }
  void stop(std::vector<site::StopOrder> orders) override {
    for (site::StopOrder& order : orders) send(order);
  }
  void forget(std::vector<AttemptId> attempts) override {
    for (const AttemptId attempt : attempts) send(SimSite::Forget{attempt});
  }
  Result<site::LogChunk> logs(AttemptId, site::LogStream, int64_t, size_t) override {
    return fail(ErrorCode::not_found, "a simulated site keeps no logs");
  }
  Result<site::ExecResult> exec(const site::ExecRequest&) override {
    return fail(ErrorCode::not_found, "a simulated site runs no commands");
  }
  std::string job_directory(JobId) override { return {}; }
  void purge(JobId) override {}
  void close() override { site_.disconnect(); }

 private:
  void send(SimSite::Order order) {
    if (site_.rng_.chance(site_.faults_.crash_in_effects)) throw ServerCrash{};
    site_.submit(link_, std::move(order));
  }

  SimSite& site_;
  const uint64_t link_;
};

std::shared_ptr<site::SiteDriver> SimSite::connect() {
  disconnect();
  return std::make_shared<SimDriver>(*this, link_);
}

void SimSite::disconnect() {
  ++link_;
  adopted_ = false;
  sink_ = nullptr;
  orders_.clear();
}

void SimSite::submit(uint64_t link, Order order) {
  if (link != link_) return;
  const bool doubled = !std::holds_alternative<Adopt>(order) && rng_.chance(faults_.order_doubled);
  if (doubled) {
    world_.after(rng_.between(Duration{}, minutes(1)), [this, link, copy = order] {
      if (link != link_) return;
      orders_.push_back(copy);
      deliver_orders();
    });
  }
  orders_.push_back(std::move(order));
  world_.after(rng_.between(Duration{}, milliseconds(20)), [this, link] {
    if (link == link_) deliver_orders();
  });
}

// In the order they were given; while the site cannot be reached they wait with the driver.
void SimSite::deliver_orders() {
  while (reachable() && !orders_.empty()) {
    const Order order = std::move(orders_.front());
    orders_.pop_front();
    std::visit([this](const auto& each) { carry_out(each); }, order);
  }
}

void SimSite::report(core::Report report) {
  if (!reachable() || !adopted_) return;
  if (rng_.chance(faults_.report_doubled)) send_later(report);
  if (!rng_.chance(faults_.report_lost)) send_later(std::move(report));
}

void SimSite::send_later(core::Report report) {
  Duration delay = rng_.between(Duration{}, milliseconds(5));
  if (rng_.chance(faults_.report_late)) delay = rng_.between(Duration{}, faults_.late_max);
  world_.after(delay, [this, link = link_, report = std::move(report)]() mutable {
    if (link == link_ && sink_) sink_(std::move(report));
  });
}

void SimSite::crash(Duration outage) {
  world_.trace.note(world_.now(), "site " + options_.name + " crashes");
  down_ = true;
  boot_ = world_.now();
  while (!line_.empty()) leave_line(line_.begin()->second, core::EndCause::lost);
  for (auto& [attempt, entry] : ledger_) {
    if (entry.running) lose(entry, attempt, "its site crashed");
  }
  world_.after(outage, [this, outage_number = ++outages_] {
    if (outage_number == outages_) come_back();
  });
}

void SimSite::partition(Duration outage) {
  world_.trace.note(world_.now(), "site " + options_.name + " is cut off");
  cut_ = true;
  if (sink_ && adopted_) {
    for (const auto& [attempt, entry] : ledger_) {
      if (entry.running) sink_(core::AttemptUnreachable{attempt, true});
    }
  }
  world_.after(outage, [this, outage_number = ++outages_] {
    if (outage_number == outages_) come_back();
  });
}

void SimSite::come_back() {
  world_.trace.note(world_.now(), "site " + options_.name + " is back");
  down_ = cut_ = false;
  if (sink_ && adopted_) {
    for (const auto& [attempt, entry] : ledger_) {
      if (entry.running) sink_(core::AttemptUnreachable{attempt, false});
    }
    report(core::SiteProbed{options_.name, capacity()});
    for (const AttemptId attempt : kept_) report_known(attempt, ledger_.at(attempt));
  }
  deliver_orders();
}

void SimSite::reshape() {
  nodes_ = options_.nodes;
  const size_t at = rng_.below(nodes_.size());
  core::NodeCapacity& node = nodes_[at];
  const uint64_t die = rng_.below(6);
  if (die == 0) {
    const std::string name = node.name;
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(at));
    const bool dies = rng_.chance(500);
    for (auto& [attempt, entry] : ledger_) {
      if (dies && entry.running && entry.placement.node == name)
        lose(entry, attempt, "its node is gone");
    }
  } else if (die == 1) {
    node.cpu_milli = node.cpu_milli * rng_.between(1, 3) / 2;
  } else if (die == 2 && !node.devices.empty()) {
    node.devices.erase(node.devices.begin() +
                       static_cast<std::ptrdiff_t>(rng_.below(node.devices.size())));
  } else if (die == 3) {
    node.memory_bytes = node.memory_bytes * rng_.between(0, 3) / 2;
  } else if (die == 4 && !node.devices.empty()) {
    // What it could be cut into it no longer can.
    core::Device& device = node.devices[rng_.below(node.devices.size())];
    device.share_step_milli = rng_.chance(500) ? 0 : 500;
    device.profiles.clear();
    device.slots = 0;
  }
  report(core::SiteProbed{options_.name, capacity()});
}

void SimSite::heal() {
  nodes_ = options_.nodes;
  ++outages_;
  if (!reachable()) come_back();
}

}  // namespace atl::sim
