// A pipeline of Tapis Workflows as it is sent: JSON with tasks that depend on each other. All of it
// is checked when it is read, so that what is kept can be run.
//
//   auto pipeline = read_pipeline(text);       // the error's field is a path:
//   tasks[1].input.X.type
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::spec::tapis {

enum class IoType {
  string,
  number,
  boolean,
  string_array,
  number_array,
  boolean_array,
  mixed_array,
  tapis_file_input,
  tapis_file_input_array
};

// Where a value comes from. A secret is only ever named: NAME, or NAME/FIELD of one that is JSON.
struct Source {
  enum class Kind { none, literal, env, args, task_output, secret };
  Kind kind = Kind::none;
  std::string json;    // of a literal
  std::string name;    // of a variable, an argument, a secret
  std::string task;    // of an output
  std::string output;  // of an output
};

// An entry of env, params, input or args.
struct Variable {
  IoType type = IoType::string;
  bool required = true;
  Source source;
};
using Variables = std::map<std::string, Variable>;

struct Dependency {
  std::string id;
  bool can_fail = false;
  bool can_skip = false;
};

struct Profile {
  std::optional<int64_t> max_exec_time;  // seconds
  std::optional<int64_t> max_retries;
  std::string flavor;
  std::string duplicates;  // what happens to a second submission; of pipelines
};

struct GitRepository {
  std::string url;
  std::string branch;
  std::string directory;
};
struct FunctionTask {
  std::string code;  // base64
  std::string entrypoint;
  std::string command;
  std::vector<std::string> packages;
  std::vector<GitRepository> repositories;
};
struct ApplicationTask {
  std::string image;
  std::vector<std::string> argv;  // either …
  std::string command;            // … or for the shell
};
struct RequestTask {
  std::string json;  // http_method, url, data, headers, query_params
};
struct TapisJobTask {
  std::string app;
  std::vector<std::string> arguments;  // as they stand on the line
  std::map<std::string, std::string> env;
  std::string site;
  int64_t nodes = 1;
  int64_t cores = 1;
  int64_t memory_mb = 100;
  int64_t minutes = 10;
};

struct Task {
  std::string id;
  std::string type;
  std::vector<Dependency> depends_on;
  Variables input;
  std::map<std::string, IoType> output;
  std::string conditions;  // JSON, empty: none
  Profile profile;
  // By its type.
  FunctionTask function;
  ApplicationTask application;
  RequestTask request;
  TapisJobTask job;
};

struct Pipeline {
  std::string id;
  std::string description;
  bool enabled = true;
  std::string cron;
  Profile profile;
  Variables env;
  Variables params;
  std::vector<Task> tasks;
  std::vector<uint32_t> order;  // each behind those that it depends on
};

// The JSON of the group's pipeline of that name, for tasks that use one of its tasks.
using Templates = std::function<Result<std::string>(const std::string& pipeline)>;

// The names of the pipelines whose tasks are used as templates.
[[nodiscard]] Result<std::vector<std::string>> templates_of(std::string_view json);

[[nodiscard]] Result<Pipeline> read_pipeline(std::string_view json,
                                             const Templates& templates = {});

// The arguments of a run: {"N": {"type": "number", "value": 3}}.
[[nodiscard]] Result<Variables> read_args(std::string_view json);

// A name as Tapis takes it: letters, digits, - and _, the first one a letter or digit.
[[nodiscard]] Result<void> check_id(std::string_view id, const std::string& path);

// A value as it stands in a file: a text without quotes, other values as JSON.
std::string text_of_json(const std::string& json);

}  // namespace atl::spec::tapis
