// Workflows on the command line. For the sources of this room only.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/json.h"
#include "cli/session.h"
#include "spec/json_writer.h"

namespace atl::cli {

struct WorkflowFlags {
  std::string file;
  std::vector<std::string> set;  // NAME=VALUE
  std::string only;
  std::string from;
  std::string name;
  std::string ns;
  bool dry_run = false;
  bool paused = false;
  bool keep = false;
  bool check = false;  // the checks alone, against the last results
};

// Whether `run` and `submit` are given a workflow: a file that ends in .yaml or .yml.
bool is_workflow(const std::string& word);

// The file and all that it names, its parameters and its directory, as members of an object.
// `invalid` names what cannot be read.
[[nodiscard]] Result<void> write_files(spec::JsonWriter& json, const WorkflowFlags& flags);
// Only its parameters, if there are any.
[[nodiscard]] Result<void> write_params(spec::JsonWriter& json, const WorkflowFlags& flags);
// All of what the server takes.
[[nodiscard]] Result<std::string> workflow_body(Session& session, const WorkflowFlags& flags);

// `run` follows it to its end; `submit` prints its number.
[[nodiscard]] Result<int> run_workflow(Session& session, const WorkflowFlags& flags, bool follow);
[[nodiscard]] Result<int> follow_workflow(Session& session, const std::string& id);

// The number that the word means: `last` is the newest of the user's own.
[[nodiscard]] Result<std::string> one_workflow(Api& api, const std::string& word);

// The lines that show how far a workflow is: one for all of it, one for each step under way.
class WorkflowProgress {
 public:
  std::vector<std::string> lines(const Json& workflow, const std::vector<Json>& active, int width,
                                 std::chrono::steady_clock::time_point now);

 private:
  std::optional<std::chrono::steady_clock::time_point> begun_;
  std::int64_t done_at_start_ = 0;
};

// "████████░░░░", as many columns as `width`.
std::string bar(double part, int width);

}  // namespace atl::cli
