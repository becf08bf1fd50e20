#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"
#include "base/text.h"
#include "report/drawing.h"
#include "report/graph.h"
#include "report/label.h"
#include "report/limits.h"

namespace atl::report {
namespace {

constexpr std::array<std::string_view, kStepStates> kDotFills{
    "#eeeeee", "#fff3d6", "#fff3d6", "#dbeafe", "#dcf5e3",
    "#fde0e0", "#ece2fb", "#f5f5f5", "#fde8d7",
};
constexpr std::array<std::string_view, kStepStates> kDotLines{
    "#6b7280", "#8a6100", "#8a6100", "#1d5fc4", "#1a7f37",
    "#c4252f", "#7a4bd0", "#6b7280", "#b34a00",
};

// Backslashes are doubled, so that Graphviz finds none of its own escapes in a name.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    const std::string text = quoted(line);
    if (!out.empty()) out += "\\n";
    out.append(text, 1, text.size() - 2);
  }
  return "\"" + out + "\"";
}

}  // namespace

std::string to_dot(const WorkflowRun& run) {
  const Drawing drawing = plan_drawing(run, kNodesMax);
  std::string out = "digraph " + quoted(printable(run.name)) +
                    " {\n  rankdir=LR\n  node [shape=box style=\"rounded,filled\" "
                    "fontname=\"sans-serif\" fontsize=11]\n";
  if (!drawing.note.empty()) out += "  label=" + quoted(drawing.note) + "\n";
  for (size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Box& box = drawing.boxes[i];
    const Look look = look_of(run, box, false);
    const auto state = static_cast<size_t>(box.state);
    out += fmt::format("  n{} [label={} color=\"{}\" fillcolor=\"{}\"", i, joined(look.lines),
                       kDotLines[state], look.color.empty() ? kDotFills[state] : look.color);
    if (!look.shape.empty()) out += " style=filled shape=" + look.shape;
    out += "]\n";
  }
  for (const Arrow& arrow : drawing.arrows)
    out += fmt::format("  n{} -> n{}{}\n", arrow.from, arrow.to,
                       arrow.tolerant ? " [style=dashed]" : "");
  return out + "}\n";
}

}  // namespace atl::report
