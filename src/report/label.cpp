#include "report/label.h"

#include <algorithm>

#include "base/display.h"
#include "base/text.h"
#include "report/limits.h"

namespace atl::report {
namespace {

// A name of letters or '#' and hexadecimal digits: nothing that ends an attribute or a rule.
bool safe_color(std::string_view color) {
  if (color.empty() || color.size() > 24) return false;
  const bool hex = color[0] == '#';
  if (hex) color.remove_prefix(1);
  const bool fits = !hex || color.size() == 3 || color.size() == 6 || color.size() == 8;
  return fits && std::all_of(color.begin(), color.end(), [hex](char c) {
           const bool digit = c >= '0' && c <= '9';
           const char low = static_cast<char>(c | 0x20);
           return hex ? digit || (low >= 'a' && low <= 'f') : low >= 'a' && low <= 'z';
         });
}

bool known_shape(std::string_view shape) {
  return shape == "ellipse" || shape == "circle" || shape == "diamond" || shape == "hexagon";
}

void add_label(std::vector<std::string>& lines, std::string_view label) {
  for (const std::string_view line : split(label, '\n')) {
    if (lines.size() == kLabelLinesMax) return;
    lines.push_back(cut(printable(trim(line)), kLabelColumnsMax));
  }
}

}  // namespace

std::string detail_of(const WorkflowRun& run, const Box& box) {
  if (box.steps.size() > 1) return describe(box.tally);
  const StepRun& step = run.steps[box.steps.front()];
  const Spans spans = spans_of(step, run);
  std::string out;
  if (spans.ran.us > 0) out = format_duration(spans.ran);
  if (step.state == StepState::running && step.progress)
    out += (out.empty() ? "" : ", ") + std::to_string(std::clamp(*step.progress, 0, 100)) + "%";
  return out;
}

Look look_of(const WorkflowRun& run, const Box& box, bool ascii) {
  Look look;
  const StepRun& step = run.steps[box.steps.front()];
  const bool one = box.steps.size() == 1;
  if (one && step.label && !trim(*step.label).empty())
    add_label(look.lines, *step.label);
  else
    look.lines.push_back(cut(box.name, kLabelColumnsMax));
  look.lines.front() = std::string(mark(box.state, ascii)) + " " + look.lines.front();
  const std::string detail = detail_of(run, box);
  if (one)
    look.lines.push_back(std::string(word(box.state)) + (detail.empty() ? "" : ", " + detail));
  else
    look.lines.push_back(cut(detail, kLabelColumnsMax));
  if (one && step.color && safe_color(*step.color)) look.color = *step.color;
  if (one && step.shape && known_shape(*step.shape)) look.shape = *step.shape;
  return look;
}

}  // namespace atl::report
