// What the steps of a pipeline run. The names in the environment and the folders are those that
// Tapis gives to tasks.
#include "spec/cloudmesh/cc_plan.h"
#include "spec/tapis/sdk.h"
#include "spec/tapis/tapis_plan.h"

namespace atl::spec::tapis {
namespace {

using cc::shell_word;

constexpr std::string_view kScriptHead = R"sh(#!/bin/sh
set -e
_OWE_WORK_DIR="$ATOLL_JOB_DIR/task${ATOLL_ARRAY_INDEX:+-$ATOLL_ARRAY_INDEX}"
_OWE_INPUT_DIR="$_OWE_WORK_DIR/input"
_OWE_OUTPUT_DIR="${ATOLL_OUTPUTS:-$_OWE_WORK_DIR/output}"
_OWE_EXEC_DIR="$_OWE_WORK_DIR/src"
_OWE_PIPELINE_RUN_UUID=$(printf '00000000-0000-8000-8000-%012x' "${ATOLL_WORKFLOW:-0}")
_OWE_TASK_EXECUTION_UUID=$(printf '%08x-0001-8000-8000-%012x' "${ATOLL_STEP_NUMBER:-0}" "${ATOLL_WORKFLOW:-0}")
export _OWE_WORK_DIR _OWE_INPUT_DIR _OWE_OUTPUT_DIR _OWE_EXEC_DIR
export _OWE_PIPELINE_RUN_UUID _OWE_TASK_EXECUTION_UUID
umask 077
rm -rf "$_OWE_WORK_DIR"
mkdir -p "$_OWE_INPUT_DIR" "$_OWE_OUTPUT_DIR" "$_OWE_EXEC_DIR"
)sh";

// Each input is a file; one without a value is not there.
std::string input_files(const Task& task) {
  std::string text;
  for (const auto& [key, input] : task.input) {
    const std::string variable = input_variable(key);
    text += "if [ -n \"${" + variable + "+set}\" ]; then printf '%s' \"$" + variable +
            "\" >\"$_OWE_INPUT_DIR/" + key + "\"; unset " + variable + "; fi\n";
  }
  return text + "cd \"$_OWE_EXEC_DIR\"\n";
}

// No line of the text may be the mark.
std::string heredoc(std::string_view path, std::string_view text, std::string_view filter = "cat") {
  std::string mark = "ATOLL_TEXT";
  while (text.find(mark) != std::string_view::npos) mark += "_";
  return std::string(filter) + " >\"" + std::string(path) + "\" <<'" + mark + "'\n" +
         std::string(text) + (text.ends_with('\n') ? "" : "\n") + mark + "\n";
}

constexpr std::string_view kNeedPython = R"sh(if ! command -v python3 >/dev/null 2>&1; then
  echo "atoll: this task needs python3, which is not installed here" >&2
  exit 127
fi
)sh";

std::string packages_text(const FunctionTask& function) {
  std::string names;
  for (const std::string& each : function.packages) names += " " + shell_word(each);
  return "python3 -m venv \"$_OWE_WORK_DIR/venv\"\n"
         "if ! \"$_OWE_WORK_DIR/venv/bin/pip\" install --quiet --disable-pip-version-check" +
         names +
         " >\"$_OWE_WORK_DIR/install.log\" 2>&1; then\n"
         "  cat \"$_OWE_WORK_DIR/install.log\" >&2\n"
         "  echo 'atoll: the packages of the task could not be installed' >&2\n"
         "  exit 1\nfi\n"
         "PATH=\"$_OWE_WORK_DIR/venv/bin:$PATH\"\n";
}

std::string repositories_text(const FunctionTask& function) {
  std::string text;
  for (const GitRepository& each : function.repositories) {
    text += "git clone --quiet --depth 1";
    if (!each.branch.empty()) text += " --branch " + shell_word(each.branch);
    text += " -- " + shell_word(each.url) + " " + shell_word("./" + each.directory) + "\n";
  }
  return text;
}

std::string function_text(const FunctionTask& function) {
  std::string text(kNeedPython);
  text += "mkdir -p \"$_OWE_WORK_DIR/sdk/owe_python_sdk\"\n";
  text += ": >\"$_OWE_WORK_DIR/sdk/owe_python_sdk/__init__.py\"\n";
  text += heredoc("$_OWE_WORK_DIR/sdk/owe_python_sdk/runtime.py", kPythonSdk);
  text += repositories_text(function);
  if (!function.packages.empty()) text += packages_text(function);
  const std::string file =
      function.entrypoint.empty() || !function.code.empty() ? "entrypoint.py" : function.entrypoint;
  text += "_OWE_ENTRYPOINT_FILE_PATH=\"$_OWE_EXEC_DIR/\"" + shell_word(file) + "\n";
  text += "PYTHONPATH=\"$_OWE_WORK_DIR/sdk:$_OWE_EXEC_DIR${PYTHONPATH:+:$PYTHONPATH}\"\n";
  text += "PYTHONUNBUFFERED=1\nexport _OWE_ENTRYPOINT_FILE_PATH PYTHONPATH PYTHONUNBUFFERED PATH\n";
  if (!function.code.empty())
    text += heredoc("$_OWE_ENTRYPOINT_FILE_PATH", function.code, "base64 -d");
  if (!function.command.empty())
    return text + "exec /bin/sh -ec " + shell_word(function.command) + "\n";
  return text + "exec python3 \"$_OWE_ENTRYPOINT_FILE_PATH\"\n";
}

std::string application_text(const ApplicationTask& application) {
  std::string text = "echo " +
                     shell_word("atoll: images are not run here; " + application.image +
                                " is not used, its command runs as it is") +
                     " >&2\n";
  if (!application.command.empty())
    return text + "exec /bin/sh -ec " + shell_word(application.command) + "\n";
  text += "exec";
  for (const std::string& each : application.argv) text += " " + shell_word(each);
  return text + "\n";
}

std::string request_text(const RequestTask& request) {
  return std::string(kNeedPython) + heredoc("$_OWE_WORK_DIR/request.json", request.json) +
         heredoc("$_OWE_WORK_DIR/request.py", kPythonRequest) +
         "exec python3 \"$_OWE_WORK_DIR/request.py\" \"$_OWE_WORK_DIR/request.json\"\n";
}

std::string job_text(const TapisJobTask& job) {
  std::string text = shell_word(job.app);
  for (const std::string& each : job.arguments) text += " " + each;
  return text + "\nprintf FINISHED >\"$_OWE_OUTPUT_DIR/STATUS\"\n";
}

}  // namespace

std::string task_script(const Task& task) {
  const std::string head = std::string(kScriptHead) + input_files(task);
  if (task.type == "function") return head + function_text(task.function);
  if (task.type == "application") return head + application_text(task.application);
  if (task.type == "request") return head + request_text(task.request);
  return head + job_text(task.job);
}

}  // namespace atl::spec::tapis
