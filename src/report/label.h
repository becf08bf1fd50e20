// What stands in a box, and how the workflow's file wants it to look.
#pragma once

#include <string>
#include <vector>

#include "report/drawing.h"

namespace atl::report {

struct Look {
  std::vector<std::string> lines;  // printable, at most kLabelLinesMax and kLabelColumnsMax
  std::string color;               // a CSS colour that is safe to write anywhere; often empty
  std::string shape;               // ellipse, circle, diamond, hexagon, or empty for a box
};

// "✓ train" over "succeeded, 3m12s", or the file's own label with the mark before it.
Look look_of(const WorkflowRun& run, const Box& box, bool ascii);

// "3m12s", "42%", "480 succeeded, 20 failed"; empty when there is nothing to tell.
std::string detail_of(const WorkflowRun& run, const Box& box);

}  // namespace atl::report
