// What administrators ask for, and the machines there are.
#include <algorithm>

#include "sim/draw.h"

namespace atl::sim {
namespace {

constexpr int64_t kDay = 24 * 60;  // in minutes

// Cut as an A100 is: eight slots, and each slice begins at certain ones.
void cut_into_slices(core::Device& device) {
  const int64_t slot = device.memory_bytes / 8;
  device.slots = 8;
  device.profiles = {{"1g", 1, {0, 1, 2, 3, 4, 5, 6}, slot},
                     {"2g", 2, {0, 2, 4}, slot * 2},
                     {"3g", 4, {0, 4}, slot * 4},
                     {"4g", 4, {0}, slot * 4},
                     {"7g", 8, {0}, slot * 8}};
}

core::Device draw_device(Rng& rng, int64_t number) {
  core::Device device{"d" + std::to_string(number), "gpu", "", 0, true};
  if (rng.chance(120)) {
    device.kind = "nic";
    return device;
  }
  device.model = rng.chance(600) ? "a100" : "h100";
  device.memory_bytes = int64_t{device.model == "a100" ? 40 : 80} << 30;
  if (rng.chance(350)) device.share_step_milli = rng.chance(500) ? 100 : 250;
  if (rng.chance(device.model == "a100" ? 500 : 200)) cut_into_slices(device);
  return device;
}

}  // namespace

SiteOptions draw_site(Rng& rng, size_t number) {
  SiteOptions site;
  site.name = "s" + std::to_string(number + 1);
  site.skew = rng.between(seconds(-5), seconds(5));
  site.line = rng.chance(600);
  const auto nodes = rng.between(1, kNodes);
  for (int64_t n = 0; n < nodes; ++n) {
    core::NodeCapacity node;
    node.name = "node" + std::to_string(n + 1);
    node.cpu_milli = rng.between(1, 8) * 1000;
    node.memory_bytes = rng.between(4, 32) << 30;
    const auto devices = rng.chance(600) ? rng.between(1, 4) : 0;
    const bool domains = rng.chance(500);
    for (int64_t d = 0; d < devices; ++d) {
      node.devices.push_back(draw_device(rng, d));
      if (domains) node.devices.back().domain = rng.chance(500) ? "left" : "right";
    }
    site.nodes.push_back(std::move(node));
  }
  return site;
}

core::Command Draw::cohort() {
  const std::string name = rng_.chance(700) ? "c1" : "c2";
  if (rng_.chance(100)) return core::DeleteCohort{name};
  core::SetCohort set;
  set.name = name;
  if (rng_.chance(300)) set.parent = rng_.chance(500) ? "c1" : "";
  if (rng_.chance(300)) set.weight_milli = static_cast<uint32_t>(rng_.between(0, 5000));
  if (rng_.chance(300)) set.quota = quota();
  if (set.quota) set.quota->queued.reset();
  return set;
}

core::Command Draw::stake() {
  core::SetStake set;
  set.ns = some_namespace();
  if (rng_.chance(800)) set.cohort = rng_.chance(700) ? "c1" : rng_.chance(500) ? "c2" : "";
  if (rng_.chance(400)) set.weight_milli = static_cast<uint32_t>(rng_.between(0, 5000));
  if (rng_.chance(300)) set.borrow = quota();
  return set;
}

// Weights and nothing else; a half-life that is short beside the hours it lasts.
std::vector<Ask> Draw::backlogged_setup() {
  std::vector<Ask> asks;
  const auto ask = [&](core::Command command) { asks.push_back({{root(), std::move(command)}}); };
  ask(core::CreateUser{"root", true, 0});
  for (const std::string& site : sites_) ask(core::AddSite{site, "simulated"});
  ask(core::SetPolicy{minutes(2), hours(1)});
  const auto weight = [&] { return static_cast<uint32_t>(rng_.between(1, 4) * 1000); };
  ask(core::SetCohort{"c1", {}, weight(), {}, {}});
  for (uint32_t ns = 1; ns <= kNamespaces; ++ns) {
    const std::string name = "n" + std::to_string(ns);
    ask(core::CreateNamespace{name, ""});
    ask(core::SetStake{name, ns == 1 ? "" : "c1", weight(), {}});
  }
  return asks;
}

Ask Draw::more_work(const std::string& ns) {
  Ask ask;
  give_payload(ask);
  core::SubmitJob job;
  job.ns = ns;
  job.name = "more-" + std::to_string(++serial_);
  job.terms.resources.cpu_milli = 1000;
  job.payload = ask.digest;
  job.array = true;
  job.indices = IntervalSet({0, 99});
  ask.request = {root(), core::SubmitJobs{{std::move(job)}}};
  return ask;
}

// Around now, and short: it begins and ends while people work.
core::CalendarEntry Draw::calendar_entry() {
  core::CalendarEntry entry;
  entry.name = "e" + std::to_string(rng_.between(1, 3));
  entry.tier = core::kTiers[rng_.below(4)];
  const int64_t minute = moment_.now.us / 60'000'000 + moment_.utc_offset;
  const int64_t from = minute + rng_.between(-40, 40);
  const int64_t day = (from / kDay + 3) % 7;
  entry.days = static_cast<uint8_t>(rng_.chance(500) ? 0b1111111 : 1 << day);
  entry.from = static_cast<uint32_t>(from % kDay);
  entry.until = static_cast<uint32_t>((from + rng_.between(1, 90)) % kDay);
  if (rng_.chance(600)) entry.share_milli = static_cast<int32_t>(rng_.between(0, 10) * 100);
  if (!entry.share_milli || rng_.chance(300)) entry.limit = quota();
  entry.limit.queued.reset();
  return entry;
}

core::CreateReservation Draw::reservation() {
  core::CreateReservation command;
  command.name = "r" + std::to_string(rng_.between(1, 5));
  command.from =
      moment_.now + rng_.between(seconds(1), rng_.chance(500) ? minutes(3) : minutes(30));
  command.until = command.from + rng_.between(seconds(10), minutes(60));
  command.namespaces = {"n" + std::to_string(rng_.between(1, kNamespaces))};
  if (rng_.chance(300)) command.namespaces.push_back(some_namespace());
  command.count = static_cast<uint32_t>(rng_.between(1, 3));
  command.whole_nodes = rng_.chance(250);
  command.each.cpu_milli = rng_.between(1, 8) * 500;
  if (rng_.chance(500)) command.each.memory_bytes = rng_.between(0, 8) << 30;
  if (rng_.chance(400)) command.each.devices = {{"gpu", rng_.chance(500) ? "" : "a100", 1}};
  if (rng_.chance(300)) command.site = rng_.pick(sites_);
  return command;
}

core::Command Draw::about_time() {
  switch (rng_.below(8)) {
    case 0:
    case 1:
    case 2:
      return reservation();
    case 3:
      return core::CancelReservation{"r" + std::to_string(rng_.between(1, 5))};
    case 4:
    case 5:
    case 6:
      return core::SetCalendarEntry{calendar_entry()};
    default:
      return core::DeleteCalendarEntry{"e" + std::to_string(rng_.between(1, 3))};
  }
}

core::Command Draw::about_sites() {
  switch (rng_.below(6)) {
    case 0:
    case 1:
      return core::DrainSite{rng_.pick(sites_), rng_.chance(400)};
    case 2:
    case 3:
      return core::DrainNode{rng_.pick(sites_), some_node(), rng_.chance(500)};
    case 4:
      return core::RemoveSite{rng_.pick(sites_)};
    default:
      return new_site(rng_.pick(sites_));
  }
}

// One, or several in the order they are liked; those that only pretend are not among several.
std::string Draw::some_sites() {
  const std::string first = rng_.pick(sites_);
  if (rng_.chance(600)) return first;
  const std::string& second = rng_.pick(sites_);
  return first + "|" + (mixed_ || second == first || rng_.chance(500) ? "any" : second);
}

// Beside one that does not pretend, those that do are used by name only.
core::Command Draw::new_site(const std::string& name) {
  return core::AddSite{name, mixed_ && rng_.chance(500) ? "real" : "simulated"};
}

core::Command Draw::about_people() {
  switch (rng_.below(7)) {
    case 0:
      return core::CreateNamespace{"n4", rng_.chance(500) ? some_user() : ""};
    case 1:
      return core::DeleteNamespace{"n4"};
    case 2:
      return core::RemoveMember{some_namespace(), some_user()};
    case 3:
      return core::CreateToken{some_user(), digest_of(rng_.next()), "note", hours(1), true, {}};
    case 4:
      return core::RevokeToken{TokenId{static_cast<uint32_t>(rng_.between(1, 10))}};
    case 5:
      return core::SetMember{some_namespace(), some_user(), static_cast<core::Role>(rng_.below(3))};
    default:
      return core::ChangeUser{some_user(), rng_.chance(300), {}, {}};
  }
}

Ask Draw::about_platform() {
  core::Command command;
  const uint64_t die = rng_.below(30);
  if (die < 6)
    command = about_people();
  else if (die < 12)
    command = about_sites();
  else if (die < 20)
    command = about_time();
  else if (die < 24)
    command = core::SetQuota{some_namespace(), rng_.chance(300) ? core::Quota{} : quota()};
  else if (die < 26)
    command = cohort();
  else if (die < 28)
    command = stake();
  else
    command =
        core::SetPolicy{rng_.between(minutes(1), hours(200)), rng_.between(seconds(1), hours(2))};
  return {{root(), std::move(command)}};
}

}  // namespace atl::sim
