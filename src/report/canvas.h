// A page of characters to draw lines and words on; used by to_text alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/workflow_run.h"

namespace atl::report {

class Canvas {
 public:
  Canvas(int width, int height);

  // Lines of one number join where they meet; of different numbers the upright one passes over the
  // other. Both ends are drawn.
  void across(int y, int from, int to, int line);
  void down(int x, int from, int to, int line);
  // Printable words over whatever is there; `state` gives their colour.
  void words(int x, int y, std::string_view text, StepState state);
  void tip(int x, int y);  // of an arrow that points down

  std::string take(bool ascii, bool color) const;

 private:
  struct Cell {
    std::string text;  // words; empty where they are covered by a wide character before
    bool written = false;
    int8_t color = -1;  // a StepState
    uint8_t sides = 0;  // to which of its neighbours a line goes
    int line = -1;
    bool tip = false;
  };
  Cell& at(int x, int y) { return cells_[static_cast<size_t>(y * width_ + x)]; }
  const Cell& at(int x, int y) const { return cells_[static_cast<size_t>(y * width_ + x)]; }
  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }
  void join(int x, int y, uint8_t sides, int line);

  int width_, height_;
  std::vector<Cell> cells_;
};

}  // namespace atl::report
