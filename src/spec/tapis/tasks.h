// The tasks of a pipeline by their types. For the sources of this folder only.
#pragma once

#include "spec/tapis/pipeline.h"
#include "spec/tapis/reader.h"

namespace atl::spec::tapis {

// What is wrong is thrown. Dependencies and references are checked by who knows the other tasks.
Task read_task(const At& at);

Profile read_profile(const At& at, bool of_pipeline);

// The task with what the one that it uses says beyond it.
json::value with_template(const At& task, const Templates& templates);

}  // namespace atl::spec::tapis
