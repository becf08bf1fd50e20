#include "report/crate.h"

#include <algorithm>
#include <set>

#include "base/display.h"
#include "report/crate_metadata.h"
#include "report/graph.h"
#include "report/limits.h"
#include "report/report.h"
#include "report/zip.h"
#include "spec/job_spec.h"

namespace atl::report {
namespace {

std::string media_type(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".yaml", "application/yaml"},
      {".yml", "application/yaml"},
      {".json", "application/json"},
      {".py", "text/x-python"},
      {".sh", "application/x-sh"},
      {".csv", "text/csv"},
      {".html", "text/html"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".txt", "text/plain"},
      {".md", "text/markdown"},
      {".sha256", "text/plain"},
      {".ipynb", "application/x-ipynb+json"},
  };
  for (const auto& [suffix, type] : kTypes)
    if (path.ends_with(suffix)) return std::string(type);
  return "application/octet-stream";
}

// Puts files into the archive, each at a place of its own.
class Packer {
 public:
  CrateFile add(const std::string& wish, std::string_view original, std::string bytes) {
    std::string path = wish;
    for (int n = 2; !taken_.insert(path).second; ++n) path = wish + "." + std::to_string(n);
    CrateFile file{.path = path,
                   .original = original.empty() ? path : printable(original),
                   .size = static_cast<int64_t>(bytes.size()),
                   .sha256 = to_hex(spec::sha256(bytes)),
                   .format = media_type(path)};
    files_.push_back({std::move(path), std::move(bytes)});
    return file;
  }
  std::vector<ZipFile>& files() { return files_; }

 private:
  std::set<std::string> taken_{"ro-crate-metadata.json"};
  std::vector<ZipFile> files_;
};

CrateFile described(const StepOutput& output) {
  return {.path = "",
          .original = printable(output.path),
          .size = output.size,
          .sha256 = output.sha256,
          .format = media_type(output.path)};
}

// Lines as sha256sum writes them, with the paths that the outputs had where the run was.
std::string checksums(const WorkflowRun& run) {
  std::string out;
  for (const StepRun& step : run.steps)
    for (const StepOutput& output : step.outputs)
      if (!output.path.empty() && !output.sha256.empty())
        out += printable(output.sha256) + "  " + printable(output.path) + "\n";
  return out;
}

std::vector<CrateOutput> pack_outputs(const WorkflowRun& run, Packer& packer) {
  std::vector<CrateOutput> outputs;
  for (const StepRun& step : run.steps) {
    std::string folder = archive_path(step.name);
    std::replace(folder.begin(), folder.end(), '/', '_');  // or it might lie in another step's
    for (const StepOutput& output : step.outputs) {
      if (outputs.size() == kCrateEntitiesMax) return outputs;
      CrateOutput each{&step, &output, {}};
      if (!output.path.empty() && output.bytes)
        each.file = packer.add("outputs/" + folder + "/" + archive_path(output.path), output.path,
                               *output.bytes);
      else if (!output.path.empty())
        each.file = described(output);
      outputs.push_back(std::move(each));
    }
  }
  return outputs;
}

// Steps that never started, or took over what others had left, were not run. When there are too
// many, those that failed come first.
std::vector<const StepRun*> steps_that_ran(const WorkflowRun& run) {
  std::vector<const StepRun*> steps;
  for (const bool failed : {true, false}) {
    for (const StepRun& step : run.steps) {
      const bool ran = step.started && step.ended;
      if (ran && (step.state == StepState::failed) == failed && steps.size() < kCrateStepsMax)
        steps.push_back(&step);
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

// For whoever unpacks it. What users wrote stands in blocks of code, where Markdown means nothing.
std::string readme(const WorkflowRun& run) {
  const auto block = [](std::string_view text) { return "\n    " + printable(text) + "\n\n"; };
  return "# A run of a workflow\n" +
         block(run.name + ", run " + run.id + " by " + run.user + ": " + run.outcome) +
         "Open `report.html` in a browser. The workflow is in `workflow/`, outputs that travel "
         "with "
         "it are in\n`outputs/`, and `ro-crate-metadata.json` describes it all for other software "
         "(RO-Crate 1.1, Provenance Run Crate 0.5).\n\nTo run it again, in `workflow/`:\n" +
         block(command_to_repeat(run));
}

}  // namespace

Result<std::string> to_crate(const WorkflowRun& run) {
  if (!run.ended)
    return fail(ErrorCode::conflict,
                "run " + run.id + " has not ended; what is published should not change any more");
  if (run.files.empty())
    return fail(ErrorCode::conflict, "the file of run " + run.id + " is not kept any more");
  Packer packer;
  CrateContents contents;
  for (const WorkflowFile& file : run.files)
    contents.sources.push_back(
        packer.add("workflow/" + archive_path(file.path), file.path, file.text));
  contents.readme = packer.add("README.md", "", readme(run));
  contents.graph = packer.add("graph.svg", "", to_svg(run));
  contents.report = packer.add("report.html", "", to_html(run));
  contents.outputs = pack_outputs(run, packer);
  contents.steps = steps_that_ran(run);
  if (std::string sums = checksums(run); !sums.empty())
    contents.checksums = packer.add("outputs.sha256", "", std::move(sums));
  packer.files().insert(packer.files().begin(),
                        ZipFile{"ro-crate-metadata.json", crate_metadata(run, contents)});
  return make_zip(packer.files(), run.ended);
}

}  // namespace atl::report
