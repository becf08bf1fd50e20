#include "cli/job_view.h"

#include <algorithm>

#include "base/amount.h"
#include "base/display.h"
#include "base/text.h"

namespace atl::cli {

std::string state_word(const Json& job) {
  const std::string outcome = job.text("outcome");
  if (!outcome.empty()) return outcome;
  return job["unreachable"].truth() ? job.text("state") + " (unreachable)" : job.text("state");
}

Color state_color(const std::string& word) {
  if (word == "succeeded") return Color::good;
  if (word == "failed" || word == "timed_out" || word == "lost") return Color::bad;
  if (word == "cancelled" || word == "skipped") return Color::faint;
  if (word == "waiting") return Color::waiting;
  if (word == "stopping" || word.ends_with("(unreachable)")) return Color::warning;
  return word == "running" || word == "starting" ? Color::active : Color::plain;
}

std::string end_message(const Json& job) {
  const std::string outcome = job.text("outcome");
  const std::string message = job.text("message");
  if (outcome.empty() || !message.starts_with(outcome)) return message;
  if (message == outcome) return {};
  return message.starts_with(outcome + ": ") ? message.substr(outcome.size() + 2) : message;
}

std::string show_span(Duration span) {
  const std::int64_t whole = std::max<std::int64_t>(0, span.us / 1'000'000);
  const auto two = [](std::int64_t big, const char* unit, std::int64_t small, const char* part) {
    return std::to_string(big) + unit + (small ? std::to_string(small) + part : "");
  };
  if (whole < 60) return std::to_string(whole) + "s";
  if (whole < 3600) return two(whole / 60, "m", whole % 60, "s");
  if (whole < 86400) return two(whole / 3600, "h", whole % 3600 / 60, "m");
  return two(whole / 86400, "d", whole % 86400 / 3600, "h");
}

namespace {

Duration since(const std::string& rfc3339) {
  const auto when = parse_time(rfc3339);
  return when ? wall_clock() - *when : Duration{};
}

Cell state_cell(const Json& job) {
  const std::string word = state_word(job);
  return {word, state_color(word)};
}

// Why it waits, or what went wrong.
Cell reason_cell(const Json& job) {
  const std::string reason = job.text("reason");
  if (!reason.empty()) return {reason, reason == "infeasible" ? Color::bad : Color::faint};
  // An array that was held while some of its tasks run.
  if (job["held"].truth() && job.text("state") != "ended") return {"held", Color::faint};
  return {end_message(job), Color::faint};
}

std::string show_labels(const Json& job) {
  std::string out;
  for (const auto& [key, value] : job["labels"].members()) {
    out += (out.empty() ? "" : ",") + key + "=" + value.text();
  }
  return out;
}

}  // namespace

std::string show_cpus(const Json& job) { return job.text("cpus"); }

std::string shown_energy(const Json& used) {
  return used.has("energy_joules") ? format_energy(used["energy_joules"].number()) : "";
}

std::string show_memory(const Json& bytes) {
  return bytes.is_null() ? "" : format_bytes(bytes.integer());
}

std::string show_devices(const Json& job) {
  std::string out;
  for (const Json& device : job["devices"].items()) out += (out.empty() ? "" : ",") + device.text();
  return out;
}

std::string show_job_time(const Json& job) {
  if (job.text("state") == "ended") return show_age(job.text("ended"));
  const bool started = job.has("started");
  return show_span(since(job.text(started ? "started" : "submitted")));
}

std::string show_progress(const Json& job) {
  const Json tasks = job["tasks"];
  if (!tasks.is_object()) return {};
  const std::int64_t total = tasks["total"].integer();
  const std::int64_t over = total - tasks["waiting"].integer() - tasks["active"].integer();
  const std::int64_t failed =
      tasks["failed"].integer() + tasks["timed_out"].integer() + tasks["lost"].integer();
  return std::to_string(over) + "/" + std::to_string(total) +
         (failed > 0 ? " (" + std::to_string(failed) + " failed)" : "");
}

std::string show_percent(const Json& job) {
  const Json percent = job["progress"]["percent"];
  if (percent.is_null()) return {};
  // Rounded down: what is not done is never shown as done.
  return std::to_string(static_cast<int>(std::clamp(percent.number(), 0.0, 100.0))) + "%";
}

std::string show_bar(const Json& job) {
  constexpr std::size_t kCells = 20;
  const std::string percent = show_percent(job);
  if (percent.empty()) return {};
  const Json progress = job["progress"];
  const double part = std::clamp(progress["percent"].number(), 0.0, 100.0) / 100;
  const auto full = static_cast<std::size_t>(part * kCells);
  const std::string status = progress.text("status");
  const std::string message = progress.text("message");
  const std::string words = status + (status.empty() || message.empty() ? "" : ": ") + message;
  return "[" + std::string(full, '#') + std::string(kCells - full, '-') + "] " +
         pad(percent, 4, Align::right) + (words.empty() ? "" : "  " + words);
}

View job_list_view() {
  const auto cell = [](std::string (*show)(const Json&)) {
    return [show](const Json& job) { return Cell{show(job)}; };
  };
  return {.columns = {{{.title = "ID", .align = Align::right},
                       [](const Json& job) { return Cell{job.text("id"), Color::strong}; }},
                      {{.title = "NAME", .least = 8}, cell_text("name")},
                      {{.title = "NAMESPACE", .least = 6, .drop_rank = 4}, cell_text("namespace")},
                      {{.title = "USER", .least = 4, .drop_rank = 5}, cell_text("user")},
                      {{.title = "STATE"}, state_cell},
                      {{.title = "REASON", .least = 8, .drop_rank = 1}, reason_cell},
                      {{.title = "TASKS", .drop_rank = 2}, cell(show_progress)},
                      {{.title = "PROGRESS", .align = Align::right, .drop_rank = 2},
                       cell(show_percent)},
                      {{.title = "TIME", .align = Align::right}, cell(show_job_time)},
                      {{.title = "CPUS", .align = Align::right, .drop_rank = 6}, cell(show_cpus)},
                      {{.title = "MEM", .align = Align::right, .drop_rank = 7},
                       [](const Json& job) { return Cell{show_memory(job["memory_bytes"])}; }},
                      {{.title = "DEVICES", .least = 6, .drop_rank = 3}, cell(show_devices)},
                      {{.title = "PRIORITY", .align = Align::right}, cell_text("priority"), true},
                      {{.title = "SITE"}, cell_text("site"), true},
                      {{.title = "NODE"}, cell_text("node"), true},
                      {{.title = "SUBMITTED"},
                       [](const Json& job) { return Cell{show_local_time(job.text("submitted"))}; },
                       true},
                      {{.title = "STARTED"},
                       [](const Json& job) { return Cell{show_local_time(job.text("started"))}; },
                       true},
                      {{.title = "ENDED"},
                       [](const Json& job) { return Cell{show_local_time(job.text("ended"))}; },
                       true},
                      {{.title = "LABELS"}, cell(show_labels), true}},
          .name_key = "id"};
}

void add_task_indices(IntervalSet& all, const Json& page) {
  const IntervalSet waiting =
      parse_intervals(page.text("waiting"), UINT32_MAX).value_or(IntervalSet());
  for (const Interval range : waiting.ranges()) all.add(range);
  for (const Json& task : page["tasks"].items())
    all.add(static_cast<std::uint32_t>(task["index"].integer()));
}

}  // namespace atl::cli
