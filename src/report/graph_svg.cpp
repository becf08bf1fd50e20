#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"
#include "report/drawing.h"
#include "report/graph.h"
#include "report/html.h"
#include "report/label.h"
#include "report/layout.h"
#include "report/limits.h"

namespace atl::report {
namespace {

// Pixels. Names are in a fixed-width font, so a box is as wide as what is in it wherever it is
// shown.
constexpr double kCharWidth = 7.25, kLineHeight = 16, kPadX = 12, kPadY = 8, kMargin = 12,
                 kNoteHeight = 22;
constexpr double kPageWidth = 1300;  // beyond this a drawing goes down rather than across

// Every rule is below .wg, so that a page around the drawing keeps its own looks.
constexpr std::string_view kGraphStyle =
    ".wg{--ink:#1f2328;--soft:#59636e;--edge:#7d8590;--bg:#fff}"
    ".wg text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "fill:var(--ink);white-space:pre}"
    ".wg .soft{fill:var(--soft);font-size:11px}"
    ".wg .e{fill:none;stroke:var(--edge);stroke-width:1.3}.wg .tip{fill:var(--edge)}"
    ".wg .may{stroke-dasharray:5 4}"
    ".wg .n{stroke-width:1.5}"
    ".wg .waiting .n,.wg .skipped .n{fill:#f3f4f6;stroke:#6b7280}"
    ".wg .ready .n,.wg .queued .n{fill:#fff3d6;stroke:#8a6100}"
    ".wg .running .n{fill:#dbeafe;stroke:#1d5fc4;stroke-width:2.5}"
    ".wg .succeeded .n{fill:#dcf5e3;stroke:#1a7f37}"
    ".wg .failed .n{fill:#fde0e0;stroke:#c4252f;stroke-width:2.5}"
    ".wg .cancelled .n{fill:#ece2fb;stroke:#7a4bd0}"
    ".wg .blocked .n{fill:#fde8d7;stroke:#b34a00}"
    ".wg .skipped .n,.wg .blocked .n{stroke-dasharray:4 3}"
    ".wg .own text{fill:#111;stroke:#fff;stroke-width:2.5px;paint-order:stroke}"
    "@media(prefers-color-scheme:dark){"
    ".wg{--ink:#e6edf3;--soft:#a5b0bb;--edge:#8b949e;--bg:#0d1117}"
    ".wg .waiting .n,.wg .skipped .n{fill:#21262d;stroke:#8b949e}"
    ".wg .ready .n,.wg .queued .n{fill:#3a2c06;stroke:#d4a72c}"
    ".wg .running .n{fill:#0c2d6b;stroke:#6cb0ff}"
    ".wg .succeeded .n{fill:#0f3a1c;stroke:#4ac26b}"
    ".wg .failed .n{fill:#4f1216;stroke:#ff7b72}"
    ".wg .cancelled .n{fill:#2f1f54;stroke:#b99bff}"
    ".wg .blocked .n{fill:#4a2306;stroke:#ffa657}}"
    "@media print{.wg{--ink:#000;--soft:#333;--edge:#555}}";

std::string frame(const WorkflowRun& run, double width, double height, std::string_view inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>The steps of {2}</title>\n"
      "<style>{3}</style>\n<defs><marker id=\"wg-tip\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" "
      "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" "
      "d=\"M0 0L8 4L0 8z\"/></marker></defs>\n{4}</svg>\n",
      width, height, escaped(run.name, kValueBytesMax), kGraphStyle, inside);
}

std::string only_words(const WorkflowRun& run, std::string_view note) {
  std::string inside;
  double y = kMargin + kLineHeight, width = 0;
  const auto say = [&](std::string_view words) {
    inside += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kMargin, y, escaped(words));
    width = std::max(width, display_width(words) * kCharWidth);
    y += kLineHeight;
  };
  say(note);
  return frame(run, width + 2 * kMargin, y, inside);
}

Size size_of(const Look& look) {
  int columns = 4;
  for (const std::string& line : look.lines) columns = std::max(columns, display_width(line));
  Size size{columns * kCharWidth + 2 * kPadX,
            static_cast<double>(look.lines.size()) * kLineHeight + 2 * kPadY};
  // Text stands in the middle of these; a box around it would cut through the corners.
  if (look.shape == "ellipse" || look.shape == "hexagon") size.width *= 1.25, size.height *= 1.25;
  if (look.shape == "diamond") size.width *= 1.7, size.height *= 1.7;
  if (look.shape == "circle") size.width = size.height = std::max(size.width, size.height) * 1.1;
  return size;
}

// Boxes are wide and low, so most graphs are smaller from left to right; a long chain is not.
bool goes_across(const Drawing& drawing, const std::vector<Size>& sizes, double gap) {
  uint32_t levels = 0;
  for (const Box& box : drawing.boxes) levels = std::max(levels, box.level + 1);
  std::vector<double> width(levels);
  for (size_t i = 0; i < sizes.size(); ++i)
    width[drawing.boxes[i].level] = std::max(width[drawing.boxes[i].level], sizes[i].width + gap);
  double across = 0;
  std::vector<double> row(levels);
  for (size_t i = 0; i < levels; ++i) across += width[i];
  for (size_t i = 0; i < sizes.size(); ++i) row[drawing.boxes[i].level] += sizes[i].width;
  return across <= kPageWidth || across <= *std::max_element(row.begin(), row.end());
}

std::string outline(const Look& look, const Point& center, const Size& size) {
  const double x = center.x, y = center.y, w = size.width / 2, h = size.height / 2;
  const std::string fill = look.color.empty() ? "" : " style=\"fill:" + look.color + "\"";
  if (look.shape == "ellipse" || look.shape == "circle")
    return fmt::format(
        "<ellipse class=\"n\" cx=\"{:.1f}\" cy=\"{:.1f}\" rx=\"{:.1f}\" ry=\"{:.1f}\"{}/>", x, y, w,
        h, fill);
  if (look.shape == "diamond")
    return fmt::format(
        "<path class=\"n\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z\"{}/>",
        x - w, y, x, y - h, x + w, y, x, y + h, fill);
  if (look.shape == "hexagon")
    return fmt::format(
        "<path class=\"n\" d=\"M{0:.1f} {1:.1f}l{2:.1f} {3:.1f}h{4:.1f}l{2:.1f} {5:.1f}l-{2:.1f} "
        "{5:.1f}h-{4:.1f}z\"{6}/>",
        x - w, y, h * 0.6, -h, 2 * (w - h * 0.6), h, fill);
  return fmt::format(
      "<rect class=\"n\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"{}/>",
      x - w, y - h, 2 * w, 2 * h, fill);
}

std::string tooltip(const WorkflowRun& run, const Box& box) {
  const StepRun& step = run.steps[box.steps.front()];
  std::string out = box.name + ": " + detail_of(run, box);
  if (box.steps.size() == 1) {
    out = step.name + ": " + std::string(word(box.state));
    if (!step.reason.empty()) out += ", " + step.reason;
  }
  return escaped(out, kValueBytesMax);
}

std::string draw_box(const WorkflowRun& run, const Box& box, const Look& look, const Point& center,
                     const Size& size) {
  std::string out =
      fmt::format("<g class=\"{}{}\"><title>{}</title>{}", word(box.state),
                  look.color.empty() ? "" : " own", tooltip(run, box), outline(look, center, size));
  const auto lines = static_cast<double>(look.lines.size());
  double y = center.y - lines * kLineHeight / 2 + kLineHeight * 0.75;
  for (size_t i = 0; i < look.lines.size(); ++i, y += kLineHeight)
    out += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                       i + 1 == look.lines.size() ? " class=\"soft\"" : "", center.x, y,
                       escaped(look.lines[i]));
  return out + "</g>\n";
}

std::string draw_course(const std::vector<Point>& course, bool tolerant) {
  if (course.size() < 4) return {};
  std::string path = fmt::format("M{:.1f} {:.1f}C", course[0].x, course[0].y);
  for (size_t i = 1; i < course.size(); ++i)
    path += fmt::format("{:.1f} {:.1f} ", course[i].x, course[i].y);
  return fmt::format("<path class=\"e{}\" d=\"{}\" marker-end=\"url(#wg-tip)\"/>\n",
                     tolerant ? " may" : "", path);
}

}  // namespace

std::string to_svg(const WorkflowRun& run) {
  const Drawing drawing = plan_drawing(run, kNodesMax);
  if (!drawing.drawable) return only_words(run, drawing.note);
  std::vector<Look> looks;
  LayoutRequest request{.arrows = drawing.arrows, .beside = 14, .between = 44};
  for (const Box& box : drawing.boxes) {
    looks.push_back(look_of(run, box, false));
    request.boxes.push_back(size_of(looks.back()));
  }
  request.across = goes_across(drawing, request.boxes, request.between);
  const auto layout = lay_out(request);
  if (!layout) {
    return only_words(run, "The graph of " + std::to_string(run.steps.size()) +
                               " steps could not be drawn: " + layout.error().message);
  }
  const double top = drawing.note.empty() ? 0 : kNoteHeight;
  std::string inside;
  if (top > 0)
    inside += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin,
                          kMargin + kLineHeight * 0.6, escaped(drawing.note));
  inside += fmt::format("<g transform=\"translate({} {})\">\n", kMargin, kMargin + top);
  for (size_t i = 0; i < drawing.arrows.size(); ++i)
    inside += draw_course(layout->courses[i], drawing.arrows[i].tolerant);
  for (size_t i = 0; i < drawing.boxes.size(); ++i)
    inside += draw_box(run, drawing.boxes[i], looks[i], layout->centers[i], request.boxes[i]);
  const double note_width = display_width(drawing.note) * kCharWidth;
  return frame(run, std::max(layout->size.width, note_width) + 2 * kMargin,
               layout->size.height + 2 * kMargin + top, inside + "</g>\n");
}

}  // namespace atl::report
