#include "spec/workflow/program.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstring>

#include "base/text.h"
#include "spec/cloudmesh/cc_file.h"
#include "spec/json_writer.h"

namespace atl::spec {
namespace {

constexpr std::array kProgram{
    field<&Program::files>({.name = "files", .sentence = "By their paths."}),
    field<&Program::main>({.name = "main", .sentence = "Which of them begins."}),
    field<&Program::set>({.name = "set", .sentence = "Parameters."}),
    field<&Program::name>({.name = "name", .sentence = "Of its runs."}),
    field<&Program::directory>({.name = "directory", .sentence = "Where its steps run."}),
    field<&Program::body_param>({.name = "body_param", .sentence = "Takes what came."}),
    field<&Program::body_fields>({.name = "body_fields", .sentence = "Members are parameters."}),
    field<&Program::time_param>({.name = "time_param", .sentence = "Takes the time."})};

const WrittenParam* declared(const WorkflowFile& file, const std::string& name) {
  const auto at = std::ranges::find(file.params, name, &WrittenParam::name);
  return at == file.params.end() ? nullptr : &*at;
}

Result<void> check_declared(const WorkflowFile& file, const Text& name, const char* field) {
  if (!name || name->empty() || declared(file, *name)) return {};
  std::vector<std::string> names;
  for (const WrittenParam& each : file.params) names.push_back(each.name);
  const auto near = did_you_mean(*name, names);
  return fail(ErrorCode::invalid,
              "the workflow has no parameter " + quote(*name) +
                  (near ? "; did you mean " + *near + "?" : ""),
              field);
}

// The members of a JSON body that parameters are named as; texts, numbers and truths only.
Result<void> add_members(const WorkflowFile& file, const std::string& body,
                         std::map<std::string, std::string>& params) {
  boost::system::error_code error;
  const auto value = boost::json::parse(body, error);
  if (error || !value.is_object())
    return fail(ErrorCode::invalid, "the body that came is no JSON object");
  for (const auto& member : value.as_object()) {
    const std::string name(member.key());
    if (!declared(file, name)) continue;
    const auto& each = member.value();
    if (each.is_object() || each.is_array() || each.is_null())
      return fail(ErrorCode::invalid,
                  "member " + quote(name) + " of the body is no text, number or truth");
    params[name] = each.is_string() ? std::string(each.as_string()) : serialize(each);
  }
  return {};
}

}  // namespace

template <>
const Shape& shape_of<Program>() {
  static constexpr Shape shape{"Program", "A workflow that is kept to be run.", kProgram};
  return shape;
}

Result<std::string> main_file(const TextMap& files, const Text& main) {
  if (!files || files->empty())
    return fail(ErrorCode::invalid, "files is missing: {\"flow.yaml\": \"steps: …\"}", "files");
  const std::string first = main.value_or(files->begin()->first);
  if (files->contains(first)) return first;
  return fail(ErrorCode::invalid, "main is " + quote(first) + ", which is not among files", "main");
}

std::string workflow_name(const Text& given, const std::string& in_file, const std::string& main) {
  if (given && !given->empty()) return *given;
  if (!in_file.empty()) return in_file;
  std::string name = main.substr(main.rfind('/') + 1);
  for (const char* ending : {".yaml", ".yml"}) {
    if (name.ends_with(ending)) name.resize(name.size() - std::strlen(ending));
  }
  for (char& c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!kept) c = '-';
  }
  return check_word(name, "name") ? name : "workflow";
}

std::string files_document(const FileTexts& files) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  for (const auto& [path, each] : files) json.member(path, each);
  json.end_object();
  return text;
}

Result<WorkflowFile> check_program(Program& program) {
  const auto main = main_file(program.files, program.main);
  if (!main) return tl::unexpected(main.error());
  if (cc::looks_like_cc(program.files->at(*main)))
    return fail(ErrorCode::invalid,
                *main +
                    " is a Cloudmesh file; only workflows of Atoll's own form can be kept to be "
                    "run later",
                "files");
  auto file = parse_workflow(program.files->at(*main), *main, *program.files);
  if (!file) return fail(file.error().code, file.error().message, "files");
  if (auto ok = check_declared(*file, program.body_param, "body_param"); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = check_declared(*file, program.time_param, "time_param"); !ok)
    return tl::unexpected(ok.error());
  program.main = *main;
  program.name = workflow_name(program.name, file->name, *main);
  if (auto ok = check_word(*program.name, "name"); !ok) return tl::unexpected(ok.error());
  return file;
}

Result<std::map<std::string, std::string>> params_for(const Program& program,
                                                      const WorkflowFile& file,
                                                      const Occasion& occasion) {
  std::map<std::string, std::string> params;
  if (program.set) params = *program.set;
  if (program.body_fields.value_or(false) && !occasion.body.empty()) {
    if (auto ok = add_members(file, occasion.body, params); !ok) return tl::unexpected(ok.error());
  }
  if (!program.body_param.value_or("").empty() && !occasion.body.empty())
    params[*program.body_param] = occasion.body;
  if (!program.time_param.value_or("").empty() && occasion.at)
    params[*program.time_param] = format_time(occasion.at);
  return params;
}

Result<WorkflowPlan> plan_program(const Program& program, const WorkflowFile& file,
                                  const Occasion& occasion) {
  auto params = params_for(program, file, occasion);
  if (!params) return tl::unexpected(params.error());
  PlanOptions options;
  options.params = std::move(*params);
  options.directory = program.directory.value_or("");
  options.files = *program.files;
  return plan_workflow(file, options);
}

}  // namespace atl::spec
