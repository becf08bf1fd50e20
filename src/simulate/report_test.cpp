#include "simulate/report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "simulate/plots.h"

namespace atl::simulate {
namespace {

// A trace so small that every sound policy comes to the same, on one node of its header and on two.
struct Golden {
  Trace trace;
  std::vector<NamedRun> runs;
};

Golden golden() {
  const ReadOptions options{.tiers = {{2, core::Tier::opportunistic}}};
  Golden made{*read_trace("src/simulate/testdata/small.swf", options), {}};
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"one", ""}, {"two", "nodes: [{count: 2, name: n, cpu: 4}]\n"}}) {
    const auto file = spec::parse_platform_file(text, name);
    const Nodes nodes = *nodes_for(*file, made.trace);
    auto state = build_state(*file, name, nodes, made.trace);
    const auto entitled = entitlements(*state, made.trace);
    Outcome outcome = run_trace(made.trace, std::move(*state), {});
    Measures measures = measure(made.trace, outcome, cores_milli(nodes), entitled);
    made.runs.push_back(
        {name, nodes.size(), cores_milli(nodes), std::move(measures), std::move(outcome)});
  }
  return made;
}

std::string as_text(const Golden& made) {
  std::string text;
  const auto line = [&](const std::string& label, const std::vector<std::string>& cells) {
    text += label;
    for (const std::string& cell : cells) text += " | " + cell;
    text += "\n";
  };
  for (const ReportRow& row : comparison(made.runs)) line(row.label, row.cells);
  for (const NamespaceReport& row : by_namespace(made.runs)) {
    std::vector<std::string> cells{row.entitled};
    cells.insert(cells.end(), row.cells.begin(), row.cells.end());
    line(row.name, cells);
  }
  return text;
}

TEST(Report, IsTheGoldenOne) {
  std::ifstream file("src/simulate/testdata/report.txt");
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(as_text(golden()), expected.str())
      << "what is shown has changed: put it into src/simulate/testdata/report.txt";
}

TEST(Report, SpansAreShownAsPeopleReadThem) {
  EXPECT_EQ(show_span(0), "0s");
  EXPECT_EQ(show_span(5.25), "5.2s");
  EXPECT_EQ(show_span(59.6), "1m00s");
  EXPECT_EQ(show_span(754), "12m34s");
  EXPECT_EQ(show_span(18'720), "5h12m");
  EXPECT_EQ(show_span(273'600), "3d04h");
}

TEST(Report, WhatWasLeftOutIsSaid) {
  Trace trace;
  trace.without_run = 3;
  trace.broken = 2;
  trace.first_broken = "t.swf:7: it has 3 fields";
  NamedRun run{.name = "a.yaml", .outcome = {.curve = Curve(0, {}, {})}};
  run.outcome.left_out["no node has a gpu:1"] = 1;
  run.measures.spread = 5;
  EXPECT_EQ(remarks(trace, {run}),
            (std::vector<std::string>{
                "3 jobs left out of the trace: no run time",
                "2 broken lines left out of the trace; the first: t.swf:7: it has 3 fields",
                "a.yaml: 1 job left out: no node has a gpu:1",
                "a.yaml: 5 jobs wider than a node, run as gangs"}));
}

TEST(Report, WhereNothingRanThereIsNothingToTell) {
  Trace trace;
  trace.namespaces = {"bio"};
  trace.jobs.resize(1);
  Outcome outcome = empty_outcome(trace);
  Measures measures = measure(trace, outcome, 4000, {1});
  const NamedRun run{"a.yaml", 1, 4000, std::move(measures), std::move(outcome)};
  std::map<std::string, std::string> shown;
  for (const ReportRow& row : comparison({run})) shown[row.label] = row.cells.at(0);
  for (const char* label :
       {"wait, mean", "wait, p95", "wait p95, largest quarter", "bounded slowdown", "fairness",
        "utilisation, steady", "utilisation, whole"})
    EXPECT_EQ(shown[label], "-") << label;
  EXPECT_EQ(by_namespace({run}).at(0).cells, (std::vector<std::string>{"0.0%", "-", "-"}));
  const std::string json = report_json(trace, {run});
  EXPECT_NE(json.find("\"fairness\":{\"jain\":null"), std::string::npos) << json;
  EXPECT_NE(json.find("\"tasks\":0,\"mean_seconds\":null"), std::string::npos) << json;
}

TEST(Report, NamespacesAreShownByWhatTheyUsed) {
  NamedRun run{.name = "a.yaml", .outcome = {.curve = Curve(0, {}, {})}};
  for (const auto& [name, used] :
       std::map<std::string, double>{{"a", 0.1}, {"b", 0.7}, {"c", 0.2}}) {
    run.measures.namespaces.push_back({.name = name});
    run.measures.namespaces.back().used = used;
  }
  const auto rows = by_namespace({run});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name + rows[1].name + rows[2].name, "bca");
  const std::string svg = plot_namespaces({run});
  EXPECT_NE(svg.find(">80%<"), std::string::npos) << "round steps";
  EXPECT_LT(svg.find(">b<"), svg.find(">c<"));
}

TEST(Plots, AreWholeDrawingsWithALineOfEachRun) {
  const Golden made = golden();
  for (const std::string& svg : {plot_utilisation(made.runs), plot_waits(made.trace, made.runs),
                                 plot_namespaces(made.runs)}) {
    EXPECT_TRUE(svg.starts_with("<svg xmlns"));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_NE(svg.find(">two</text>"), std::string::npos);
    EXPECT_NE(svg.find(" c1\""), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
}

}  // namespace
}  // namespace atl::simulate
