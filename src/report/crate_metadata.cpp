#include "report/crate_metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"
#include "report/limits.h"
#include "report/report.h"
#include "spec/json_writer.h"

namespace atl::report {
namespace {

using spec::JsonWriter;

constexpr std::string_view kAction = "#run", kUser = "#user", kGroup = "#namespace",
                           kEngine = "#atoll", kLanguage = "#atoll-workflow";
constexpr std::string_view kCrateProfile = "https://w3id.org/ro/crate/1.1";
constexpr std::string_view kWorkflowCrate = "https://w3id.org/workflowhub/workflow-ro-crate/1.0";
constexpr std::string_view kProcessRun = "https://w3id.org/ro/wfrun/process/0.5";
constexpr std::string_view kWorkflowRun = "https://w3id.org/ro/wfrun/workflow/0.5";
constexpr std::string_view kProvenanceRun = "https://w3id.org/ro/wfrun/provenance/0.5";
constexpr std::string_view kBioschemas =
    "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE";
constexpr std::string_view kTerms = "https://w3id.org/ro/terms/workflow-run#";

// Entities of the graph, each written in one go.
class Entities {
 public:
  explicit Entities(JsonWriter& json) : json_(json) {}

  Entities& begin(std::string_view id, std::vector<std::string> types) {
    json_.begin_object().member("@id", id);
    types.size() == 1 ? json_.member("@type", types[0]) : json_.member("@type", types);
    return *this;
  }
  Entities& text(std::string_view key, std::string_view value) {
    if (!value.empty()) json_.member(key, value);
    return *this;
  }
  Entities& link(std::string_view key, std::string_view id) {
    if (id.empty()) return *this;
    json_.key(key).begin_object().member("@id", id).end_object();
    return *this;
  }
  Entities& links(std::string_view key, const std::vector<std::string>& ids) {
    if (ids.size() == 1) return link(key, ids[0]);  // the compact form that RO-Crate asks for
    if (ids.empty()) return *this;
    json_.key(key).begin_array();
    for (const std::string& id : ids) json_.begin_object().member("@id", id).end_object();
    json_.end_array();
    return *this;
  }
  void end() { json_.end_object(); }

  // `file` with what is known of it; to be ended by the caller.
  Entities& file(const CrateFile& file, std::string_view id, std::vector<std::string> types,
                 std::string_view name) {
    begin(id, std::move(types)).text("name", name).text("encodingFormat", file.format);
    if (file.original != file.path) text("alternateName", file.original);
    if (file.size >= 0) text("contentSize", std::to_string(file.size));
    return text("sha256", file.sha256);
  }

 private:
  JsonWriter& json_;
};

// Whole seconds with an offset: the form that the validator of the profile knows.
std::string moment_of(Time time) {
  std::string text = format_time({time.us / 1'000'000 * 1'000'000});
  if (text.ends_with('Z')) text.replace(text.size() - 1, 1, "+00:00");
  return text;
}

std::string param_id(size_t i) { return fmt::format("#param-{}", i + 1); }
std::string value_id(size_t i) { return fmt::format("#value-{}", i + 1); }
std::string slot_id(size_t i) { return fmt::format("#output-{}", i + 1); }

std::string tool_id(size_t i) { return fmt::format("#tool-{}", i + 1); }
std::string step_id(size_t i) { return fmt::format("#step-{}", i + 1); }
std::string step_run_id(size_t i) { return fmt::format("#step-run-{}", i + 1); }
std::string control_id(size_t i) { return fmt::format("#step-control-{}", i + 1); }

std::string result_id(const CrateContents& contents, size_t i) {
  const CrateFile& file = contents.outputs[i].file;
  return file.path.empty() ? fmt::format("#result-{}", i + 1) : encoded(file.path);
}

// A file that is only described is a result, but no example of a slot: the profile wants to find
// it.
bool has_slot(const CrateOutput& output) {
  return output.output->path.empty() || !output.file.path.empty();
}

template <class IdOf>
std::vector<std::string> ids(size_t count, IdOf id_of) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) out.push_back(id_of(i));
  return out;
}

std::string summary(const WorkflowRun& run) {
  return fmt::format("A run of the workflow {} by {}: {} steps, {}.", run.name, run.user,
                     run.steps.size(), describe(tally_of(run)));
}

bool is_url(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

std::string license_id(const WorkflowRun& run) {
  return is_url(run.license) ? encoded(run.license, ":?#&=%+,;@") : "#license";
}

void add_root(Entities& out, const WorkflowRun& run, const CrateContents& contents) {
  out.begin("ro-crate-metadata.json", {"CreativeWork"}).link("about", "./");
  out.links("conformsTo", {std::string(kCrateProfile), std::string(kWorkflowCrate)}).end();

  std::vector<std::string> parts;
  for (const CrateFile& file : contents.sources) parts.push_back(encoded(file.path));
  parts.insert(parts.end(), {contents.readme.path, contents.graph.path, contents.report.path});
  if (!contents.checksums.path.empty()) parts.push_back(encoded(contents.checksums.path));
  for (const CrateOutput& output : contents.outputs)
    if (!output.file.path.empty()) parts.push_back(encoded(output.file.path));
  std::vector<std::string> profiles{std::string(kProcessRun), std::string(kWorkflowRun)};
  if (!contents.steps.empty()) profiles.push_back(std::string(kProvenanceRun));
  profiles.push_back(std::string(kWorkflowCrate));
  std::vector<std::string> actions = ids(contents.steps.size(), step_run_id);
  actions.insert(actions.begin(), std::string(kAction));
  out.begin("./", {"Dataset"})
      .text("name", fmt::format("{}, run {}", run.name, run.id))
      .text("description", summary(run))
      .text("datePublished", moment_of(run.ended))
      .link("license", license_id(run))
      .link("author", kUser)
      .link("publisher", kGroup)
      .link("mainEntity", encoded(contents.sources.front().path))
      .links("mentions", actions)
      .links("conformsTo", profiles)
      .links("hasPart", parts)
      .end();

  const auto profile = [&](std::string_view id, std::string_view name, std::string_view version) {
    out.begin(id, {"CreativeWork"}).text("name", name).text("version", version).end();
  };
  profile(kProcessRun, "Process Run Crate", "0.5");
  profile(kWorkflowRun, "Workflow Run Crate", "0.5");
  if (!contents.steps.empty()) profile(kProvenanceRun, "Provenance Run Crate", "0.5");
  profile(kWorkflowCrate, "Workflow RO-Crate", "1.0");
}

void add_people(Entities& out, const WorkflowRun& run) {
  const std::string given = run.license.empty() ? "No license given" : run.license;
  out.begin(license_id(run), {"CreativeWork"}).text("name", given);
  out.text("description", run.license.empty()
                              ? "All rights stay with " + run.user + "; ask before use."
                              : "The license of this run: " + run.license)
      .end();
  out.begin(kUser, {"Person"}).text("name", run.user).link("affiliation", kGroup).end();
  out.begin(kGroup, {"Organization"}).text("name", run.namespace_name).end();
  out.begin(kLanguage, {"ComputerLanguage"}).text("name", "Atoll workflow").end();
  out.begin(kEngine, {"SoftwareApplication"})
      .text("name", "Atoll")
      .text("softwareVersion", run.server_version)
      .end();
}

void add_files(Entities& out, const WorkflowRun& run, const CrateContents& contents) {
  const CrateFile& main = contents.sources.front();
  std::vector<std::string> slots;
  for (size_t i = 0; i < contents.outputs.size(); ++i)
    if (has_slot(contents.outputs[i])) slots.push_back(slot_id(i));
  std::vector<std::string> types{"File", "SoftwareSourceCode", "ComputationalWorkflow"};
  if (!contents.steps.empty()) types.push_back("HowTo");
  out.file(main, encoded(main.path), types, run.name)
      .link("conformsTo", kBioschemas)
      .link("programmingLanguage", kLanguage)
      .link("creator", kUser)
      .link("license", license_id(run))
      .link("image", encoded(contents.graph.path))
      .text("dateCreated", moment_of(run.submitted))
      .text("version", std::to_string(run.version))
      .links("input", ids(run.params.size(), param_id))
      .links("output", slots)
      .links("hasPart", ids(contents.steps.size(), tool_id))
      .links("step", ids(contents.steps.size(), step_id))
      .end();
  for (size_t i = 1; i < contents.sources.size(); ++i) {
    const CrateFile& file = contents.sources[i];
    out.file(file, encoded(file.path), {"File"}, file.original).end();
  }
  out.file(contents.readme, contents.readme.path, {"File"}, "Read me").link("about", "./").end();
  out.file(contents.graph, encoded(contents.graph.path), {"File", "ImageObject"},
           "The graph of " + run.name)
      .link("about", encoded(main.path))
      .end();
  out.file(contents.report, encoded(contents.report.path), {"File"}, "The report of the run")
      .link("about", kAction)
      .end();
  if (!contents.checksums.path.empty())
    out.file(contents.checksums, encoded(contents.checksums.path), {"File"},
             "SHA-256 of the outputs, as sha256sum writes them")
        .link("about", kAction)
        .end();
}

const char* status_of(bool good) {
  return good ? "http://schema.org/CompletedActionStatus" : "http://schema.org/FailedActionStatus";
}

std::string step_summary(const StepRun& step) {
  std::string text = fmt::format("{} {}", step.tasks, step.tasks == 1 ? "task" : "tasks");
  if (!step.site.empty()) text += " on " + step.site;
  if (step.cpu_seconds) text += fmt::format(", {:.1f} s of processor time", *step.cpu_seconds);
  if (step.energy_joules) text += ", about " + format_energy(*step.energy_joules);
  return text + ".";
}

void add_action(Entities& out, const WorkflowRun& run, const CrateContents& contents) {
  std::vector<std::string> environment;
  for (size_t i = 0; i < run.environment.size(); ++i)
    environment.push_back(fmt::format("#environment-{}", i + 1));
  const bool good = run.outcome == "succeeded";
  out.begin(kAction, {"CreateAction"})
      .text("identifier", run.id)
      .text("name", fmt::format("Run {} of {}", run.id, run.name))
      .text("description", command_to_repeat(run))
      .text("startTime", moment_of(run.started ? run.started : run.submitted))
      .text("endTime", moment_of(run.ended))
      .link("instrument", encoded(contents.sources.front().path))
      .link("agent", kUser)
      .text("actionStatus", status_of(good))
      .text("error", good ? "" : run.message)
      .link("subjectOf", encoded(contents.report.path))
      .links("object", ids(run.params.size(), value_id))
      .links("result",
             ids(contents.outputs.size(), [&](size_t i) { return result_id(contents, i); }))
      .links("environment", environment)
      .end();
  for (size_t i = 0; i < environment.size(); ++i)
    out.begin(environment[i], {"PropertyValue"})
        .text("name", run.environment[i].name)
        .text("value", run.environment[i].value)
        .end();
  out.begin("#engine-run", {"OrganizeAction"})
      .text("name", fmt::format("Run {} as Atoll carried it out", run.id))
      .link("instrument", kEngine)
      .link("agent", kUser)
      .link("result", kAction)
      .links("object", ids(contents.steps.size(), control_id))
      .text("endTime", moment_of(run.ended))
      .end();
}

// Each step that ran: what it is, the program behind it, and the run of that, as the profile tells
// them apart.
void add_step(Entities& out, const WorkflowRun& run, const CrateContents& contents, size_t i) {
  const StepRun& step = *contents.steps[i];
  const auto position = static_cast<size_t>(&step - run.steps.data()) + 1;
  out.begin(step_id(i), {"HowToStep"})
      .text("name", step.name)
      .text("position", std::to_string(position))
      .link("workExample", tool_id(i))
      .end();
  out.begin(tool_id(i), {"SoftwareApplication"})
      .text("name", step.name)
      .text("description", std::string_view(step.command).substr(0, 2 * kValueBytesMax))
      .text("softwareVersion", fmt::format("as of version {} of the workflow", run.version))
      .end();
  std::vector<std::string> results;
  for (size_t at = 0; at < contents.outputs.size(); ++at)
    if (contents.outputs[at].step == &step) results.push_back(result_id(contents, at));
  const bool good = step.state == StepState::succeeded;
  out.begin(step_run_id(i), {"CreateAction"})
      .text("identifier", step.job)
      .text("name", fmt::format("Step {} in run {}", step.name, run.id))
      .text("description", step_summary(step))
      .text("startTime", moment_of(step.started))
      .text("endTime", moment_of(step.ended))
      .link("instrument", tool_id(i))
      .link("agent", kUser)
      .text("actionStatus", status_of(good))
      .text("error", good ? "" : step.reason)
      .links("result", results)
      .end();
  out.begin(control_id(i), {"ControlAction"})
      .text("name", fmt::format("Atoll runs step {}", step.name))
      .link("instrument", step_id(i))
      .link("object", step_run_id(i))
      .end();
}

void add_slots(Entities& out, const WorkflowRun& run, const CrateContents& contents) {
  for (size_t i = 0; i < run.params.size(); ++i) {
    out.begin(param_id(i), {"FormalParameter"})
        .text("name", run.params[i].name)
        .text("additionalType", "Text")
        .link("workExample", value_id(i))
        .end();
    out.begin(value_id(i), {"PropertyValue"})
        .text("name", run.params[i].name)
        .text("value", run.params[i].value)
        .link("exampleOfWork", param_id(i))
        .end();
  }
  for (size_t i = 0; i < contents.outputs.size(); ++i) {
    const CrateOutput& each = contents.outputs[i];
    const std::string name = each.step->name + "." + each.output->name, id = result_id(contents, i);
    const bool value = each.output->path.empty(), here = !each.file.path.empty();
    if (has_slot(each))
      out.begin(slot_id(i), {"FormalParameter"})
          .text("name", name)
          .text("additionalType", value ? "Text" : "File")
          .link("workExample", id)
          .end();
    if (value)
      out.begin(id, {"PropertyValue"}).text("name", name).text("value", each.output->value);
    else
      out.file(each.file, id, {here ? "File" : "CreativeWork"}, name);
    if (has_slot(each)) out.link("exampleOfWork", slot_id(i));
    out.end();
  }
}

}  // namespace

std::string encoded(std::string_view path, std::string_view also) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-~").find(c) != std::string_view::npos ||
                       also.find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string crate_metadata(const WorkflowRun& run, const CrateContents& contents) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("@context").begin_array().text("https://w3id.org/ro/crate/1.1/context");
  // The words of the profile's own vocabulary that are used, so that only one context is fetched.
  json.begin_object();
  for (const char* term : {"environment", "sha256"}) json.member(term, std::string(kTerms) + term);
  json.end_object();
  json.end_array().key("@graph").begin_array();
  Entities entities(json);
  add_root(entities, run, contents);
  add_files(entities, run, contents);
  add_action(entities, run, contents);
  for (size_t i = 0; i < contents.steps.size(); ++i) add_step(entities, run, contents, i);
  add_slots(entities, run, contents);
  add_people(entities, run);
  json.end_array().end_object();
  return text + "\n";
}

}  // namespace atl::report
