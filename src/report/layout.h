// Where the boxes and arrows of a drawing go. Graphviz decides it, in a process of its own: it is
// given sizes and numbers only, never a name, so nothing that a user wrote reaches its parser
// (docs/decisions/0013-graphviz.md). Blocks for at most kLayoutTime; any thread.
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "report/drawing.h"

namespace atl::report {

struct Size {
  double width = 0;
  double height = 0;
};

struct Point {
  double x = 0;
  double y = 0;
};

struct LayoutRequest {
  std::vector<Size> boxes;
  std::vector<Arrow> arrows;
  bool across = false;  // left to right instead of top to bottom
  double beside = 0;    // the gap between boxes of one rank
  double between = 0;   // the gap between ranks
};

// In the units of the request, y downwards.
struct Layout {
  Size size;
  std::vector<Point> centers;               // of the boxes
  std::vector<std::vector<Point>> courses;  // of the arrows: cubic Béziers, 3n + 1 points each
};

[[nodiscard]] Result<Layout> lay_out(const LayoutRequest& request);

}  // namespace atl::report
