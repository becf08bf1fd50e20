// How a step is prepared when its turn comes, and what is looked at when its job has ended: kept
// beside the step as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spec/job_spec.h"

namespace atl::spec {

// A value that the step writes to $ATOLL_OUTPUTS/NAME, or a file that it leaves in its directory.
struct OutputSpec {
  Text name;
  Text file;
  Text type;      // of a value that is more than a text: number, boolean, …_array
  Flag optional;  // it may be missing, and is null then
  bool operator==(const OutputSpec&) const = default;
};

// A variable of the job that is set to what another step left, as it is.
struct BindSpec {
  Text name;
  Text step;
  Text output;
  Flag required;  // without a value the step fails; else the variable is not set
  bool operator==(const BindSpec&) const = default;
};

// What an earlier run of the step has left is taken over.
struct ReuseSpec {
  Integer workflow;
  Integer step;
  bool operator==(const ReuseSpec&) const = default;
};

struct Recipe {
  std::optional<JobSpec> job;  // with references to what others leave
  std::optional<Json> when;
  std::optional<Json> for_each;
  TextMap params;
  TextMap inputs;
  std::optional<std::vector<OutputSpec>> outputs;
  Texts check;                  // commands
  std::optional<Json> asserts;  // conditions over the outputs
  Flag cache;
  IntegerMap steps;  // the numbers of those that it refers to
  TextMap files;     // that for_each names
  std::optional<ReuseSpec> reuse;
  Flag recheck;  // what was left is not taken over but checked again
  // Values have types: nothing is put into texts, a text is never a number, and what others did not
  // leave is null.
  Flag typed;
  std::optional<std::vector<BindSpec>> bind;
  Text refuse;  // it fails when its turn comes, for this reason
  bool operator==(const Recipe&) const = default;
};

template <>
const Shape& shape_of<OutputSpec>();
template <>
const Shape& shape_of<BindSpec>();
template <>
const Shape& shape_of<ReuseSpec>();
template <>
const Shape& shape_of<Recipe>();

// The outputs of a step as they are written: [count], {count: {}, model: {file: model.pt}} or
// {model: model.pt}.
[[nodiscard]] Result<std::vector<OutputSpec>> outputs_of(const std::string& json);

// Whether their files are below the step's directory, also with parameters put in.
[[nodiscard]] Result<void> check_outputs(const std::vector<OutputSpec>& outputs);

// The commands and the conditions of a check: one text, or a list of both.
struct Checks {
  std::vector<std::string> commands;
  std::string conditions;  // JSON, empty: none
};
[[nodiscard]] Result<Checks> checks_of(const std::string& json);

// The job with what makes its outputs be found, and its checks behind it.
void wrap(const Recipe& recipe, JobSpec& job);

// The job that only checks what an earlier one left: its values, by name, are written again.
JobSpec checking_job(const Recipe& recipe, const JobSpec& job,
                     const std::map<std::string, std::string>& values);

}  // namespace atl::spec
