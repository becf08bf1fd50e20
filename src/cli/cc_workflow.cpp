// What the verbs of `atoll cc workflow` do, over cc's own routes.
#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/text.h"
#include "cli/cc.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/submit.h"
#include "cli/workflow.h"
#include "spec/cloudmesh/names.h"

namespace atl::cli {
namespace {

constexpr const char* kUnnamed = "workflow";  // as cc calls it
constexpr size_t kFileMax = 16 << 20;         // what the server keeps by name

Result<std::vector<std::string>> names_of(const std::string& text, const char* flag) {
  auto names = spec::cc::expand_names(text);
  if (!names) return fail(ErrorCode::invalid, std::string(flag) + ": " + names.error().message);
  if (names->empty()) return fail(ErrorCode::invalid, std::string(flag) + " names nothing");
  return names;
}

Result<std::vector<std::string>> workflows_of(const CcFlags& flags) {
  return names_of(flags.name.empty() ? kUnnamed : flags.name, "--name");
}

std::string path_of(const std::string& workflow, const std::string& job = {}) {
  return "//cloudmesh/workflow/" + encode(workflow) + (job.empty() ? "" : "/job/" + encode(job));
}

Result<std::string> namespace_of(Session& session, const CcFlags& flags) {
  return flags.ns.empty() ? default_namespace(session) : Result<std::string>(flags.ns);
}

// One request to cc's routes. The answer's warnings are told.
Result<http::Response> ask(Session& session, const char* method, const std::string& target,
                           std::string body = {}) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  http::Call call{.method = method, .target = target};
  if (!body.empty()) call.headers.set("Content-Type", "application/yaml");
  call.body = std::move(body);
  auto answer = (*api)->send(std::move(call));
  if (!answer) return answer;
  if (const auto json = Json::parse(answer->body)) {
    for (const Json& warning : (*json)["warnings"].items()) session.warn(warning.text());
  }
  return answer;
}

// The answer itself for programs, else a sentence.
Result<int> tell(Session& session, const Result<http::Response>& answer,
                 const std::string& sentence) {
  if (!answer) return tl::unexpected(answer.error());
  const auto json = Json::parse(answer->body);
  if (!session.for_people() && json)
    print_one(session, *json, "workflow", [] { return std::string(); });
  else
    session.out << printable(sentence) << "\n";
  return kExitOk;
}

std::string stem_of(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  return file.substr(0, file.find('.'));
}

Result<std::string> read_definition(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(path))
    return fail(ErrorCode::invalid, "cannot read " + path);
  std::string text(kFileMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kFileMax) return fail(ErrorCode::too_large, path + " is larger than 16Mi");
  if (text.empty()) return fail(ErrorCode::invalid, path + " is empty");
  return text;
}

std::string here() { return std::filesystem::current_path().string(); }

// Keeps the file under each of the names, and says which they are.
Result<std::vector<std::string>> add_file(Session& session, const CcFlags& flags,
                                          const std::string& ns) {
  const auto text = read_definition(flags.filename);
  if (!text) return tl::unexpected(text.error());
  auto names = names_of(flags.name.empty() ? stem_of(flags.filename) : flags.name, "--name");
  if (!names) return names;
  const auto folder =
      std::filesystem::absolute(flags.filename).lexically_normal().parent_path().string();
  for (const std::string& name : *names) {
    const auto kept =
        ask(session, "POST",
            "//cloudmesh/workflow" +
                query({{"namespace", ns}, {"workflow_name", name}, {"run_directory", folder}}),
            *text);
    if (!kept) return tl::unexpected(kept.error());
  }
  return names;
}

Result<int> add_jobs(Session& session, const CcFlags& flags, const std::string& ns) {
  const auto workflows = workflows_of(flags);
  if (!workflows) return tl::unexpected(workflows.error());
  const auto jobs = names_of(flags.job, "--job");
  if (!jobs) return tl::unexpected(jobs.error());
  std::string rest = query({{"namespace", ns}, {"run_directory", here()}});
  for (const std::string& each : flags.attributes) rest += "&attribute=" + encode(each);
  for (const std::string& workflow : *workflows) {
    for (const std::string& job : *jobs) {
      const auto told = tell(session, ask(session, "POST", path_of(workflow, job) + rest),
                             "job " + job + " is in workflow " + workflow);
      if (!told) return told;
    }
  }
  return kExitOk;
}

// Prints what the server answers, as it is.
Result<int> print_answer(Session& session, const std::string& target) {
  const auto answer = ask(session, "GET", target);
  if (!answer) return tl::unexpected(answer.error());
  const bool json = answer->headers.get("Content-Type").starts_with("application/json");
  const auto parsed = json ? Json::parse(answer->body) : Result<Json>(Json());
  if (json && parsed)
    session.out << parsed->pretty();
  else
    session.out << printable(answer->body, true);
  return kExitOk;
}

}  // namespace

Result<int> cc_add(Session& session, const CcFlags& flags) {
  const auto ns = namespace_of(session, flags);
  if (!ns) return tl::unexpected(ns.error());
  if (flags.filename.empty() && flags.job.empty())
    return fail(ErrorCode::invalid,
                "say what to add: --filename=FILE, or --job=JOB with attributes such as "
                "script=a.sh");
  if (flags.filename.empty()) return add_jobs(session, flags, *ns);
  if (!flags.job.empty() || !flags.attributes.empty())
    return fail(ErrorCode::invalid,
                "--filename adds a whole workflow: leave out --job and "
                "attributes");
  const auto names = add_file(session, flags, *ns);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names)
    session.out << "workflow " << printable(name) << " added\n";
  return kExitOk;
}

Result<int> cc_delete(Session& session, const CcFlags& flags) {
  const auto ns = namespace_of(session, flags);
  if (!ns) return tl::unexpected(ns.error());
  if (flags.name.empty())
    return fail(ErrorCode::invalid, "say which: --name=NAME, and --job=JOB for one job of it");
  const auto workflows = workflows_of(flags);
  if (!workflows) return tl::unexpected(workflows.error());
  const auto jobs = flags.job.empty() ? Result<std::vector<std::string>>(std::vector{std::string()})
                                      : names_of(flags.job, "--job");
  if (!jobs) return tl::unexpected(jobs.error());
  for (const std::string& workflow : *workflows) {
    for (const std::string& job : *jobs) {
      const auto gone =
          ask(session, "DELETE", path_of(workflow, job) + query({{"namespace", *ns}}));
      const auto told =
          tell(session, gone,
               (job.empty() ? "" : "job " + job + " of ") + ("workflow " + workflow) + " deleted");
      if (!told) return told;
    }
  }
  return kExitOk;
}

Result<int> cc_list(Session& session, const CcFlags& flags) {
  const auto ns = namespace_of(session, flags);
  if (!ns) return tl::unexpected(ns.error());
  const std::string in = query({{"namespace", *ns}});
  if (flags.name.empty() && flags.job.empty()) {
    const auto answer = ask(session, "GET", "//cloudmesh/workflows" + in);
    if (!answer) return tl::unexpected(answer.error());
    const auto json = Json::parse(answer->body);
    if (!json) return tl::unexpected(json.error());
    std::string lines;
    for (const Json& name : (*json)["workflows"].items()) lines += printable(name.text()) + "\n";
    if (session.names_only())
      session.out << lines;
    else
      print_one(session, *json, "workflows", [&] { return lines; });
    return kExitOk;
  }
  if (flags.job.empty()) return cc_show(session, flags);
  const auto workflows = workflows_of(flags);
  if (!workflows) return tl::unexpected(workflows.error());
  const auto jobs = names_of(flags.job, "--job");
  if (!jobs) return tl::unexpected(jobs.error());
  for (const std::string& workflow : *workflows) {
    for (const std::string& job : *jobs) {
      const auto told = print_answer(session, path_of(workflow, job) + in);
      if (!told) return told;
    }
  }
  return kExitOk;
}

Result<int> cc_show(Session& session, const CcFlags& flags) {
  const auto ns = namespace_of(session, flags);
  if (!ns) return tl::unexpected(ns.error());
  const auto workflows = workflows_of(flags);
  if (!workflows) return tl::unexpected(workflows.error());
  std::string output = flags.output;
  if (output.empty()) output = session.for_people() ? "table" : "json";
  if (output == "json") output = "status";
  for (const std::string& workflow : *workflows) {
    const auto told =
        print_answer(session, path_of(workflow) + query({{"namespace", *ns}, {"output", output}}));
    if (!told) return told;
  }
  return kExitOk;
}

Result<int> cc_graph(Session& session, const CcFlags& flags) {
  CcFlags graph = flags;
  graph.output = "graph";
  return cc_show(session, graph);
}

Result<int> cc_link(Session& session, const CcFlags& flags) {
  const auto ns = namespace_of(session, flags);
  if (!ns) return tl::unexpected(ns.error());
  const auto workflows = workflows_of(flags);
  if (!workflows) return tl::unexpected(workflows.error());
  if (flags.dependencies.empty())
    return fail(ErrorCode::invalid,
                "say what to do: add, delete, list, run, status, graph, service, or "
                "--dependencies=a,b,c");
  for (const std::string& workflow : *workflows) {
    const std::string target = path_of(workflow) + query({{"namespace", *ns},
                                                          {"dependencies", flags.dependencies},
                                                          {"run_directory", here()}});
    const auto told = tell(session, ask(session, "POST", target),
                           flags.dependencies + " added to workflow " + workflow);
    if (!told) return told;
  }
  return kExitOk;
}

Result<int> cc_run(Session& session, const CcFlags& flags) {
  const auto ns = namespace_of(session, flags);
  if (!ns) return tl::unexpected(ns.error());
  const auto workflows =
      flags.filename.empty() ? workflows_of(flags) : add_file(session, flags, *ns);
  if (!workflows) return tl::unexpected(workflows.error());
  std::vector<std::string> ids;
  for (const std::string& workflow : *workflows) {
    const auto answer = ask(session, "GET",
                            "//cloudmesh/workflow/run/" + encode(workflow) +
                                query({{"namespace", *ns}, {"job", flags.job}}));
    if (!answer) return tl::unexpected(answer.error());
    const auto json = Json::parse(answer->body);
    if (!json) return tl::unexpected(json.error());
    ids.push_back(json->text("id"));
    session.say("workflow " + ids.back() + ": " + workflow + ", " + json->text("steps") +
                (json->text("steps") == "1" ? " step" : " steps"));
  }
  int code = kExitOk;
  for (const std::string& id : ids) {
    const auto ended = follow_workflow(session, id);
    if (!ended) return ended;
    if (code == kExitOk) code = *ended;
  }
  return code;
}

}  // namespace atl::cli
