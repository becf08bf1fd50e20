#include "simulate/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace atl::simulate {
namespace {

constexpr size_t kColors = 6;
constexpr const char* kStyle =
    "text{font:12px system-ui,sans-serif;fill:#333}"
    ".title{font-size:14px;font-weight:600}"
    ".axis{stroke:#888}.grid{stroke:#8884}.mark{stroke:#333;stroke-width:2}"
    ".line{fill:none;stroke-width:1.8;stroke-linejoin:round}"
    ".line.c0{stroke:#2f7fc1}.line.c1{stroke:#d97a1e}.line.c2{stroke:#2a9d68}"
    ".line.c3{stroke:#b04e98}.line.c4{stroke:#8f7f22}.line.c5{stroke:#777f8a}"
    ".area.c0{fill:#2f7fc1}.area.c1{fill:#d97a1e}.area.c2{fill:#2a9d68}"
    ".area.c3{fill:#b04e98}.area.c4{fill:#8f7f22}.area.c5{fill:#777f8a}"
    ".again{stroke-dasharray:5 3}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.mark{stroke:#ddd}}";

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

double part_of(const Axis& axis, double value) {
  const auto scale = [&](double v) {
    return axis.logarithmic ? std::log(std::max(v, axis.low)) : v;
  };
  const double low = scale(axis.low), high = scale(axis.high);
  return high > low ? std::clamp((scale(value) - low) / (high - low), 0.0, 1.0) : 0;
}

}  // namespace

std::string series_look(std::string_view kind, size_t series) {
  return std::string(kind) + " c" + std::to_string(series % kColors) +
         (series >= kColors ? " again" : "");
}

Svg::Svg(int width, int height, std::string_view title) {
  const std::string w = std::to_string(width), h = std::to_string(height);
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h + "\" width=\"" +
         w + "\" height=\"" + h + "\" role=\"img\">\n<title>" + escaped(title) +
         "</title>\n<style>" + kStyle + "</style>\n<text class=\"title\" x=\"16\" y=\"24\">" +
         escaped(title) + "</text>\n";
}

Svg& Svg::line(Point from, Point to, std::string_view look) {
  out_ += "<line class=\"" + std::string(look) + "\" x1=\"" + number(from.first) + "\" y1=\"" +
          number(from.second) + "\" x2=\"" + number(to.first) + "\" y2=\"" + number(to.second) +
          "\"/>\n";
  return *this;
}

Svg& Svg::path(const std::vector<Point>& points, std::string_view look) {
  out_ += "<polyline class=\"" + std::string(look) + "\" points=\"";
  for (const Point& point : points) out_ += number(point.first) + "," + number(point.second) + " ";
  out_ += "\"/>\n";
  return *this;
}

Svg& Svg::box(Point corner, double width, double height, std::string_view look) {
  out_ += "<rect class=\"" + std::string(look) + "\" x=\"" + number(corner.first) + "\" y=\"" +
          number(corner.second) + "\" width=\"" + number(width) + "\" height=\"" + number(height) +
          "\"/>\n";
  return *this;
}

Svg& Svg::text(Point at, std::string_view words, Anchor anchor) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  out_ += "<text x=\"" + number(at.first) + "\" y=\"" + number(at.second) + "\" text-anchor=\"" +
          kAnchors[static_cast<int>(anchor)] + "\">" + escaped(words) + "</text>\n";
  return *this;
}

std::string Svg::take() { return std::move(out_) + "</svg>\n"; }

Frame::Frame(Svg& svg, Axis x, Axis y, double left, double top, double right, double bottom)
    : x_(std::move(x)), y_(std::move(y)), left_(left), top_(top), right_(right), bottom_(bottom) {
  for (const auto& [value, label] : y_.ticks) {
    const double at = place(x_.low, value).second;
    svg.line({left_, at}, {right_, at}, "grid");
    svg.text({left_ - 8, at + 4}, label, Svg::Anchor::end);
  }
  for (const auto& [value, label] : x_.ticks) {
    const double at = place(value, y_.low).first;
    svg.line({at, top_}, {at, bottom_}, "grid");
    svg.text({at, bottom_ + 18}, label, Svg::Anchor::middle);
  }
  svg.line({left_, bottom_}, {right_, bottom_}, "axis");
  svg.line({left_, top_}, {left_, bottom_}, "axis");
}

Svg::Point Frame::place(double x, double y) const {
  return {left_ + part_of(x_, x) * (right_ - left_), bottom_ - part_of(y_, y) * (bottom_ - top_)};
}

}  // namespace atl::simulate
