#include "simulate/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "base/amount.h"
#include "base/describe.h"
#include "spec/json_writer.h"

namespace atl::simulate {
namespace {

template <class... Args>
std::string format(const char* text, Args... args) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, text, args...);
  return buffer;
}

std::string count_text(uint64_t count) { return count == 0 ? "" : std::to_string(count); }

// "1 job", "2 jobs"
std::string counted(uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string wait_text(const Waits& waits, double seconds) {
  return waits.tasks == 0 ? "-" : show_span(seconds);
}

std::string part_text(double part) { return part < 0 ? "-" : show_part(part); }

using Cell = std::function<std::string(const Measures&)>;

struct Lines {
  const std::vector<NamedRun>& runs;
  std::vector<ReportRow> rows{};

  void add(std::string label, const Cell& cell) {
    ReportRow row{std::move(label), {}};
    bool some = false;
    for (const NamedRun& run : runs) {
      row.cells.push_back(cell(run.measures));
      some |= !row.cells.back().empty();
    }
    if (some) rows.push_back(std::move(row));
  }
};

void add_tiers(Lines& lines) {
  for (const core::Tier tier : core::kTiers) {
    const bool several = std::any_of(lines.runs.begin(), lines.runs.end(),
                                     [](const auto& run) { return run.measures.tiers.size() > 1; });
    if (!several) return;
    lines.add(std::string("wait p95, ") + enum_name(tier), [tier](const Measures& m) {
      const auto it = m.tiers.find(tier);
      return it == m.tiers.end() ? std::string() : show_span(it->second.p95);
    });
  }
}

std::string number_text(double value) { return format("%.6g", value); }

// Null where there is nothing to tell.
void write_part(spec::JsonWriter& json, const char* key, double value) {
  json.key(key);
  value < 0 ? json.null() : json.raw(number_text(value));
}

void write_waits(spec::JsonWriter& json, const Waits& waits) {
  const auto write = [&](const char* key, double value) {
    write_part(json, key, waits.tasks == 0 ? -1 : value);
  };
  json.begin_object().member("tasks", waits.tasks);
  write("mean_seconds", waits.mean);
  write("median_seconds", waits.median);
  write("p95_seconds", waits.p95);
  write("bounded_slowdown", waits.slowdown);
  json.end_object();
}

void write_namespace(spec::JsonWriter& json, const NamespaceMeasures& ns) {
  json.begin_object().member("name", ns.name);
  write_part(json, "core_hours", ns.core_hours);
  write_part(json, "used", ns.used);
  write_part(json, "entitled", ns.entitled);
  write_part(json, "got_of_due", ns.got);
  json.key("wait");
  write_waits(json, ns.waits);
  json.end_object();
}

void write_run(spec::JsonWriter& json, const NamedRun& run) {
  const Measures& m = run.measures;
  json.begin_object().member("config", run.name).member("nodes", uint64_t{run.nodes});
  json.key("cores").milli(run.cpu_milli).key("wait");
  write_waits(json, m.all);
  json.key("quarters").begin_array();
  for (const Waits& quarter : m.quarters) write_waits(json, quarter);
  json.end_array().key("tiers").begin_object();
  for (const auto& [tier, waits] : m.tiers) {
    json.key(enum_name(tier));
    write_waits(json, waits);
  }
  json.end_object().key("utilisation").begin_object();
  write_part(json, "steady", m.steady);
  write_part(json, "whole", m.utilisation);
  json.end_object();
  write_part(json, "makespan_seconds", m.makespan);
  json.member("evictions", m.evictions);
  write_part(json, "lost_core_hours", m.lost_core_hours);
  json.key("fairness").begin_object();
  write_part(json, "jain", m.fairness);
  write_part(json, "worst_got_of_due", m.worst);
  json.end_object().key("namespaces").begin_array();
  for (const NamespaceMeasures& ns : m.namespaces) write_namespace(json, ns);
  json.end_array();
  json.member("jobs_too_large", m.too_large).member("jobs_refused", m.refused);
  json.key("left_out").begin_array();
  for (const auto& [why, jobs] : run.outcome.left_out)
    json.begin_object().member("why", why).member("jobs", jobs).end_object();
  json.end_array().member("jobs_as_gangs", m.spread);
  json.member("tasks_never_started", m.never_started);
  json.member("rounds", run.outcome.rounds).end_object();
}

}  // namespace

std::string show_span(double seconds) {
  if (seconds < 9.95)
    return seconds == std::floor(seconds) ? format("%.0fs", seconds) : format("%.1fs", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return format("%llds", whole);
  if (whole < 3600) return format("%lldm%02llds", whole / 60, whole % 60);
  if (whole < 86'400) return format("%lldh%02lldm", whole / 3600, whole / 60 % 60);
  return format("%lldd%02lldh", whole / 86'400, whole / 3600 % 24);
}

std::string show_part(double part) { return format("%.1f%%", part * 100); }

std::vector<ReportRow> comparison(const std::vector<NamedRun>& runs) {
  Lines lines{runs};
  ReportRow machine{"nodes, cores", {}};
  for (const NamedRun& run : runs)
    machine.cells.push_back(std::to_string(run.nodes) + ", " + format_milli(run.cpu_milli));
  lines.rows.push_back(std::move(machine));
  lines.add("tasks", [](const Measures& m) { return std::to_string(m.all.tasks); });
  lines.add("wait, mean", [](const Measures& m) { return wait_text(m.all, m.all.mean); });
  lines.add("wait, median", [](const Measures& m) { return wait_text(m.all, m.all.median); });
  lines.add("wait, p95", [](const Measures& m) { return wait_text(m.all, m.all.p95); });
  lines.add("wait p95, smallest quarter",
            [](const Measures& m) { return wait_text(m.quarters[0], m.quarters[0].p95); });
  lines.add("wait p95, largest quarter",
            [](const Measures& m) { return wait_text(m.quarters[3], m.quarters[3].p95); });
  add_tiers(lines);
  lines.add("bounded slowdown", [](const Measures& m) {
    return m.all.tasks == 0 ? "-" : format("%.2f", m.all.slowdown);
  });
  lines.add("utilisation, steady", [](const Measures& m) { return part_text(m.steady); });
  lines.add("utilisation, whole", [](const Measures& m) { return part_text(m.utilisation); });
  lines.add("makespan", [](const Measures& m) { return show_span(m.makespan); });
  lines.add("fairness",
            [](const Measures& m) { return m.fairness < 0 ? "-" : format("%.3f", m.fairness); });
  lines.add("got of its due, worst",
            [](const Measures& m) { return m.worst < 0 ? std::string() : show_part(m.worst); });
  lines.add("evictions", [](const Measures& m) { return std::to_string(m.evictions); });
  lines.add("lost core-hours", [](const Measures& m) { return format("%.1f", m.lost_core_hours); });
  lines.add("jobs as gangs", [](const Measures& m) { return count_text(m.spread); });
  lines.add("jobs too large", [](const Measures& m) { return count_text(m.too_large); });
  lines.add("jobs refused", [](const Measures& m) { return count_text(m.refused); });
  lines.add("tasks never started", [](const Measures& m) { return count_text(m.never_started); });
  return std::move(lines.rows);
}

std::vector<size_t> heaviest_first(const std::vector<NamedRun>& runs) {
  std::vector<size_t> order;
  if (runs.empty()) return order;
  const auto& all = runs.front().measures.namespaces;
  for (size_t i = 0; i < all.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(all[b].used, all[a].name) < std::tie(all[a].used, all[b].name);
  });
  return order;
}

std::vector<NamespaceReport> by_namespace(const std::vector<NamedRun>& runs) {
  std::vector<NamespaceReport> report;
  for (const size_t i : heaviest_first(runs)) {
    NamespaceReport line{runs.front().measures.namespaces[i].name, "", {}};
    for (const NamedRun& run : runs) {
      const NamespaceMeasures& ns = run.measures.namespaces[i];
      const std::string entitled = show_part(ns.entitled);
      if (&run == &runs.front())
        line.entitled = entitled;
      else if (show_part((&run - 1)->measures.namespaces[i].entitled) != entitled)
        line.entitled += " → " + entitled;
      line.cells.push_back(show_part(ns.used));
      line.cells.push_back(wait_text(ns.waits, ns.waits.p95));
      line.cells.push_back(part_text(ns.got));
    }
    report.push_back(std::move(line));
  }
  return report;
}

std::vector<std::string> remarks(const Trace& trace, const std::vector<NamedRun>& runs) {
  std::vector<std::string> lines;
  if (trace.without_run > 0)
    lines.push_back(counted(trace.without_run, "job") + " left out of the trace: no run time");
  if (trace.broken > 0)
    lines.push_back(counted(trace.broken, "broken line") +
                    " left out of the trace; the first: " + trace.first_broken);
  for (const NamedRun& run : runs) {
    const std::string begin = run.name + ": ";
    for (const auto& [why, jobs] : run.outcome.left_out)
      lines.push_back(begin + counted(jobs, "job") + " left out: " + why);
    if (run.measures.spread > 0)
      lines.push_back(begin + counted(run.measures.spread, "job") +
                      " wider than a node, run as gangs");
    if (run.measures.never_started > 0)
      lines.push_back(begin + counted(run.measures.never_started, "task") +
                      " never started: held back by a quota for ever");
  }
  return lines;
}

std::string report_json(const Trace& trace, const std::vector<NamedRun>& runs) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_object().member("file", trace.name).key("trace").begin_object();
  json.member("jobs", uint64_t{trace.jobs.size()}).member("tasks", trace.tasks());
  json.member("begin", trace.begin).key("span_seconds").seconds(trace.span());
  json.member("without_run", trace.without_run).member("broken", trace.broken).end_object();
  json.key("runs").begin_array();
  for (const NamedRun& run : runs) write_run(json, run);
  json.end_array().end_object();
  return text;
}

}  // namespace atl::simulate
