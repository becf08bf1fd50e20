// Changes to a Cloudmesh workflow, as its commands and routes ask for them: jobs with attributes,
// dependencies, and what is taken out again. A change that is refused leaves the workflow as it
// was.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/cloudmesh/cc_file.h"

namespace atl::spec::cc {

using CcAttributes = std::vector<std::pair<std::string, std::string>>;

// Adds the job, or changes those attributes of it; `parent` may name several: a,b[1-2]. The error's
// field is the attribute.
[[nodiscard]] Result<void> set_job(CcWorkflow& workflow, const std::string& name,
                                   const CcAttributes& attributes);

// "a,b[1-3],c": each after the one before it. Jobs that are not there yet are made.
[[nodiscard]] Result<void> add_dependencies(CcWorkflow& workflow, std::string_view chain);

// With its dependencies; those that came after it do not wait for those before it.
[[nodiscard]] Result<void> remove_job(CcWorkflow& workflow, const std::string& name);

// "script=a.sh" as the command line has it.
[[nodiscard]] Result<std::pair<std::string, std::string>> parse_attribute(std::string_view text);

}  // namespace atl::spec::cc
