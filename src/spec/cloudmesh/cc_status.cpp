#include "spec/cloudmesh/cc_status.h"

#include <utility>

namespace atl::spec::cc {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

constexpr Word kOfSteps[] = {
    {"waiting", "ready"},   {"ready", "ready"},      {"preparing", "submitted"},
    {"running", "running"}, {"finished", "running"}, {"collecting", "running"},
    {"succeeded", "done"},  {"failed", "failed"},    {"cancelled", "failed"},
    {"skipped", "done"},    {"blocked", "failed"},
};
constexpr Word kOfStatuses[] = {
    {"ready", "waiting"},     {"submitted", "preparing"}, {"running", "running"},
    {"done", "succeeded"},    {"completed", "succeeded"}, {"failed", "failed"},
    {"undefined", "blocked"},
};

template <size_t N>
std::string_view look_up(const Word (&words)[N], std::string_view word,
                         std::string_view otherwise) {
  for (const auto& [from, to] : words) {
    if (from == word) return to;
  }
  return otherwise;
}

Time first_of(Time known, const std::string& written, const Zone& zone) {
  return known ? known : parse_cc_time(written, zone).value_or(Time{});
}

}  // namespace

std::string_view cc_status(std::string_view step_state) {
  return look_up(kOfSteps, step_state, "undefined");
}
std::string_view step_state(std::string_view cc_status) {
  return look_up(kOfStatuses, cc_status, "blocked");
}

LabelValues label_values(const CcNode& node, const CcRun& run) {
  LabelValues values;
  const auto known = run.jobs.find(node.name);
  const CcJobRun job = known == run.jobs.end() ? CcJobRun{} : known->second;
  values.attributes = {
      {"name", node.name},
      {"user", node.user},
      {"host", node.host},
      {"label", node.label},
      {"kind", node.kind},
      {"status", job.status.empty() ? node.status : job.status},
      {"progress", std::to_string(job.status.empty() ? node.progress : job.progress)},
      {"script", node.script},
      {"exec", node.exec},
      {"pid", job.pid.empty() ? node.pid : job.pid},
      {"venv", node.venv},
      {"shape", node.shape},
      {"style", node.style},
      {"created", node.created},
      {"modified", node.modified},
      {"number", std::to_string(node.number)}};
  for (const CcAttribute& each : node.extra) values.attributes.emplace(each.name, each.text);
  values.created = first_of(job.created, node.created, run.zone);
  values.modified = first_of(job.modified, node.modified, run.zone);
  values.tstart = job.started;
  values.tend = job.ended;
  values.t0 = run.started;
  values.t1 = run.ended;
  values.os = run.os;
  values.cm = run.cm;
  return values;
}

CcWorkflow with_run(const CcWorkflow& workflow, const CcRun& run, bool labels) {
  CcWorkflow out = workflow;
  for (CcNode& node : out.nodes) {
    const LabelValues values = label_values(node, run);
    if (labels) node.label = render_label(node.label_format, values, run.now, run.zone);
    node.status = values.attributes.at("status");
    node.progress = std::stoi(values.attributes.at("progress"));
    node.pid = values.attributes.at("pid");
    if (values.created) node.created = node_time(values.created, run.zone);
    if (values.modified) node.modified = node_time(values.modified, run.zone);
  }
  return out;
}

std::string_view workflow_status(const CcWorkflow& workflow) {
  const auto counts = status_counts(workflow);
  const auto any = [&](const char* word) {
    const auto known = counts.find(word);
    return known == counts.end() ? size_t{0} : known->second;
  };
  const size_t done = any("done") + any("completed");
  if (any("failed")) return "failed";
  if (done == workflow.nodes.size()) return "done";
  if (any("running") || any("submitted") || (done && any("ready"))) return "running";
  return any("ready") ? "ready" : "undefined";
}

std::map<std::string, size_t> status_counts(const CcWorkflow& workflow) {
  std::map<std::string, size_t> counts = {
      {"done", 0}, {"ready", 0}, {"failed", 0}, {"submitted", 0}, {"running", 0}};
  for (const CcNode& node : workflow.nodes) ++counts[node.status];
  return counts;
}

}  // namespace atl::spec::cc
