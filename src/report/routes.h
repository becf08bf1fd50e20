// The lines between boxes of characters. Graphviz has placed the boxes and said where long arrows
// pass (layout.h); here each arrow gets the rows and columns of characters that it is drawn in, so
// that lines of different origin never share any, but cross.
#pragma once

#include <vector>

#include "report/drawing.h"
#include "report/layout.h"

namespace atl::report {

// A box of characters, three rows high.
struct TextBox {
  int left = 0;
  int width = 0;
  int rank = 0;
  int middle() const { return left + width / 2; }
};

// One arrow's way through the gap below a rank.
struct Hop {
  int from = 0;  // column
  int to = 0;
  int from_box = -1;  // -1: it comes from a rank above
  int to_box = -1;    // -1: it goes on to a rank below
  size_t arrow = 0;
};

// Hops that are drawn as one line with branches: of one origin, or of several to one end.
struct Bundle {
  std::vector<Hop> hops;
  int track = -1;  // the row of its level part; -1: straight down
};

struct Gap {
  std::vector<Bundle> bundles;
  int tracks = 0;
  int rows() const { return tracks == 0 ? 2 : tracks + 1; }  // the last one is for the tips
};

struct Routes {
  std::vector<Gap> gaps;                  // below each rank but the last
  std::vector<std::vector<int>> passing;  // columns that pass through each rank
  int width = 0;
  bool clear = true;  // false: lines of different origin had to share a place
};

// `rank_y` are the middles of the ranks in the layout, `column` how wide a character is in it.
Routes find_routes(const std::vector<TextBox>& boxes, const std::vector<Arrow>& arrows,
                   const Layout& layout, const std::vector<double>& rank_y, double column);

}  // namespace atl::report
