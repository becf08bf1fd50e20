// A workflow that is kept to be run later: its files, what they are run with, and what of an
// occasion goes into which parameter.
#pragma once

#include <map>
#include <string>

#include "spec/workflow/plan.h"

namespace atl::spec {

struct Program {
  TextMap files;
  Text main;
  TextMap set;
  Text name;
  Text directory;
  Text body_param;   // takes all that came: a delivery's body, or the path of a file
  Flag body_fields;  // members of a JSON body go to parameters of their names
  Text time_param;   // takes the time that the run is for
};
template <>
const Shape& shape_of<Program>();

// What a run is made for.
struct Occasion {
  std::string body;
  Time at;
};

// Reads the files and completes `name`. The error says file, line and column, or the field.
[[nodiscard]] Result<WorkflowFile> check_program(Program& program);

// The parameters of a run. A body that is no JSON object, where one is needed, is an error.
[[nodiscard]] Result<std::map<std::string, std::string>> params_for(const Program& program,
                                                                    const WorkflowFile& file,
                                                                    const Occasion& occasion);
[[nodiscard]] Result<WorkflowPlan> plan_program(const Program& program, const WorkflowFile& file,
                                                const Occasion& occasion);

// The name of the file to begin with, which is among the others.
[[nodiscard]] Result<std::string> main_file(const TextMap& files, const Text& main);
// The name that was given, that the file gives, or that of the file.
std::string workflow_name(const Text& given, const std::string& in_file, const std::string& main);
// The files as they are kept with a run.
std::string files_document(const FileTexts& files);

}  // namespace atl::spec
