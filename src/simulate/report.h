// Runs side by side: as rows of a table, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "simulate/measures.h"

namespace atl::simulate {

// One configuration's run.
struct NamedRun {
  std::string name;
  size_t nodes = 0;
  int64_t cpu_milli = 0;
  Measures measures;
  Outcome outcome;
};

struct ReportRow {
  std::string label;
  std::vector<std::string> cells;  // one of each run
};

// What of the runs people compare. Lines that are empty for all runs are left out.
std::vector<ReportRow> comparison(const std::vector<NamedRun>& runs);

// The namespaces, by what they used in the first run.
std::vector<size_t> heaviest_first(const std::vector<NamedRun>& runs);

// By namespace: for each run what it used, its p95 wait, and what it got of its due.
struct NamespaceReport {
  std::string name;
  std::string entitled;            // of each run in turn, where they differ
  std::vector<std::string> cells;  // three of each run
};
// In the order of heaviest_first.
std::vector<NamespaceReport> by_namespace(const std::vector<NamedRun>& runs);

// What was left out of the trace and why, in sentences; none when nothing was.
std::vector<std::string> remarks(const Trace& trace, const std::vector<NamedRun>& runs);

std::string report_json(const Trace& trace, const std::vector<NamedRun>& runs);

std::string show_span(double seconds);  // "6s", "12m30s", "5h12m", "3d04h"
std::string show_part(double part);     // "82.8%"

}  // namespace atl::simulate
