#include "spec/cloudmesh/cc_plan.h"

#include <algorithm>

#include "base/text.h"

namespace atl::spec::cc {
namespace {

bool runs_here(const CcNode& node) {
  return node.kind != "ssh" && node.kind != "slurm" && node.kind != "lsf";
}

std::string absolute(const std::string& path, const CcPlanOptions& options) {
  if (path == "~") return options.home;
  if (path.starts_with("~/")) return options.home + path.substr(1);
  if (path.starts_with("/") || options.directory.empty()) return path;
  return options.directory + "/" + path;
}

// As the scripts name it: from their directory, so that it can be moved.
std::string from_directory(const std::string& path, const CcPlanOptions& options) {
  return path.starts_with("~") || path.starts_with("/") ? absolute(path, options) : "./" + path;
}

bool is_file_name(const std::string& exec) {
  const bool one_word = exec.find_first_of(" \t\n;|&<>()$`\"'\\*?") == std::string::npos;
  return one_word && (exec.ends_with(".sh") || exec.ends_with(".py") || exec.ends_with(".ipynb"));
}

std::string complain(const std::string& message) {
  return "printf '%s\\n' " + shell_word("atoll: " + message) + " >&2\n";
}

// By its #! line; a file that may not be executed is given to the interpreter that the line names.
constexpr const char* kRunShell = R"(read -r first < "$script" || :
case $first in
'#!'*)
  if [ -x "$script" ]; then exec "$script"; fi
  set -f
  exec ${first#??} "$script"
  ;;
esac
exec sh "$script"
)";

std::string run_python(const CcNode& node) {
  return "if ! command -v python3 > /dev/null 2>&1; then\n  " +
         complain("node " + node.name + " needs python3, which is not installed here") +
         "  exit 127\nfi\nexec python3 \"$script\"\n";
}

std::string run_notebook(const CcNode& node) {
  return "output=${script%.ipynb}-output.ipynb\n"
         "if command -v papermill > /dev/null 2>&1; then exec papermill \"$script\" \"$output\"; "
         "fi\n"
         "if jupyter nbconvert --version > /dev/null 2>&1; then\n"
         "  exec jupyter nbconvert --to notebook --execute --output \"$(basename \"$output\")\" "
         "\"$script\"\nfi\n" +
         complain("node " + node.name +
                  " is a notebook, and neither papermill nor jupyter nbconvert is installed here: "
                  "pip install papermill, and give the node that environment as its venv") +
         "exit 127\n";
}

// Replaces the shell by what the file named by $script holds.
std::string run_file(const CcNode& node, const std::string& file) {
  if (file.ends_with(".py")) return run_python(node);
  return file.ends_with(".ipynb") ? run_notebook(node) : std::string(kRunShell);
}

std::string set_script(const std::string& file, const CcPlanOptions& options) {
  return "script=" + shell_word(from_directory(file, options)) + "\n";
}

std::string when_missing(const CcNode& node, const std::string& file,
                         const CcPlanOptions& options) {
  return "if [ ! -f \"$script\" ]; then\n  " +
         complain("node " + node.name + ": its script " + absolute(file, options) +
                  " does not exist; write it, or give the node exec: COMMAND") +
         "  exit 127\nfi\n";
}

std::string run_exec(const CcNode& node, const CcPlanOptions& options) {
  if (!is_file_name(node.exec)) return "set -e\n" + node.exec + "\n";
  return set_script(node.exec, options) + when_missing(node, node.exec, options) +
         run_file(node, node.exec);
}

// Neither a script of its own nor a command: it stands between others.
bool is_marker(const CcNode& node) {
  const bool between = node.marker || node.name == "start" || node.name == "end";
  return between && node.exec.empty() && node.script == node.name + ".sh";
}

// A script that goes along needs a line that says who reads it.
std::string carried(const std::string& name, const std::string& script) {
  if (script.starts_with("#!")) return script;
  return (name.ends_with(".py") ? "#!/usr/bin/env python3\n" : "#!/bin/sh\n") + script;
}

class CcPlanner {
 public:
  CcPlanner(const CcFile& file, const CcPlanOptions& options) : file_(file), options_(options) {}

  Result<CcPlan> plan() {
    CcPlan made;
    made.plan.name = file_.workflow.name;
    const std::vector<uint32_t> order = in_order(file_.workflow);
    std::vector<uint32_t> step_of(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) step_of[order[i]] = i;
    made.plan.steps.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      const CcNode& node = file_.workflow.nodes[order[i]];
      PlannedStep& step = made.plan.steps[i];
      auto job = job_of(node);
      if (!job) return tl::unexpected(job.error());
      step.name = node.name;
      step.job = std::move(*job);
      for (const uint32_t parent : node.parents) {
        PlannedNeed need;
        need.step = step_of[parent];
        step.needs.push_back(need);
      }
    }
    return made;
  }

 private:
  Result<JobSpec> job_of(const CcNode& node) const {
    auto site = site_of(node);
    if (!site) return tl::unexpected(site.error());
    JobSpec job;
    job.name = node.name;
    job.site = *site;
    if (!options_.directory.empty()) job.directory = options_.directory;
    job.env = {{"CLOUDMESH_WORKFLOW", file_.workflow.name}, {"CLOUDMESH_JOB", node.name}};
    if (!node.venv.empty()) job.venv = absolute(node.venv, options_);
    job.script = script_of(node);
    return job;
  }
  std::string script_of(const CcNode& node) const {
    if (options_.skip_done && node.status == "done") return "#!/bin/sh\nexit 0\n";
    const auto known = options_.scripts.find(node.script);
    const bool goes_along = !runs_here(node) && known != options_.scripts.end();
    if (goes_along && !node.script.ends_with(".ipynb")) return carried(node.script, known->second);
    return node_script(node, options_);
  }

  // The site of a host is known by the host's whole name or the first word of it.
  Result<std::string> site_of(const CcNode& node) const {
    if (runs_here(node)) return options_.local_site;
    std::string host = node.host.substr(node.host.find('@') + 1);
    for (char& c : host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (host.empty() || host == "local" || host == "localhost")
      return refuse(node, "needs the host that it runs on: write host: " +
                              std::string(host.empty() ? "NAME" : "NAME instead of " + host) +
                              ", or kind: local");
    for (const std::string& name : {host, host.substr(0, host.find('.'))}) {
      if (options_.sites.count(name)) return name;
    }
    return refuse(node, "runs on " + quote(host) +
                            ", and there is no site of that name here (there is " +
                            comma_list(options_.sites) + "); " + how_to_add(node, host) +
                            ", or write kind: local to run it on this machine");
  }
  static std::string how_to_add(const CcNode& node, const std::string& host) {
    const std::string name = host.substr(0, host.find('.'));
    const std::string how = node.kind == "ssh" ? " --ssh " : " --slurm --over ";
    if (node.kind == "lsf" || !check_identifier(name, "site")) return "add such a site";
    return "add one with `atoll site add " + name + how + node.host + "`";
  }
  tl::unexpected<Error> refuse(const CcNode& node, const std::string& why) const {
    return fail(ErrorCode::invalid,
                file_.file + ":" + yaml::to_string(node.place.mark) + ": node " + quote(node.name) +
                    " is of kind " + node.kind + " and " + why,
                "nodes." + node.name + ".host");
  }

  const CcFile& file_;
  const CcPlanOptions& options_;
};

}  // namespace

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out += '\'';
}

std::string node_script(const CcNode& node, const CcPlanOptions& options) {
  const std::string head = "#!/bin/sh\n";
  if (node.script.empty()) return head + run_exec(node, options);
  const std::string begin = head + set_script(node.script, options);
  if (is_marker(node))
    return begin + "if [ ! -f \"$script\" ]; then exit 0; fi\n" + run_file(node, node.script);
  if (node.exec.empty())
    return begin + when_missing(node, node.script, options) + run_file(node, node.script);
  return begin + "if [ -f \"$script\" ]; then\n" + run_file(node, node.script) + "fi\n" +
         run_exec(node, options);
}

Result<CcPlan> plan_cc(const CcFile& file, const CcPlanOptions& options) {
  return CcPlanner(file, options).plan();
}

}  // namespace atl::spec::cc
