// Workflows as the journal's twin in memory keeps them.
#include <algorithm>

#include "base/overloaded.h"
#include "journal/memory_journal.h"

namespace atl::journal {
namespace {

uint32_t version_in(std::vector<FileVersion>& versions, const Digest& files, Time at) {
  const auto known = std::ranges::find(versions, files, &FileVersion::digest);
  if (known != versions.end()) return known->version;
  versions.push_back({static_cast<uint32_t>(versions.size() + 1), files, at});
  return versions.back().version;
}

template <class Steps, class Fn>
void for_each_step(Steps& steps, WorkflowId id, const IntervalSet& which, const Fn& fn) {
  for (const Interval& range : which.ranges()) {
    const auto end = steps.upper_bound(core::StepRef{id, range.last});
    for (auto at = steps.lower_bound(core::StepRef{id, range.first}); at != end; ++at)
      fn(at->second);
  }
}

}  // namespace

Result<void> MemoryJournal::write_workflow_event(Disk& disk, const core::Event& event) {
  return match(
      event.body,
      [&](const core::WorkflowSubmitted& e) -> Result<void> {
        KeptWorkflow kept{.id = e.id, .ns = e.ns, .user = e.user, .name = e.name};
        kept.version = version_in(disk.versions[{e.ns, e.name}], e.files, event.at);
        kept.submitted = event.at;
        kept.document = e.document;
        kept.fail_fast = e.fail_fast;
        kept.parallel_max = e.parallel_max;
        kept.lane = e.lane;
        kept.overlap = e.overlap;
        kept.origin = e.origin;
        kept.time_limit = e.time_limit;
        disk.workflows[e.id] = {std::move(kept), e.files};
        return hold(disk, e.files);
      },
      [&](const core::StepsAdded& e) -> Result<void> {
        auto& kinds = disk.kinds[e.id];
        kinds.insert(kinds.end(), e.kinds.begin(), e.kinds.end());
        for (uint32_t i = 0; i < e.steps.size(); ++i) {
          disk.steps[{e.id, e.first + i}] = {.number = e.first + i, .step = e.steps[i]};
          if (auto held = hold(disk, e.steps[i].payload); !held) return held;
          if (auto held = hold(disk, e.steps[i].recipe); !held) return held;
        }
        return {};
      },
      [&](const core::StepsEnded& e) -> Result<void> {
        for_each_step(disk.steps, e.id, e.steps, [&](KeptStep& step) {
          step.job = e.job;
          step.state = e.how;
          step.ended = event.at;
          step.message = e.message;
          step.outputs = e.outputs;
          step.reused = e.reused;
          step.use = e.use;
        });
        if (e.cache != Digest{} && e.how == core::StepState::succeeded)
          disk.cached[{disk.workflows.at(e.id).first.ns, e.cache}] = {e.id, e.steps.front()};
        return {};
      },
      [&](const core::StepsReopened& e) -> Result<void> {
        for_each_step(disk.steps, e.id, e.steps, [](KeptStep& step) {
          step = {.number = step.number, .step = std::move(step.step)};
        });
        return {};
      },
      [&](const core::WorkflowEnded& e) -> Result<void> {
        KeptWorkflow& kept = disk.workflows.at(e.id).first;
        kept.ended = event.at;
        kept.outcome = e.outcome;
        kept.message = e.message;
        kept.tally = e.tally;
        return {};
      },
      [&](const core::WorkflowReopened& e) -> Result<void> {
        KeptWorkflow& kept = disk.workflows.at(e.workflow.id).first;
        kept.ended = {};
        kept.outcome.reset();
        kept.message.clear();
        return {};
      },
      [&](const core::StepFeeding& e) -> Result<void> {
        if (!disk.steps.at(e.step).step.prepared) return {};
        disk.prepared[e.step] = e.payload;
        return hold(disk, e.payload);
      },
      [&](const core::FedJobEnded& e) -> Result<void> {
        if (!e.outputs.empty())
          disk.fed[{e.step, e.job}] = {e.job, core::to_text(e.items), e.outputs};
        return {};
      },
      [](const auto&) -> Result<void> { return {}; });
}

void MemoryJournal::drop_workflows(Time ended_before, size_t max) {
  for (auto at = disk_.workflows.begin(); at != disk_.workflows.end() && max > 0;) {
    const WorkflowId id = at->first;
    const Time ended = at->second.first.ended;
    if (!ended || ended >= ended_before) {
      ++at;
      continue;
    }
    const auto first = disk_.steps.lower_bound({id, 0});
    const auto last = disk_.steps.upper_bound({id, UINT32_MAX});
    for (auto step = first; step != last; ++step) {
      release(step->second.step.payload);
      release(step->second.step.recipe);
    }
    disk_.steps.erase(first, last);
    disk_.kinds.erase(id);
    std::erase_if(disk_.fed, [id](const auto& each) { return each.first.first.workflow == id; });
    std::erase_if(disk_.prepared, [id](const auto& each) { return each.first.workflow == id; });
    std::erase_if(disk_.cached, [id](const auto& entry) { return entry.second.workflow == id; });
    at = disk_.workflows.erase(at);
    --max;
  }
}

Result<KeptWorkflow> MemoryJournal::workflow(WorkflowId id) {
  const auto found = disk_.workflows.find(id);
  if (found == disk_.workflows.end())
    return fail(ErrorCode::not_found, "there is no workflow " + to_string(id), "id");
  return found->second.first;
}

Result<std::vector<KeptWorkflow>> MemoryJournal::workflows(const WorkflowFilter& filter,
                                                           WorkflowId before, size_t max) {
  std::vector<KeptWorkflow> found;
  auto at = before ? disk_.workflows.lower_bound(before) : disk_.workflows.end();
  while (at != disk_.workflows.begin() && found.size() < max) {
    const KeptWorkflow& each = (--at)->second.first;
    const bool seen = filter.visible.empty() ||
                      std::ranges::find(filter.visible, each.ns) != filter.visible.end();
    if (seen && (!filter.ns || *filter.ns == each.ns) &&
        (!filter.user || *filter.user == each.user) &&
        each.name.find(filter.name) != std::string::npos &&
        (filter.origin.empty() || filter.origin == each.origin))
      found.push_back(each);
  }
  return found;
}

Result<std::vector<KeptStep>> MemoryJournal::steps(WorkflowId id, uint32_t first, size_t max) {
  std::vector<KeptStep> found;
  for (auto at = disk_.steps.lower_bound({id, first});
       at != disk_.steps.end() && at->first.workflow == id && found.size() < max; ++at)
    found.push_back(at->second);
  return found;
}

Result<std::vector<core::StepKind>> MemoryJournal::step_kinds(WorkflowId id) {
  return disk_.kinds[id];
}

Result<std::string> MemoryJournal::step_bytes(core::StepRef step, bool recipe) {
  const auto found = disk_.steps.find(step);
  if (found == disk_.steps.end())
    return fail(ErrorCode::not_found, "workflow " + to_string(step.workflow) + " has no such step");
  const core::NewStep& added = found->second.step;
  const auto blob = disk_.blobs.find(recipe ? added.recipe : added.payload);
  if (blob == disk_.blobs.end()) return fail(ErrorCode::not_found, "no bytes of that step");
  return blob->second.first;
}

Result<std::string> MemoryJournal::workflow_files(WorkflowId id) {
  const auto found = disk_.workflows.find(id);
  if (found == disk_.workflows.end())
    return fail(ErrorCode::not_found, "there is no workflow " + to_string(id), "id");
  return disk_.blobs.at(found->second.second).first;
}

Result<std::vector<FileVersion>> MemoryJournal::versions(NamespaceId ns, const std::string& name) {
  std::vector<FileVersion> versions = disk_.versions[{ns, name}];
  std::ranges::reverse(versions);
  return versions;
}

Result<std::vector<FedOutput>> MemoryJournal::fed_outputs(core::StepRef step, JobId after,
                                                          size_t max) {
  std::vector<FedOutput> found;
  for (auto at = disk_.fed.upper_bound({step, after});
       at != disk_.fed.end() && at->first.first == step && found.size() < max; ++at)
    found.push_back(at->second);
  return found;
}

Result<std::optional<core::StepRef>> MemoryJournal::cached(NamespaceId ns, const Digest& key) {
  const auto found = disk_.cached.find({ns, key});
  if (found == disk_.cached.end()) return std::nullopt;
  return found->second;
}

}  // namespace atl::journal
