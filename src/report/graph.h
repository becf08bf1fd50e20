// The graph of a workflow, drawn: as DOT for other programs, as SVG for pages, as text for
// terminals. The places of SVG and text are Graphviz's (layout.h), which may take up to
// kLayoutTime; to_dot takes no time. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "report/workflow_run.h"

namespace atl::report {

// Every step, or alike ones joined when there are more than kNodesMax.
std::string to_dot(const WorkflowRun& run);

// A file of its own that also stands inside a page. Readable on light and dark; a state is told by
// a mark and a word as well as by its colour. When Graphviz is missing or gives up, the drawing
// says so in words.
std::string to_svg(const WorkflowRun& run);

struct TextOptions {
  int width = 80;      // columns; 0: as wide as it likes
  bool ascii = false;  // for terminals and fonts without Unicode
  bool color = false;  // escape sequences of terminals
};
// Boxes and arrows when they fit, otherwise the steps by level with what each needs.
std::string to_text(const WorkflowRun& run, const TextOptions& options = {});

}  // namespace atl::report
