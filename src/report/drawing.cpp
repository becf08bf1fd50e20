#include "report/drawing.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/display.h"
#include "report/followers.h"
#include "report/limits.h"

namespace atl::report {
namespace {

using core::Need;
using Needs = std::vector<std::vector<Need>>;
using Classes = std::vector<uint32_t>;

// A need that leads nowhere or to the step itself is left out: a drawing never fails.
Needs needs_of(const WorkflowRun& run) {
  Needs needs(run.steps.size());
  for (size_t i = 0; i < needs.size(); ++i) {
    for (const Need& need : run.steps[i].needs)
      if (need.step < needs.size() && need.step != i) needs[i].push_back(need);
  }
  return needs;
}

// Steps of a cycle, which no checked workflow has, stay on level 0.
std::vector<uint32_t> levels_of(const Followers& graph, const Needs& needs) {
  std::vector<uint32_t> levels(needs.size()), unmet(needs.size()), order;
  for (uint32_t i = 0; i < needs.size(); ++i) {
    unmet[i] = static_cast<uint32_t>(needs[i].size());
    if (unmet[i] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    for (const Need& follower : graph.of(order[at])) {
      levels[follower.step] = std::max(levels[follower.step], levels[order[at]] + 1);
      if (--unmet[follower.step] == 0) order.push_back(follower.step);
    }
  }
  return levels;
}

// "download[12].nc" -> "download[#].nc"
std::string stem(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

uint64_t mixed(uint64_t seed, uint64_t value) {
  uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class List>
uint64_t mixed_classes(uint64_t seed, const List& list, const Classes& classes,
                       std::vector<uint32_t>& scratch) {
  scratch.clear();
  for (const Need& need : list) scratch.push_back(classes[need.step]);
  std::sort(scratch.begin(), scratch.end());
  scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
  for (const uint32_t each : scratch) seed = mixed(seed, each);
  return mixed(seed, scratch.size());
}

// Classes by order of appearance; gives back how many there are.
size_t number(const std::vector<uint64_t>& keys, Classes& classes) {
  std::unordered_map<uint64_t, uint32_t> known;
  classes.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    classes[i] = known.emplace(keys[i], static_cast<uint32_t>(known.size())).first->second;
  return known.size();
}

// The coarsest classes in which all members need the same classes and are needed by the same.
// Nothing when those are more than `max`, or are not found in time.
std::optional<Classes> alike(const WorkflowRun& run, const Followers& graph, const Needs& needs,
                             const std::vector<uint32_t>& levels, bool by_name, size_t max) {
  std::vector<uint64_t> keys(levels.begin(), levels.end());
  for (size_t i = 0; by_name && i < keys.size(); ++i)
    keys[i] = mixed(keys[i], std::hash<std::string>{}(stem(run.steps[i].name)));
  Classes classes;
  std::vector<uint32_t> scratch;
  size_t before = number(keys, classes);
  for (size_t round = 0; round < kRoundsMax && before <= max; ++round) {
    for (uint32_t i = 0; i < keys.size(); ++i) {
      keys[i] = mixed_classes(mixed(0, classes[i]), needs[i], classes, scratch);
      keys[i] = mixed_classes(keys[i], graph.of(i), classes, scratch);
    }
    const size_t now = number(keys, classes);
    if (now == before) return classes;
    before = now;
  }
  return std::nullopt;
}

std::optional<Classes> classes_of(const WorkflowRun& run, const Followers& graph, const Needs& needs,
                                  const std::vector<uint32_t>& levels, size_t max) {
  Classes classes(run.steps.size());
  for (uint32_t i = 0; i < classes.size(); ++i) classes[i] = i;
  if (classes.size() <= max) return classes;
  if (auto found = alike(run, graph, needs, levels, true, max)) return found;
  return alike(run, graph, needs, levels, false, max);
}

void fill(Drawing& drawing, const WorkflowRun& run, const Needs& needs, const Classes& classes,
          const std::vector<uint32_t>& levels) {
  std::map<std::pair<uint32_t, uint32_t>, bool> arrows;
  for (uint32_t i = 0; i < classes.size(); ++i) {
    if (classes[i] >= drawing.boxes.size()) drawing.boxes.resize(classes[i] + 1);
    Box& box = drawing.boxes[classes[i]];
    box.steps.push_back(i);
    box.level = levels[i];
    ++box.tally[static_cast<size_t>(run.steps[i].state)];
    for (const Need& need : needs[i])
      if (classes[need.step] != classes[i])
        arrows[{classes[need.step], classes[i]}] |= need.can_fail || need.can_skip;
  }
  for (const auto& [ends, tolerant] : arrows)
    drawing.arrows.push_back({ends.first, ends.second, tolerant});
  for (Box& box : drawing.boxes) {
    box.name = printable(run.steps[box.steps.front()].name);
    if (box.steps.size() > 1) box.name += " … ×" + std::to_string(box.steps.size());
    for (const StepState state : kAllStates) {
      box.state = state;
      if (box.tally[static_cast<size_t>(state)] != 0) break;
    }
  }
}

}  // namespace

Drawing plan_drawing(const WorkflowRun& run, size_t boxes_max) {
  const Needs needs = needs_of(run);
  const Followers graph(needs);
  const std::vector<uint32_t> levels = levels_of(graph, needs);
  const auto classes = classes_of(run, graph, needs, levels, boxes_max);
  Drawing drawing;
  if (classes) fill(drawing, run, needs, *classes, levels);
  const std::string all = std::to_string(run.steps.size()) + " steps";
  if (!classes || drawing.arrows.size() > kEdgesMax) {
    drawing = {};
    drawing.drawable = false;
    drawing.note =
        all + " are too many to draw, and too unlike to join: " + describe(tally_of(run));
  } else if (drawing.boxes.size() < run.steps.size()) {
    drawing.note = all + " in " + std::to_string(drawing.boxes.size()) +
                   " boxes: those with alike needs and followers share one";
  } else if (run.steps.empty()) {
    drawing.drawable = false;
    drawing.note = "No steps yet.";
  }
  return drawing;
}

}  // namespace atl::report
