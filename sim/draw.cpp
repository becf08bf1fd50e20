#include "sim/draw.h"

#include <algorithm>

#include "core/limits.h"

namespace atl::sim {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

}  // namespace

Digest digest_of(uint64_t number) {
  Rng rng(number);
  Digest digest;
  for (uint8_t& byte : digest.bytes) byte = static_cast<uint8_t>(rng.next());
  return digest;
}

Draw::Draw(Rng rng, std::vector<std::string> sites)
    : rng_(rng), sites_(std::move(sites)), mixed_(rng_.chance(300)) {
  const auto count = static_cast<size_t>(rng_.between(2, 12));
  for (size_t i = 0; i < count; ++i) usual_.push_back(terms());
}

std::vector<Ask> Draw::setup() {
  std::vector<Ask> asks;
  const auto ask = [&](core::Command command) { asks.push_back({{root(), std::move(command)}}); };
  ask(core::CreateUser{"root", true, 0});
  for (uint32_t user = 2; user <= kUsers; ++user)
    ask(core::CreateUser{"u" + std::to_string(user), false, 1000 + user});
  for (const std::string& site : sites_) ask(new_site(site));
  for (uint32_t ns = 1; ns <= kNamespaces; ++ns) {
    const std::string name = "n" + std::to_string(ns);
    ask(core::CreateNamespace{name, "u2"});
    for (uint32_t user = 3; user < kUsers; ++user) {
      ask(core::SetMember{name, "u" + std::to_string(user),
                          rng_.chance(800) ? core::Role::member : core::Role::viewer});
    }
    if (rng_.chance(400)) ask(core::SetQuota{name, quota()});
  }
  ask(core::SetCohort{"c1", {}, {}, {}, {}});
  for (uint32_t ns = 1; ns <= kNamespaces; ++ns) {
    if (rng_.chance(500)) ask(core::SetStake{"n" + std::to_string(ns), "c1", {}, {}});
  }
  return asks;
}

void Draw::know(JobId job) { jobs_.push_back(job); }

// Mostly one of the latest, sometimes an old one, now and then one that never was.
JobId Draw::some_job() {
  if (jobs_.empty() || rng_.chance(20)) return JobId{static_cast<uint64_t>(rng_.between(1, 1000))};
  if (rng_.chance(200)) return rng_.pick(jobs_);
  const size_t recent = std::min<size_t>(jobs_.size(), 20);
  return jobs_[jobs_.size() - 1 - rng_.below(recent)];
}

core::Actor Draw::someone() {
  core::Actor actor{UserId{static_cast<uint32_t>(rng_.between(1, kUsers - 1))}, false, {}};
  if (rng_.chance(50))
    actor.namespaces = {NamespaceId{static_cast<uint32_t>(rng_.between(1, kNamespaces))}};
  return actor;
}

core::Quota Draw::quota() {
  core::Quota quota;
  if (rng_.chance(400)) quota.cpu_milli = rng_.between(0, 12) * 1000;
  if (rng_.chance(300)) quota.memory_bytes = rng_.between(0, 32) * kGiB;
  if (rng_.chance(300)) quota.running = rng_.below(12);
  if (rng_.chance(200)) quota.queued = rng_.below(60);
  if (rng_.chance(300)) quota.devices["gpu"] = static_cast<uint32_t>(rng_.below(5));
  if (rng_.chance(300)) quota.devices["gpu:a100"] = static_cast<uint32_t>(rng_.below(3));
  return quota;
}

// A share, an amount of memory, or a slice, of one model or of several.
core::DeviceRequest Draw::part_of_device() {
  static const std::vector<std::string> kProfiles{"1g", "2g", "3g", "4g", "7g"};
  core::DeviceRequest request{"gpu", rng_.chance(500) ? "" : rng_.chance(500) ? "a100" : "h100", 1};
  request.count = static_cast<uint32_t>(rng_.chance(700) ? 1 : rng_.between(2, 3));
  if (!request.model.empty() && rng_.chance(300)) request.also = {""};
  const uint64_t die = rng_.below(3);
  if (die == 0) request.share_milli = static_cast<int32_t>(rng_.between(1, 9) * 100);
  if (die == 1) request.memory_bytes = rng_.between(1, 80) * kGiB;
  if (die == 2) request.profile = rng_.pick(kProfiles);
  return request;
}

std::vector<core::DeviceRequest> Draw::devices() {
  std::vector<core::DeviceRequest> asked;
  const auto some = [&] { return static_cast<uint32_t>(rng_.between(1, 3)); };
  const uint64_t die = rng_.below(10);
  if (die < 2) {
    asked.push_back({"gpu", "a100", some(), {"h100"}});
    if (rng_.chance(300)) asked.back().also.emplace_back("");
    if (rng_.chance(200)) asked.push_back({"gpu", "h100", 1});
  } else if (die < 6) {
    asked.push_back(part_of_device());
    if (rng_.chance(200)) asked.push_back({"gpu", "h100", 1});
  } else {
    if (rng_.chance(500)) asked.push_back({"gpu", "", some()});
    if (rng_.chance(400)) asked.push_back({"gpu", "a100", some()});
    if (rng_.chance(200)) asked.push_back({"gpu", "h100", 1});
  }
  if (rng_.chance(150)) asked.push_back({"nic", "", 1});
  std::sort(asked.begin(), asked.end());
  return asked;
}

core::Terms Draw::terms() {
  core::Terms terms;
  terms.resources.cpu_milli = rng_.chance(300) ? rng_.between(1, 1000) : rng_.between(1, 6) * 500;
  if (rng_.chance(600)) terms.resources.memory_bytes = rng_.between(0, 8) * kGiB;
  if (rng_.chance(350)) terms.resources.devices = devices();
  if (rng_.chance(400)) terms.priority = static_cast<int32_t>(rng_.between(-5, 5));
  if (rng_.chance(300)) terms.wall = rng_.between(seconds(1), minutes(5));
  terms.grace = rng_.chance(200) ? Duration{} : rng_.between(Duration{}, minutes(1));
  if (rng_.chance(500)) terms.retry.max = static_cast<uint32_t>(rng_.between(1, 4));
  terms.retry.backoff = rng_.chance(200) ? Duration{} : rng_.between(milliseconds(1), seconds(30));
  terms.retry.backoff_max = rng_.between(Duration{}, minutes(2));
  if (rng_.chance(200)) terms.retry.exit_codes = {1, 3};
  terms.retry.on_timeout = rng_.chance(300);
  if (rng_.chance(200)) terms.site = some_sites();
  if (rng_.chance(500)) terms.tier = core::kTiers[rng_.below(4)];
  if (rng_.chance(150))
    terms.gang = static_cast<uint32_t>(rng_.between(1, 5));
  else if (rng_.chance(300))
    terms.parallel_max = static_cast<uint32_t>(rng_.between(1, 4));
  return terms;
}

IntervalSet Draw::indices() {
  IntervalSet set;
  const auto ranges = rng_.between(1, 3);
  uint32_t at = static_cast<uint32_t>(rng_.below(5));
  for (int64_t i = 0; i < ranges; ++i) {
    const uint32_t last = at + static_cast<uint32_t>(rng_.below(rng_.chance(100) ? 40 : 6));
    set.add({at, last});
    at = last + 2 + static_cast<uint32_t>(rng_.below(4));
  }
  return set;
}

std::vector<core::Dependency> Draw::dependencies() {
  std::vector<core::Dependency> after;
  const auto count = rng_.between(1, 3);
  for (int64_t i = 0; i < count && !jobs_.empty(); ++i) {
    const auto kind = static_cast<core::DependencyKind>(rng_.below(3));
    after.push_back({some_job(), kind, {}});
  }
  return after;
}

void Draw::give_payload(Ask& ask) {
  const uint64_t number = rng_.chance(300) ? rng_.below(5) : ++serial_ + 1000;
  ask.payload = payload_of(number);
  ask.digest = digest_of(number);
}

core::SubmitJob Draw::job(const Ask& ask) {
  core::SubmitJob job;
  job.ns = some_namespace();
  job.name = "job-" + std::to_string(++serial_);
  job.terms = rng_.chance(700) ? rng_.pick(usual_) : terms();
  job.payload = ask.digest;
  job.array = rng_.chance(250);
  job.indices = job.array ? indices() : IntervalSet({0, 0});
  if (job.terms.gang > 0) {
    job.array = true;
    job.indices = IntervalSet({0, job.terms.gang - 1});
  }
  if (rng_.chance(250)) job.dependencies = dependencies();
  if (rng_.chance(100)) job.labels = {{"colour", "blue"}};
  job.held = rng_.chance(60);
  job.keep = rng_.chance(100);
  if (rng_.chance(150)) job.notify.webhook = "https://example.org/hook";
  if (ask.keyed) job.key = "key-" + std::to_string(serial_);
  return job;
}

Ask Draw::submission() {
  Ask ask;
  ask.keyed = rng_.chance(600);
  give_payload(ask);
  core::SubmitJobs batch;
  const auto count = rng_.chance(850) ? 1 : rng_.between(2, 8);
  for (int64_t i = 0; i < count; ++i) batch.jobs.push_back(job(ask));
  // A client that gives two jobs of one batch the same key asks for one job twice.
  if (count > 1 && ask.keyed && rng_.chance(100)) {
    batch.jobs[1].key = batch.jobs[0].key;
    ask.must_refuse = true;
  }
  ask.request = {someone(), std::move(batch)};
  return ask;
}

void Draw::spoil(core::SubmitJob& job) {
  switch (rng_.below(18)) {
    case 0:
      job.terms.resources.cpu_milli = 0;
      break;
    case 1:
      job.indices = {};
      break;
    case 2:
      job.terms.wall = Duration{-1};
      break;
    case 3:
      job.terms.priority = core::kPriorityMax + 1;
      break;
    case 4:
      job.terms.grace = core::kGraceMax + seconds(1);
      break;
    case 5:
      job.terms.resources.devices = {{"nic", "", 1}, {"gpu", "", 1}};
      break;
    case 6:
      job.labels = {{"", "nothing"}};
      break;
    case 7:
      job.name = "tab\there";
      break;
    case 8:
      job.key = std::string(core::kKeyBytesMax + 1, 'k');
      break;
    case 9:
      job.dependencies = {{JobId{1'000'000'000}, core::DependencyKind::after_end, {}}};
      break;
    case 10:
      job.ns = "nowhere";
      break;
    case 11:
      job.terms.resources.memory_bytes = -5;
      break;
    case 12:
      job.array = true, job.indices = IntervalSet({0, core::kArraySizeMax});
      break;
    case 13:
      job.terms.gang = 3, job.terms.parallel_max = 2, job.indices = IntervalSet({0, 2});
      break;
    case 14:
      job.terms.gang = 3, job.terms.parallel_max = 0, job.indices = IntervalSet({0, 3});
      break;
    case 15:
      job.terms.resources.devices = {{"gpu", "", 1, {"a100"}}};
      break;
    case 16:
      job.terms.resources.devices = {{"gpu", "a100", 1, {}, 1001}};
      break;
    default:
      job.terms.retry.max = core::kRetriesMax + 1;
      break;
  }
}

Ask Draw::wrong() {
  Ask ask;
  if (rng_.chance(700)) {
    give_payload(ask);
    core::SubmitJob bad = job(ask);
    ask.request.actor = root();
    const uint64_t die = rng_.below(20);
    if (die == 0)
      ask.request.actor = {UserId{kUsers}, false, {}};
    else if (die == 1)
      ask.request.actor = {UserId{99}, false, {}};
    else if (die == 2)
      ask.request.actor.read_only = true;
    else
      spoil(bad);
    ask.request.command = core::SubmitJobs{{std::move(bad)}};
  } else {
    const core::Actor outsider{UserId{kUsers}, false, {}};
    const std::vector<core::Command> commands{core::SetQuota{"n1", quota()},
                                              core::AddSite{"mine", "simulated"},
                                              core::CreateUser{"friend", true, {}},
                                              core::CancelJob{some_job(), {}, {}},
                                              core::RequeueJob{some_job(), {}, {}},
                                              core::DrainSite{sites_[0], true},
                                              core::DrainNode{sites_[0], "node1", true},
                                              core::SetCalendarEntry{calendar_entry()},
                                              core::DeleteCalendarEntry{"e1"},
                                              reservation(),
                                              core::CancelReservation{"r1"},
                                              core::RecordDeed{core::BackupAsked{"/copy"}, {}},
                                              core::SetMember{"n1", "u6", core::Role::admin},
                                              core::SubmitJobs{}};
    ask.request = {outsider, rng_.pick(commands)};
  }
  ask.must_refuse = true;
  return ask;
}

core::Command Draw::change(JobId id) {
  core::ChangeJob change;
  change.id = id;
  const core::Terms fresh = terms();
  if (rng_.chance(500)) change.priority = fresh.priority;
  if (rng_.chance(500)) change.cpu_milli = fresh.resources.cpu_milli;
  if (rng_.chance(300)) change.devices = fresh.resources.devices;
  if (rng_.chance(300)) change.wall = fresh.wall;
  if (rng_.chance(300)) change.parallel_max = fresh.parallel_max;
  if (rng_.chance(150)) change.memory_bytes = fresh.resources.memory_bytes;
  if (rng_.chance(150)) change.tier = fresh.tier;
  if (rng_.chance(150)) change.grace = fresh.grace;
  return change;
}

Ask Draw::about_job() {
  const JobId id = some_job();
  std::optional<uint32_t> index;
  if (rng_.chance(300)) index = static_cast<uint32_t>(rng_.below(8));
  std::optional<Duration> grace;
  if (rng_.chance(300)) grace = rng_.between(Duration{}, seconds(20));
  core::Command command;
  const uint64_t die = rng_.below(100);
  if (die < 25)
    command = core::CancelJob{id, index, grace};
  else if (die < 40)
    command = core::HoldJob{id};
  else if (die < 60)
    command = core::ReleaseJob{id};
  else if (die < 75)
    command = change(id);
  else
    command = core::RequeueJob{id, index, {}};
  return {{rng_.chance(700) ? root() : someone(), std::move(command)}};
}

Ask Draw::next(Moment moment) {
  moment_ = moment;
  const uint64_t die = rng_.below(100);
  if (die < 48) return submission();
  if (die < 53) return wrong();
  if (die < 80) return about_job();
  if (die < 87) return about_workflow();
  if (die < 90) return about_schedule();
  return about_platform();
}

}  // namespace atl::sim
