#include "report/step_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/amount.h"
#include "base/display.h"
#include "report/html.h"
#include "report/limits.h"

namespace atl::report {
namespace {

double in_seconds(Duration span) { return static_cast<double>(span.us) / 1e6; }

// A cell that is sorted by its value. What is not known is a dash, and comes before all others.
std::string cell(std::string_view shown, std::optional<double> value) {
  if (!value) return "<td class=\"num\" data-v=\"\">–</td>";
  return fmt::format("<td class=\"num\" data-v=\"{:.6g}\">{}</td>", *value, shown);
}

std::string span_cell(Duration span) {
  if (span.us == 0) return cell("", std::nullopt);
  return cell(format_duration(span), in_seconds(span));
}

std::string bytes_cell(std::optional<int64_t> bytes) {
  if (!bytes) return cell("", std::nullopt);
  return cell(format_bytes(*bytes) + "B", static_cast<double>(*bytes));
}

std::string count_cell(std::optional<int64_t> count) {
  if (!count) return cell("", std::nullopt);
  return cell(std::to_string(*count), static_cast<double>(*count));
}

std::string energy_cell(std::optional<double> joules) {
  return cell(joules ? format_energy(*joules) : "", joules);
}

// What part of the processors it was given it kept busy.
std::string use_cell(const StepRun& step, Duration ran) {
  const double given = in_seconds(ran) * static_cast<double>(step.cpu_milli) / 1000;
  if (!step.cpu_seconds || given <= 0) return cell("", std::nullopt);
  const double percent = 100 * *step.cpu_seconds / given;
  return cell(fmt::format("{:.0f}%", percent), percent);
}

std::string state_cell(const StepRun& step) {
  std::string out = fmt::format("<td><span class=\"state {0}\">{1} {0}</span>", word(step.state),
                                mark(step.state, false));
  if (step.state == StepState::running && step.progress)
    out += fmt::format(" {}%", std::clamp(*step.progress, 0, 100));
  if (!step.reason.empty())
    out += "<br><span class=\"soft\">" + escaped(step.reason, 300) + "</span>";
  return out + "</td>";
}

std::string task_cell(const StepRun& step) {
  std::string shown = std::to_string(step.tasks);
  if (step.tasks_failed != 0) shown += fmt::format(" ({} failed)", step.tasks_failed);
  return cell(shown, static_cast<double>(step.tasks));
}

std::string row(const StepRun& step, const WorkflowRun& run) {
  const Spans spans = spans_of(step, run);
  const auto asked = [](int64_t amount) {
    return amount > 0 ? std::optional<int64_t>(amount) : std::nullopt;
  };
  std::string out = "<tr><th scope=\"row\" class=\"name\">" + escaped(step.name, 200) + "</th>";
  out += state_cell(step) + span_cell(spans.waited) + span_cell(spans.queued) +
         span_cell(spans.ran) + task_cell(step);
  out += cell(format_milli(step.cpu_milli),
              step.cpu_milli > 0 ? std::optional<double>(static_cast<double>(step.cpu_milli))
                                 : std::nullopt);
  out += use_cell(step, spans.ran) + count_cell(step.gpus) + bytes_cell(asked(step.memory_bytes)) +
         bytes_cell(step.memory_peak) + bytes_cell(step.bytes_read) +
         bytes_cell(step.bytes_written) + energy_cell(step.energy_joules);
  out += count_cell(asked(step.attempts)) +
         count_cell(step.exit_code ? std::optional<int64_t>(*step.exit_code) : std::nullopt);
  const std::string where = step.site + (step.node.empty() ? "" : "/" + step.node);
  return out + "<td class=\"where\">" + escaped(where, 200) + "</td></tr>\n";
}

template <class Value>
std::optional<Value> sum(const WorkflowRun& run, std::optional<Value> StepRun::* member) {
  std::optional<Value> total;
  for (const StepRun& step : run.steps)
    if (step.*member) total = total.value_or(Value{}) + *(step.*member);
  return total;
}

std::string totals(const WorkflowRun& run) {
  double cpu = 0, gpu = 0;
  Duration ran;
  for (const StepRun& step : run.steps) {
    const Spans spans = spans_of(step, run);
    ran = ran + spans.ran;
    cpu += in_seconds(spans.ran) * static_cast<double>(step.cpu_milli) / 3.6e6;
    gpu += in_seconds(spans.ran) * step.gpus / 3600;
  }
  const std::string none = "<td></td>";
  return "<tfoot><tr><td class=\"name\">all steps</td>" + none + none + none + span_cell(ran) +
         none + cell(fmt::format("{:.1f} h", cpu), cpu) + none +
         cell(fmt::format("{:.1f} h", gpu), gpu) + none + none +
         bytes_cell(sum(run, &StepRun::bytes_read)) +
         bytes_cell(sum(run, &StepRun::bytes_written)) +
         energy_cell(sum(run, &StepRun::energy_joules)) + none + none + none + "</tr></tfoot>";
}

}  // namespace

std::vector<const StepRun*> worth_showing(const WorkflowRun& run, size_t max) {
  std::vector<const StepRun*> shown;
  const auto urgent = [](const StepRun& step) {
    return step.state == StepState::failed || step.state == StepState::running;
  };
  for (const bool first : {true, false}) {
    for (const StepRun& step : run.steps)
      if (urgent(step) == first && shown.size() < max) shown.push_back(&step);
  }
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::string step_table(const WorkflowRun& run) {
  constexpr std::string_view kHead =
      "<div class=\"wide steps\"><table id=\"steps\"><thead><tr><th scope=\"col\" "
      "class=\"name\">Step</th><th scope=\"col\">State</th>";
  constexpr std::string_view kColumns[] = {
      "Waited for steps", "Queued",      "Ran",     "Tasks",    "CPUs",   "CPU use",  "GPUs",
      "Memory asked",     "Memory peak", "Data in", "Data out", "Energy", "Attempts", "Exit"};
  std::string out(kHead);
  for (const std::string_view column : kColumns)
    out += fmt::format("<th scope=\"col\" class=\"num\">{}</th>", column);
  out += "<th scope=\"col\">Where</th></tr></thead>\n<tbody>\n";
  const auto shown = worth_showing(run, kTableRowsMax);
  for (const StepRun* step : shown) out += row(*step, run);
  out += "</tbody>" + totals(run) + "</table></div>\n";
  if (shown.size() < run.steps.size()) {
    out += fmt::format(
        "<p class=\"soft\">{} of {} steps: those that failed or still run, then the "
        "first ones. The totals are of all.</p>\n",
        shown.size(), run.steps.size());
  }
  return out;
}

}  // namespace atl::report
