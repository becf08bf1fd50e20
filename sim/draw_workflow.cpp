// What people ask of workflows.
#include <algorithm>

#include "base/wire.h"
#include "core/limits.h"
#include "sim/draw.h"

namespace atl::sim {

core::Payload payload_of(uint64_t number) {
  core::Payload payload;
  payload.argv = {"run-" + std::to_string(number)};
  return payload;
}

uint64_t payload_number(const std::string& command) {
  return command.starts_with("run-") ? std::stoull(command.substr(4)) : 0;
}

void Draw::know(WorkflowId workflow) { workflows_.push_back(workflow); }

WorkflowId Draw::some_workflow() {
  if (workflows_.empty() || rng_.chance(20)) return WorkflowId{rng_.below(50) + 1};
  if (rng_.chance(200)) return rng_.pick(workflows_);
  const size_t recent = std::min<size_t>(workflows_.size(), 4);
  return workflows_[workflows_.size() - 1 - rng_.below(recent)];
}

Digest Draw::blob(Ask& ask) {
  const uint64_t number = rng_.chance(500) ? rng_.below(5) : ++serial_ + 1000;
  const Digest digest = digest_of(number);
  ask.blobs.push_back({digest, wire::encode(payload_of(number))});
  return digest;
}

std::vector<core::StepKind> Draw::kinds() {
  std::vector<core::StepKind> kinds(static_cast<size_t>(rng_.between(1, 4)));
  for (core::StepKind& kind : kinds) {
    kind.terms = rng_.chance(700) ? rng_.pick(usual_) : terms();
    if (rng_.chance(100)) kind.labels = {{"colour", "red"}};
  }
  return kinds;
}

core::NewStep Draw::step(Ask& ask, std::string name, const std::vector<core::StepKind>& kinds) {
  core::NewStep step;
  step.name = std::move(name);
  step.kind = static_cast<uint32_t>(rng_.below(kinds.size()));
  step.prepared = rng_.chance(350);
  step.collected = rng_.chance(350);
  if (!step.prepared) step.payload = blob(ask);
  if (step.prepared || step.collected) step.recipe = blob(ask);
  const uint32_t gang = kinds[step.kind].terms.gang;
  if (gang == 0 && rng_.chance(120)) step.feed = feed();
  step.array = gang > 0 || rng_.chance(150);
  if (step.array) step.indices = gang > 0 ? IntervalSet({0, gang - 1}) : indices();
  return step;
}

// Through the queue that producers and other workers use at the same time; now and then through one
// that is not there.
core::FeedTerms Draw::feed() {
  const auto least = static_cast<uint32_t>(rng_.between(1, 3));
  return {rng_.chance(30) ? "nowhere" : "frames", least,
          least + static_cast<uint32_t>(rng_.between(0, 4)),
          static_cast<uint32_t>(rng_.between(1, 4)), rng_.chance(300)};
}

// Mostly near ones, so that graphs are deep as well as wide; now and then the same one twice.
std::vector<core::Need> Draw::needs(uint32_t of) {
  std::vector<core::Need> needs;
  const auto count = of == 0 ? 0 : rng_.between(0, rng_.chance(100) ? 12 : 3);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t back = rng_.chance(600) ? rng_.below(std::min<uint64_t>(of, 5)) : rng_.below(of);
    needs.push_back(
        {static_cast<uint32_t>(of - 1 - back), rng_.chance(tolerant_), rng_.chance(tolerant_)});
  }
  return needs;
}

Ask Draw::workflow() {
  Ask ask;
  core::SubmitWorkflow submit;
  submit.ns = some_namespace();
  submit.name = "flow-" + std::to_string(++serial_);
  submit.files = blob(ask);
  submit.document = "{}";
  submit.fail_fast = rng_.chance(250);
  submit.paused = rng_.chance(50);
  if (rng_.chance(300)) submit.parallel_max = static_cast<uint32_t>(rng_.between(1, 5));
  submit.sealed = !rng_.chance(80);
  submit.keep = rng_.chance(300);
  submit.kinds = kinds();
  tolerant_ = rng_.chance(300) ? 700 : 200;
  const auto count = static_cast<uint32_t>(rng_.between(1, rng_.chance(150) ? 60 : 12));
  for (uint32_t i = 0; i < count; ++i) {
    submit.steps.push_back(step(ask, "s" + std::to_string(i), submit.kinds));
    submit.steps.back().needs = needs(i);
  }
  // The queue is in the first namespace, where not everybody may work.
  const bool fed = std::ranges::any_of(
      submit.steps, [](const core::NewStep& each) { return !each.feed.queue.empty(); });
  if (fed && rng_.chance(850)) submit.ns = "n1";
  const core::Actor actor = fed && rng_.chance(700) ? root() : someone();
  ask.request = {actor, std::move(submit)};
  return ask;
}

Ask Draw::more_steps() {
  Ask ask;
  core::AddSteps add;
  add.id = some_workflow();
  add.seal = rng_.chance(700);
  add.keep = rng_.chance(300);
  add.kinds = kinds();
  const auto count = rng_.between(0, 4);
  for (int64_t i = 0; i < count; ++i) {
    add.steps.push_back(step(ask, "a" + std::to_string(++serial_), add.kinds));
    auto& by_name = add.needs.emplace_back();
    for (int64_t n = rng_.between(0, 2); n > 0; --n)
      by_name.emplace_back("s" + std::to_string(rng_.below(12)),
                           core::Need{0, rng_.chance(500), rng_.chance(500)});
    if (i > 0 && rng_.chance(500)) by_name.emplace_back(add.steps[i - 1].name, core::Need{});
  }
  ask.request = {rng_.chance(700) ? root() : someone(), std::move(add)};
  return ask;
}

// Wrong whatever the state is.
Ask Draw::wrong_workflow() {
  Ask ask = workflow();
  auto& submit = std::get<core::SubmitWorkflow>(ask.request.command);
  ask.request.actor = root();
  core::NewStep& last = submit.steps.back();
  last.feed = {};  // it has no indices of its own, right or wrong
  const auto number = static_cast<uint32_t>(submit.steps.size() - 1);
  switch (rng_.below(11)) {
    case 0:
      submit.steps.clear();
      break;
    case 1:
      last.needs = {{number, false, false}};
      break;
    case 2:
      last.needs = {{number + 1, true, true}};
      break;
    case 3:
      last.kind = static_cast<uint32_t>(submit.kinds.size());
      break;
    case 4:
      submit.steps.push_back(last);
      break;
    case 5:
      last.name = rng_.chance(500) ? "" : "tab\there";
      break;
    case 6:
      last.prepared = false, last.indices = {};
      break;
    case 7:
      submit.kinds[0].terms.resources.cpu_milli = 0;
      break;
    case 8:
      submit.kinds[last.kind].terms.gang = 9, submit.kinds[last.kind].terms.parallel_max = 0;
      last.prepared = false, last.indices = IntervalSet({0, 2});
      break;
    case 9:
      submit.ns = "nowhere";
      break;
    default:
      ask.request.actor = {UserId{kUsers}, false, {}};
      break;
  }
  ask.must_refuse = true;
  return ask;
}

Ask Draw::about_workflow() {
  const uint64_t die = rng_.below(100);
  if (die < 40) return workflow();
  if (die < 45) return wrong_workflow();
  if (die < 55) return more_steps();
  const WorkflowId id = some_workflow();
  core::Command command;
  if (die < 63) {
    command = core::PauseWorkflow{id, true};
  } else if (die < 73) {
    command = core::PauseWorkflow{id, false};
  } else if (die < 80) {
    command = core::CancelWorkflow{id};
  } else {
    core::RetryWorkflow retry{id, {}, {}};
    for (int64_t n = rng_.chance(400) ? rng_.between(1, 3) : 0; n > 0; --n)
      retry.steps.push_back("s" + std::to_string(rng_.below(12)));
    command = std::move(retry);
  }
  return {{rng_.chance(700) ? root() : someone(), std::move(command)}};
}

}  // namespace atl::sim
