// The parameters of a workflow: what values they take, and which ones a run has.
#pragma once

#include "spec/workflow/workflow_file.h"

namespace atl::spec {

using Params = std::map<std::string, std::string>;

// What a value that is written without a type is taken for.
std::string_view type_of(const std::string& value);

[[nodiscard]] Result<void> check_param(const std::string& name, const ParamSpec& spec,
                                       const std::string& value);

// What is given, and the defaults of the rest.
[[nodiscard]] Result<Params> params_of(const WorkflowFile& file, const Params& given);

}  // namespace atl::spec
