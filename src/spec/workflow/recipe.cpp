#include "spec/workflow/recipe.h"

#include <array>
#include <boost/json.hpp>

#include "base/template.h"
#include "base/text.h"
#include "spec/workflow/condition.h"

namespace atl::spec {
namespace {

namespace json = boost::json;

constexpr std::array kOutputFields{
    field<&OutputSpec::name>({.name = "name", .sentence = "Its name.", .required = true}),
    field<&OutputSpec::file>({.name = "file", .sentence = "The file, below the directory."}),
    field<&OutputSpec::type>({.name = "type", .sentence = "What kind of value."}),
    field<&OutputSpec::optional>({.name = "optional", .sentence = "It may be missing."})};
constexpr std::array kBindFields{
    field<&BindSpec::name>({.name = "name", .sentence = "The variable.", .required = true}),
    field<&BindSpec::step>({.name = "step", .sentence = "Which step.", .required = true}),
    field<&BindSpec::output>({.name = "output", .sentence = "Which output.", .required = true}),
    field<&BindSpec::required>({.name = "required", .sentence = "It may not be missing."})};
constexpr std::array kReuseFields{
    field<&ReuseSpec::workflow>({.name = "workflow", .sentence = "Of which workflow."}),
    field<&ReuseSpec::step>({.name = "step", .sentence = "Which step, by its number."})};
constexpr std::array kRecipeFields{
    field<&Recipe::job>({.name = "job", .sentence = "What it runs."}),
    field<&Recipe::when>({.name = "when", .sentence = "Whether it runs."}),
    field<&Recipe::for_each>({.name = "for_each", .sentence = "What it goes through."}),
    field<&Recipe::params>({.name = "params", .sentence = "The workflow's parameters."}),
    field<&Recipe::inputs>({.name = "inputs", .sentence = "What it reads."}),
    field<&Recipe::outputs>({.name = "outputs", .sentence = "What it leaves."}),
    field<&Recipe::check>({.name = "check", .sentence = "Commands that have to succeed."}),
    field<&Recipe::asserts>({.name = "asserts", .sentence = "What has to hold of its outputs."}),
    field<&Recipe::cache>({.name = "cache", .sentence = "An earlier success will do."}),
    field<&Recipe::steps>({.name = "steps", .sentence = "The numbers of steps it refers to."}),
    field<&Recipe::files>({.name = "files", .sentence = "Files that were sent along."}),
    field<&Recipe::reuse>({.name = "reuse", .sentence = "Whose outputs it takes over."}),
    field<&Recipe::recheck>({.name = "recheck", .sentence = "They are only checked again."}),
    field<&Recipe::typed>({.name = "typed", .sentence = "Values have types."}),
    field<&Recipe::bind>({.name = "bind", .sentence = "Variables from what others left."}),
    field<&Recipe::refuse>({.name = "refuse", .sentence = "Why it fails."})};

tl::unexpected<Error> refuse_recipe(std::string message) {
  return fail(ErrorCode::invalid, std::move(message));
}

bool leads_out(std::string_view path) {
  if (path.empty() || path.front() == '/') return true;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") return true;
  }
  return false;
}

Result<void> check_file(const OutputSpec& output) {
  if (!output.file || !leads_out(*output.file)) return {};
  return refuse_recipe(
      "output " + quote(*output.name) + " is the file " + quote(*output.file) +
      ", which is not below the step's directory: write a path without / in front and "
      "without ..");
}

Result<OutputSpec> output_of(const std::string& name, const json::value& value) {
  OutputSpec output;
  output.name = name;
  if (auto ok = check_word(name, "output"); !ok) return tl::unexpected(ok.error());
  if (value.is_null()) return output;
  if (value.is_string()) {
    output.file = std::string(value.as_string());
  } else if (value.is_object()) {
    for (const auto& entry : value.as_object()) {
      if (entry.key() != "file" || !entry.value().is_string())
        return refuse_recipe("output " + quote(name) + " takes file: PATH, or nothing for a value");
      output.file = std::string(entry.value().as_string());
    }
  } else {
    return refuse_recipe("output " + quote(name) + " must be a path, or nothing for a value");
  }
  if (auto ok = check_file(output); !ok) return tl::unexpected(ok.error());
  return output;
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

// One word of the shell. The item of a task comes from its variable: put into the text it could end
// the quotes.
std::string quoted(std::string_view text) {
  std::string out;
  size_t done = 0;
  for (const Reference& each : references_in(text)) {
    if (each.root != "item") continue;
    out += in_quotes(text.substr(done, each.at - done)) + "\"$ATOLL_ITEM";
    if (!each.path.empty()) out += "_" + variable_part(each.path);
    out += "\"";
    done = each.at + each.size;
  }
  return done > 0 && done == text.size() ? out : out + in_quotes(text.substr(done));
}

// How the script is run from the file that it stands in.
std::string interpreter_of(std::string_view script) {
  if (!script.starts_with("#!")) return "/bin/sh -e";
  const size_t end = script.find_first_of("\r\n");
  return std::string(script.substr(2, end == std::string_view::npos ? end : end - 2));
}

std::string command_of(const JobSpec& job) {
  std::string line;
  for (const std::string& each : job.command.value_or(std::vector<std::string>{}))
    line += (line.empty() ? "" : " ") + quoted(each);
  return line;
}

// A word that the script does not hold ends it.
std::string end_mark(std::string_view script) {
  std::string mark = "ATOLL_END";
  while (script.find(mark) != std::string_view::npos) mark += "_";
  return mark;
}

constexpr std::string_view kHead = R"sh(#!/bin/sh
# Runs the step, then looks at what it has left.
ATOLL_OUTPUTS="$ATOLL_JOB_DIR/outputs${ATOLL_ARRAY_INDEX:+/$ATOLL_ARRAY_INDEX}"
export ATOLL_OUTPUTS
trap : TERM INT USR1
)sh";
constexpr std::string_view kMake =
    R"sh(rm -rf "$ATOLL_OUTPUTS" && mkdir -p "$ATOLL_OUTPUTS" || exit 125
)sh";
constexpr std::string_view kKeepFile = R"sh(
atoll_keep() {
  if [ ! -f "$2" ]; then echo "atoll: output $1: there is no file $2" >&2; exit 1; fi
  case $(realpath -- "$2") in
    "$(realpath -- .)"/*) ;;
    *) echo "atoll: output $1: $2 leads out of the step's directory" >&2; exit 1 ;;
  esac
  printf '%s\t%s\t%s\t%s\n' "$1" "$(wc -c <"$2" | tr -d ' ')" "$(sha256sum <"$2" | cut -c1-64)" \
    "$(realpath -- "$2")" >>"$ATOLL_OUTPUTS/.files" || exit 125
}
)sh";

// Notes size and checksum of each file that it leaves.
std::string files_text(const Recipe& recipe) {
  std::string text;
  bool keeps = false;
  for (const OutputSpec& output : recipe.outputs.value_or(std::vector<OutputSpec>{})) {
    if (!output.file) continue;
    if (!std::exchange(keeps, true)) text += kKeepFile;
    text += "atoll_keep " + quoted(*output.name) + " " + quoted(*output.file) + "\n";
  }
  return text;
}

std::string checks_text(const Recipe& recipe) {
  std::string text;
  for (const std::string& command : recipe.check.value_or(std::vector<std::string>{})) {
    text += "/bin/sh -ec " + quoted(command) + "\n";
    text += "atoll_status=$?\nif [ $atoll_status -ne 0 ]; then echo " +
            quoted("atoll: check failed: " + command) + " >&2; exit $atoll_status; fi\n";
  }
  return text;
}

}  // namespace

template <>
const Shape& shape_of<OutputSpec>() {
  static const Shape kShape{"WorkflowOutput", "Something that a step leaves.", kOutputFields};
  return kShape;
}
template <>
const Shape& shape_of<BindSpec>() {
  static const Shape kShape{"WorkflowBind", "A variable from an output.", kBindFields};
  return kShape;
}
template <>
const Shape& shape_of<ReuseSpec>() {
  static const Shape kShape{"WorkflowReuse", "An earlier run of a step.", kReuseFields};
  return kShape;
}
template <>
const Shape& shape_of<Recipe>() {
  static const Shape kShape{"WorkflowRecipe", "How a step is prepared.", kRecipeFields};
  return kShape;
}

Result<std::vector<OutputSpec>> outputs_of(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  std::vector<OutputSpec> outputs;
  if (!error && value.is_object()) {
    for (const auto& entry : value.as_object()) {
      auto output = output_of(std::string(entry.key()), entry.value());
      if (!output) return tl::unexpected(output.error());
      outputs.push_back(std::move(*output));
    }
    return outputs;
  }
  if (error || !value.is_array())
    return refuse_recipe("outputs must be a list of names, or {NAME: {file: PATH}}");
  for (const json::value& each : value.as_array()) {
    if (!each.is_string())
      return refuse_recipe("outputs must be a list of names, or {NAME: {file: PATH}}");
    auto output = output_of(std::string(each.as_string()), nullptr);
    if (!output) return tl::unexpected(output.error());
    outputs.push_back(std::move(*output));
  }
  return outputs;
}

Result<void> check_outputs(const std::vector<OutputSpec>& outputs) {
  for (const OutputSpec& output : outputs) {
    if (auto ok = check_file(output); !ok) return ok;
  }
  return {};
}

Result<Checks> checks_of(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return refuse_recipe("check must be a command, a condition, or a list of both");
  Checks checks;
  json::array conditions;
  const auto add = [&](const json::value& each) {
    if (each.is_string())
      checks.commands.emplace_back(each.as_string());
    else
      conditions.push_back(each);
  };
  if (value.is_array())
    for (const json::value& each : value.as_array()) add(each);
  else
    add(value);
  if (conditions.empty()) return checks;
  checks.conditions = json::serialize(conditions);
  if (auto ok = check_condition(checks.conditions); !ok) return tl::unexpected(ok.error());
  return checks;
}

void wrap(const Recipe& recipe, JobSpec& job) {
  if (!recipe.outputs && !recipe.check && !recipe.cache.value_or(false)) return;
  std::string text(kHead);
  text += kMake;
  if (job.script) {
    const std::string mark = end_mark(*job.script);
    text += "cat >\"$ATOLL_OUTPUTS/.step\" <<'" + mark + "'\n" + *job.script;
    text += (job.script->ends_with('\n') ? "" : "\n") + mark + "\n";
    text += interpreter_of(*job.script) + " \"$ATOLL_OUTPUTS/.step\" \"$@\"\n";
  } else {
    text += command_of(job) + "\n";
  }
  text += "atoll_status=$?\n[ $atoll_status -eq 0 ] || exit $atoll_status\n";
  job.script = text + files_text(recipe) + checks_text(recipe) + "exit 0\n";
  job.command.reset();
}

JobSpec checking_job(const Recipe& recipe, const JobSpec& job,
                     const std::map<std::string, std::string>& values) {
  std::string text(kHead);
  text += kMake;
  for (const auto& [name, value] : values)
    text += "printf '%s\\n' " + quoted(value) + " >\"$ATOLL_OUTPUTS/\"" + quoted(name) + "\n";
  JobSpec checking = job;
  checking.script = text + files_text(recipe) + checks_text(recipe) + "exit 0\n";
  checking.command.reset();
  return checking;
}

}  // namespace atl::spec
