// What of a run is drawn: a box for each step, or for many alike when there are too many steps.
#pragma once

#include <string>
#include <vector>

#include "report/workflow_run.h"

namespace atl::report {

struct Box {
  std::vector<uint32_t> steps;  // in the order of the run; one, unless alike ones are joined
  std::string name;             // "train", or "train[0] … ×500"
  StepState state = StepState::waiting;  // of several, the one that a person should look at first
  Tally tally{};
  uint32_t level = 0;  // steps on the longest way to it
};

struct Arrow {
  uint32_t from = 0;
  uint32_t to = 0;
  bool tolerant = false;  // the follower goes on when this one fails or is skipped
  bool operator==(const Arrow&) const = default;
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;  // each pair once, in order
  std::string note;           // what is not as it is in the run; empty when nothing
  bool drawable = true;       // false: only the note can be shown
};

// Up to `boxes_max` steps are drawn one by one. Of more, those are joined that have alike needs and
// alike followers (and, if that is enough, names that differ in numbers only): a fan-out becomes
// one box, and so do chains that run side by side.
Drawing plan_drawing(const WorkflowRun& run, size_t boxes_max);

}  // namespace atl::report
