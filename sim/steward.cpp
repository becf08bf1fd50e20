#include "sim/steward.h"

#include "base/wire.h"
#include "sim/draw.h"

namespace atl::sim {
namespace {

constexpr uint64_t kFirstPayload = 1'000'000;  // so that no job that people submit has the same

}  // namespace

runtime::Steward SimSteward::connect(Post post) {
  post_ = std::move(post);
  return {[this](const core::PrepareStep& order) { prepare(order); },
          [this](const core::CollectStep& order) { collect(order); },
          [this](const core::TimeSchedule& order) { time(order); },
          [this](const core::OpenRun& order) { open(order); }};
}

void SimSteward::disconnect() {
  ++life_;
  post_ = nullptr;
  silent_.clear();
}

void SimSteward::heal() {
  for (auto& [report, blobs] : std::exchange(silent_, {}))
    deliver(std::move(report), std::move(blobs));
}

core::StepPrepared SimSteward::to_run(core::StepRef step, std::vector<journal::Blob>& blobs) {
  core::StepPrepared report;
  report.step = step;
  const uint64_t number = kFirstPayload + (rng_.chance(300) ? rng_.below(3) : ++serial_ + 10);
  const core::Payload payload = payload_of(number);
  report.payload = digest_of(number);
  blobs.push_back({report.payload, wire::encode(payload)});
  report.array = rng_.chance(300);
  if (report.array) report.indices = IntervalSet({0, static_cast<uint32_t>(rng_.below(6))});
  if (report.array && rng_.chance(500))
    report.parallel_max = static_cast<uint32_t>(rng_.between(1, 3));
  return report;
}

void SimSteward::prepare(const core::PrepareStep& order) {
  std::vector<journal::Blob> blobs;
  core::StepPrepared report;
  report.step = order.step;
  report.opening = order.opening;
  using Result = core::StepPrepared::Result;
  const uint64_t die = rng_.below(100);
  if (die < 70) {
    report = to_run(order.step, blobs);
    report.opening = order.opening;
  } else if (die < 80) {
    report.result = Result::reuse;
    report.outputs = R"({"n":1})";
    report.reused = {WorkflowId{1}, 0};
  } else if (die < 92) {
    report.result = Result::skip;
    report.message = "its condition does not hold";
  } else {
    report.result = Result::fail;
    report.message = "an output that it names is not there";
  }
  answer(std::move(report), std::move(blobs));
}

void SimSteward::collect(const core::CollectStep& order) {
  core::StepCollected report;
  report.step = order.step;
  report.job = order.job;
  report.opening = order.opening;
  report.failed = rng_.chance(150);
  if (report.failed)
    report.message = "a check did not hold";
  else
    report.outputs = R"({"loss":0.5})";
  if (!report.failed && rng_.chance(500)) report.cache = digest_of(rng_.below(20));
  answer(std::move(report), {});
}

// Its expression is the seconds between two times.
void SimSteward::time(const core::TimeSchedule& order) {
  const core::ScheduleTimes times{order.id, order.revision, order.after,
                                  schedule_times(order.timing, order.after)};
  answer(times, {});
}

void SimSteward::open(const core::OpenRun& order) {
  core::RunPlanned report;
  report.id = order.id;
  report.revision = order.revision;
  report.number = order.number;
  std::vector<journal::Blob> blobs;
  if (rng_.chance(100)) {
    report.error = "its file does not read any more";
  } else {
    const uint64_t number = kFirstPayload + ++serial_ + 10;
    report.run.name = order.schedule;
    report.run.files = digest_of(number);
    report.run.kinds.emplace_back();
    report.run.kinds.back().terms.resources.cpu_milli = 100;
    report.run.keep = true;
    core::NewStep& step = report.run.steps.emplace_back();
    step.name = "a";
    step.payload = digest_of(number);
    blobs.push_back({step.payload, wire::encode(payload_of(number))});
  }
  answer(std::move(report), std::move(blobs));
}

void SimSteward::answer(core::Report report, std::vector<journal::Blob> blobs) {
  if (rng_.chance(faults_.steward_silent)) {
    silent_.emplace_back(std::move(report), std::move(blobs));
    return;
  }
  if (rng_.chance(faults_.report_doubled)) deliver(report, blobs);
  deliver(std::move(report), std::move(blobs));
}

void SimSteward::deliver(core::Report report, std::vector<journal::Blob> blobs) {
  const bool late = rng_.chance(faults_.report_late);
  const Duration wait =
      late ? rng_.between(Duration{}, faults_.late_max) : rng_.between(milliseconds(1), seconds(2));
  world_.after(wait, [this, life = life_, report = std::move(report), blobs = std::move(blobs)] {
    if (life == life_ && post_) post_(report, blobs);
  });
}

}  // namespace atl::sim
