// A drawing as one self-contained SVG file that is readable on light and on dark pages.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atl::simulate {

class Svg {
 public:
  Svg(int width, int height, std::string_view title);

  using Point = std::pair<double, double>;
  // `look` is a class of the drawing's style: "axis", "grid", "mark", or a series by series_look.
  Svg& line(Point from, Point to, std::string_view look);
  Svg& path(const std::vector<Point>& points, std::string_view look);
  Svg& box(Point corner, double width, double height, std::string_view look);
  enum class Anchor { start, middle, end };
  Svg& text(Point at, std::string_view words, Anchor anchor = Anchor::start);

  std::string take();

 private:
  std::string out_;
};

// The look of the nth line ("line") or area ("area") of a plot.
std::string series_look(std::string_view kind, size_t number);

// A frame with labelled axes; maps values to places. Both axes go from `low` to `high`.
struct Axis {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  std::vector<std::pair<double, std::string>> ticks;
};
class Frame {
 public:
  Frame(Svg& svg, Axis x, Axis y, double left, double top, double right, double bottom);
  Svg::Point place(double x, double y) const;

 private:
  Axis x_, y_;
  double left_, top_, right_, bottom_;
};

}  // namespace atl::simulate
