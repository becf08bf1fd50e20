#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/amount.h"
#include "report/graph.h"
#include "report/html.h"
#include "report/limits.h"
#include "report/page_style.h"
#include "report/plots.h"
#include "report/step_table.h"
#include "spec/job_spec.h"

namespace atl::report {
namespace {

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./:=@%+,-").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

// Its colour and mark are those of a step in the same state.
StepState state_of(const WorkflowRun& run) {
  for (const StepState state : kAllStates)
    if (word(state) == run.outcome || (run.outcome.empty() && word(state) == run.state))
      return state;
  return run.outcome.empty() ? StepState::running : StepState::failed;
}

std::string fact(std::string_view name, std::string_view html) {
  if (html.empty()) return {};
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html);
}

std::string moment(Time time) { return time ? format_time({time.us / 1'000'000 * 1'000'000}) : ""; }

std::string head(const WorkflowRun& run) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\"><meta name=\"generator\" content=\"Atoll "
      "{}\">\n<title>{}: {}</title>\n<style>{}</style></head>\n<body>\n",
      script_hash(kPageScript), escaped(run.server_version, 100), escaped(run.name, 200),
      escaped(run.outcome.empty() ? run.state : run.outcome, 100), kPageStyle);
}

std::string header(const WorkflowRun& run) {
  const StepState state = state_of(run);
  const Time begin = run.started ? run.started : run.submitted;
  const Time end = run.ended ? run.ended : run.as_of;
  std::string out = fmt::format("<header><h1>{}</h1>\n<p><span class=\"state {}\">{} {}</span>",
                                escaped(run.name, 200), word(state), mark(state, false),
                                escaped(run.outcome.empty() ? run.state : run.outcome, 100));
  if (!run.message.empty()) out += ": " + escaped(run.message, kValueBytesMax);
  out += "</p>\n<dl class=\"facts\">\n";
  out += fact("run", escaped(run.id, 100)) + fact("namespace", escaped(run.namespace_name, 200)) +
         fact("user", escaped(run.user, 200)) + fact("submitted", moment(run.submitted)) +
         fact("started", moment(run.started)) + fact("ended", moment(run.ended));
  if (begin && end > begin)
    out += fact(run.ended ? "took" : "going on for", format_duration(end - begin));
  out += fact("steps", fmt::format("{}<br><span class=\"soft\">{}</span>", run.steps.size(),
                                   describe(tally_of(run))));
  if (run.version != 0) out += fact("version", std::to_string(run.version));
  out += "</dl>\n<h2>Run it again</h2>\n<pre><code>" +
         escaped(command_to_repeat(run), 16 * kValueBytesMax) + "</code></pre>\n";
  if (!run.version_sha256.empty())
    out +=
        "<p class=\"soft\">with the files <a href=\"#files\">below</a>; SHA-256 of the workflow "
        "<code>" +
        escaped(run.version_sha256, 100) + "</code></p>\n";
  return out + "</header>\n";
}

std::string pairs(std::string_view title, const std::vector<Parameter>& list) {
  if (list.empty()) return {};
  std::string out =
      fmt::format("<h2>{}</h2>\n<div class=\"wide\"><table class=\"pairs\">\n", title);
  for (size_t i = 0; i < std::min(list.size(), kListedMax); ++i)
    out += "<tr><td>" + escaped(list[i].name, 200) + "</td><td><code>" +
           escaped(list[i].value, kValueBytesMax) + "</code></td></tr>\n";
  out += "</table></div>\n";
  if (list.size() > kListedMax)
    out += fmt::format("<p class=\"soft\">{} of {}</p>\n", kListedMax, list.size());
  return out;
}

std::string outputs(const StepRun& step) {
  if (step.outputs.empty()) return {};
  std::string out = "<h3>outputs</h3><table class=\"pairs\">\n";
  for (size_t i = 0; i < std::min(step.outputs.size(), kListedMax); ++i) {
    const StepOutput& each = step.outputs[i];
    std::string shown = escaped(each.value, kValueBytesMax);
    if (!each.path.empty()) {
      shown = escaped(each.path, kValueBytesMax);
      if (each.size >= 0) shown += ", " + format_bytes(each.size) + "B";
      if (!each.sha256.empty()) shown += "<br>sha256 " + escaped(each.sha256, 100);
    }
    out += "<tr><td>" + escaped(each.name, 200) + "</td><td><code>" + shown + "</code></td></tr>\n";
  }
  return out + "</table>\n";
}

std::string checks(const StepRun& step) {
  if (step.checks.empty()) return {};
  std::string out = "<h3>checks</h3><table class=\"pairs\">\n";
  for (size_t i = 0; i < std::min(step.checks.size(), kListedMax); ++i) {
    const StepCheck& each = step.checks[i];
    out +=
        fmt::format("<tr><td><span class=\"state {}\">{}</span></td><td>{}</td><td>{}</td></tr>\n",
                    each.passed ? "succeeded" : "failed", each.passed ? "✓ passed" : "✗ failed",
                    escaped(each.name, 300), escaped(each.message, kValueBytesMax));
  }
  return out + "</table>\n";
}

std::string log_part(std::string_view title, std::string_view log, size_t& left) {
  if (log.empty() || left == 0) return {};
  const size_t bytes = std::min({log.size(), kLogBytesMax, left});
  left -= bytes;
  return fmt::format("<h3>{}</h3><pre>{}</pre>\n", title, escaped_log(log, bytes));
}

std::string step_details(const StepRun& step, size_t& left) {
  std::string inside = checks(step) + outputs(step);
  if (!step.command.empty())
    inside +=
        "<h3>command</h3><pre>" + escaped_lines(step.command, 2 * kValueBytesMax) + "</pre>\n";
  inside += log_part("end of standard output", step.log_end_out, left) +
            log_part("end of standard error", step.log_end_err, left);
  if (inside.empty()) return {};
  std::string title = fmt::format("<span class=\"state {}\">{}</span> {}", word(step.state),
                                  mark(step.state, false), escaped(step.name, 200));
  if (!step.job.empty()) title += " <span class=\"soft\">job " + escaped(step.job, 40) + "</span>";
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n",
                     step.state == StepState::failed ? " open" : "", title, inside);
}

std::string details(const WorkflowRun& run) {
  std::string inside;
  size_t left = kLogsBytesMax, count = 0;
  for (const StepRun* step : worth_showing(run, kLogStepsMax)) {
    const std::string one = step_details(*step, left);
    count += !one.empty();
    inside += one;
  }
  if (inside.empty()) return {};
  inside += fmt::format(
      "<p class=\"soft\">{} of {} steps, with the ends of their logs. Whole logs: <code>atoll logs "
      "JOB</code></p>\n",
      count, run.steps.size());
  return "<h2>Steps one by one</h2>\n" + inside;
}

std::string files(const WorkflowRun& run) {
  if (run.files.empty()) return {};
  std::string out = "<h2 id=\"files\">Files</h2>\n";
  size_t left = kFilesBytesMax;
  for (size_t i = 0; i < std::min(run.files.size(), kListedMax); ++i) {
    const WorkflowFile& file = run.files[i];
    const size_t bytes = std::min({file.text.size(), kFileBytesMax, left});
    left -= bytes;
    out += fmt::format(
        "<details><summary>{} <span class=\"soft\">{}B, sha256 <code>{}</code></span>"
        "</summary>\n<pre>{}</pre></details>\n",
        escaped(file.path, 300), format_bytes(static_cast<int64_t>(file.text.size())),
        to_hex(spec::sha256(file.text)), escaped_lines(file.text, bytes));
  }
  return out;
}

}  // namespace

std::string command_to_repeat(const WorkflowRun& run) {
  std::string out = "atoll run " + shell_word(run.files.empty() ? "FILE" : run.files.front().path);
  for (size_t i = 0; i < std::min(run.params.size(), kListedMax); ++i)
    out += " --set " + shell_word(run.params[i].name + "=" + run.params[i].value);
  return out;
}

std::string to_html(const WorkflowRun& run) {
  std::string out = head(run) + header(run);
  out += "<h2>Graph</h2>\n<div class=\"wide\">" + to_svg(run) + "</div>\n";
  out += "<h2>Steps</h2>\n" + step_table(run);
  if (has_times(run)) {
    out += "<h2>Time</h2>\n<div class=\"wide plot\">" + plot_concurrency(run) +
           "</div>\n<div class=\"wide plot\">" + plot_gantt(run) + "</div>\n";
  }
  out += pairs("Parameters", run.params) + details(run) + files(run);
  std::vector<Parameter> environment = run.environment;
  environment.insert(environment.begin(), {"Atoll", run.server_version});
  out += pairs("Environment", environment);
  out += "<p class=\"soft\">As of " + moment(run.as_of) + ".</p>\n<script>";
  (out += kPageScript) += "</script>\n</body></html>\n";
  return out;
}

}  // namespace atl::report
