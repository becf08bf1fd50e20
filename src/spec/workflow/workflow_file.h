// A workflow as people write it: parameters, what holds for all steps, and steps that need each
// other. Reading it finds every mistake before anything starts, with file, line and column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/job_spec.h"
#include "spec/workflow/recipe.h"
#include "spec/yaml_reader.h"

namespace atl::spec {

inline constexpr size_t kWorkflowBytesMax = 64 << 20;
inline constexpr yaml::Limits kWorkflowLimits{.bytes = kWorkflowBytesMax,
                                              .bounds = {.depth = 32, .values = 20'000'000}};
inline constexpr size_t kStepsMax = 200'000;  // that are written out; for_each makes more
inline constexpr size_t kNeedsMax = 10'000;   // of one step

struct ParamSpec {
  Text type;
  Text fallback;
  Flag required;
  Texts choices;
  Text help;
  bool operator==(const ParamSpec&) const = default;
};

// An edge: what this step does when the other one failed or was skipped.
struct NeedSpec {
  Text step;
  Flag can_fail;
  Flag can_skip;
  bool operator==(const NeedSpec&) const = default;
};

struct ResourcesSpec {
  std::optional<Cpus> cpus;
  std::optional<Bytes> memory;
  Text gpus;
  std::optional<std::vector<DeviceSpec>> devices;
  bool operator==(const ResourcesSpec&) const = default;
};

struct StepSpec {
  Text run;
  Texts argv;
  std::optional<std::vector<NeedSpec>> needs;
  Text site;
  std::optional<ResourcesSpec> resources;
  Text tier;
  std::optional<RetriesSpec> retries;
  std::optional<Duration> timeout;
  std::optional<Duration> grace;
  TextMap env;
  Text directory;
  Integer priority;
  TextMap labels;
  std::optional<SimulateSpec> simulate;
  Text uses;
  std::optional<Json> when;
  std::optional<Json> for_each;
  Integer parallel;
  TextMap inputs;
  std::optional<Json> outputs;
  std::optional<Json> check;
  Flag cache;
  TextMap volumes;
  TextMap secrets;
  bool operator==(const StepSpec&) const = default;
};

template <>
const Shape& shape_of<ParamSpec>();
template <>
const Shape& shape_of<NeedSpec>();
template <>
const Shape& shape_of<ResourcesSpec>();
template <>
const Shape& shape_of<StepSpec>();

struct WrittenParam {
  std::string name;
  ParamSpec spec;
  yaml::Mark mark;
};
struct WrittenStep {
  std::string name;
  StepSpec spec;  // with what its template says and it does not
  yaml::Mark mark;
  std::vector<uint32_t> needs;  // by their place among the steps, in the order of spec.needs
  std::vector<OutputSpec> outputs;
  size_t file = 0;  // in which of the files it stands
};

// A file as it was sent along: its path as others name it, and its text.
using FileTexts = std::map<std::string, std::string>;

struct WorkflowFile {
  std::string name;
  bool fail_fast = false;
  Integer parallel;
  std::vector<WrittenParam> params;
  TextMap env;
  StepSpec defaults;
  std::vector<WrittenStep> steps;  // in the order of the file
};

// `file_name` is what errors say. Files that it includes, or that steps go through, are among
// `files`.
[[nodiscard]] Result<WorkflowFile> parse_workflow(std::string_view text,
                                                  const std::string& file_name,
                                                  const FileTexts& files = {});
// The steps alone, for one that runs already: {steps: {…}}. What they need may be among `known`.
[[nodiscard]] Result<WorkflowFile> parse_steps(std::string_view text, const std::string& file_name);

// The paths that the text includes, and those of files its steps go through: what has to be sent
// along.
struct NamedFile {
  std::string path;
  yaml::Mark mark;
};
[[nodiscard]] Result<std::vector<NamedFile>> files_named_in(std::string_view text,
                                                            const std::string& file_name);

// The section `steps` of a file as JSON, after a look at whether they are steps.
[[nodiscard]] Result<std::string> steps_json(std::string_view text, const std::string& file_name);

inline constexpr size_t kIncludesMax = 100;

// The steps in an order in which each comes after what it needs; the file's own where that is one.
std::vector<uint32_t> in_order(const WorkflowFile& file);

}  // namespace atl::spec
