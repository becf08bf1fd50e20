// ro-crate-metadata.json: what the crate of a run holds, in the words of schema.org.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/workflow_run.h"

namespace atl::report {

// A file of the crate, or one that is only described: then `path` is empty.
struct CrateFile {
  std::string path;      // in the archive
  std::string original;  // where it was when it ran
  int64_t size = -1;
  std::string sha256;
  std::string format;  // its media type
};

// One output of a step.
struct CrateOutput {
  const StepRun* step = nullptr;
  const StepOutput* output = nullptr;
  CrateFile file;
};

struct CrateContents {
  std::vector<CrateFile> sources;  // the first one is the workflow
  CrateFile readme;
  CrateFile graph;
  CrateFile report;
  CrateFile checksums;  // no path: there are none
  std::vector<CrateOutput> outputs;
  std::vector<const StepRun*> steps;  // those that ran and are described
};

std::string crate_metadata(const WorkflowRun& run, const CrateContents& contents);

// A path as an identifier inside the crate: what URIs do not allow is percent-encoded, and so is
// what means something in them, unless it is in `also`.
std::string encoded(std::string_view path, std::string_view also = {});

}  // namespace atl::report
