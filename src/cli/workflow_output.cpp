// What a workflow leaves for people: its graph, its report, and the crate to publish.
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/workflow.h"

namespace atl::cli {
namespace {

struct OutputFlags {
  std::string workflow;
  std::string format;
  std::string file;
  bool ascii = false;
};

Result<std::string> fetch(Session& session, Api& api, const std::string& path) {
  http::Call call{.method = "GET", .target = path};
  call.headers.set("Accept", "*/*");
  call.timeout = std::chrono::minutes(2);
  const SlowLine slow(session.terminal, "drawing");
  auto got = api.send(std::move(call));
  if (!got) return tl::unexpected(got.error());
  return std::move(got->body);
}

// To a file whole or not at all, or to standard output.
Result<int> deliver(Session& session, const std::string& bytes, const std::string& file) {
  if (file.empty() || file == "-") {
    session.out << bytes;
    return kExitOk;
  }
  const std::filesystem::path part = file + ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) return fail(ErrorCode::unavailable, "cannot write " + part.string());
  }
  std::error_code error;
  std::filesystem::rename(part, file, error);
  if (error) return fail(ErrorCode::unavailable, "cannot write " + file + ": " + error.message());
  session.say(printable(file));
  return kExitOk;
}

// By what the file is called, where nothing is said.
std::string format_for(const OutputFlags& flags, const std::string& otherwise) {
  if (!flags.format.empty()) return flags.format;
  for (const auto& [ending, format] :
       {std::pair(".svg", "svg"), std::pair(".dot", "dot"), std::pair(".gv", "dot"),
        std::pair(".txt", "text"), std::pair(".zip", "crate"), std::pair(".html", "html")}) {
    if (flags.file.ends_with(ending)) return format;
  }
  return otherwise;
}

Result<int> graph(Session& session, const OutputFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto id = one_workflow(**api, flags.workflow);
  if (!id) return tl::unexpected(id.error());
  const bool here = flags.file.empty() || flags.file == "-";
  const int width = here && session.terminal.width > 0 ? session.terminal.width : here ? 100 : 0;
  const auto drawn = fetch(session, **api,
                           "/workflows/" + encode(*id) + "/graph" +
                               query({{"format", format_for(flags, "text")},
                                      {"width", std::to_string(width)},
                                      {"ascii", flags.ascii ? "true" : ""},
                                      {"color", here && session.terminal.color ? "true" : ""}}));
  if (!drawn) return tl::unexpected(drawn.error());
  return deliver(session, *drawn, flags.file);
}

Result<int> report(Session& session, const OutputFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto id = one_workflow(**api, flags.workflow);
  if (!id) return tl::unexpected(id.error());
  const bool crate = format_for(flags, "html") == "crate";
  if (crate && flags.file.empty() && session.terminal.out_is_terminal)
    return fail(ErrorCode::invalid, "a crate is a zip: give it a file with -o, such as -o run.zip");
  const auto made =
      fetch(session, **api, "/workflows/" + encode(*id) + (crate ? "/crate" : "/report"));
  if (!made) return tl::unexpected(made.error());
  return deliver(session, *made, flags.file);
}

Result<int> check(Session& session, const WorkflowFlags& flags) {
  WorkflowFlags checking = flags;
  checking.check = true;
  return run_workflow(session, checking, true);
}

}  // namespace

void add_graph_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<OutputFlags>();
  CLI::App* verb = verbs.add(noun, "graph", "Draw the steps and what they need",
                             "atoll workflow graph last\n"
                             "atoll workflow graph 3 --file flow.svg\n"
                             "atoll workflow graph 3 --format dot",
                             [flags](Session& session) { return graph(session, *flags); });
  verb->add_option("WORKFLOW", flags->workflow, "Its number, or last")->required();
  verbs.set_choices(verb->add_option("--format", flags->format,
                                     "text, svg or dot; as the file is called when left out")
                        ->check(CLI::IsMember({"text", "svg", "dot"})),
                    {"text", "svg", "dot"});
  verb->add_option("-f,--file", flags->file, "Write it there; - is standard output");
  verb->add_flag("--ascii", flags->ascii, "Plain letters only");
}

void add_report_verbs(Verbs& verbs) {
  auto flags = std::make_shared<OutputFlags>();
  CLI::App* verb =
      verbs.add(nullptr, "report", "One file about a workflow: a page, or a crate to publish",
                "atoll report last -o report.html\n"
                "atoll report 3 -o run.zip               a Workflow Run RO-Crate",
                [flags](Session& session) { return report(session, *flags); });
  verb->add_option("WORKFLOW", flags->workflow, "Its number, or last")->required();
  verb->add_option("-o,--output", flags->file, "The file; .html is a page, .zip a crate")
      ->type_name("FILE");
  verbs.set_choices(verb->add_option("--format", flags->format, "html or crate")
                        ->check(CLI::IsMember({"html", "crate"})),
                    {"html", "crate"});
  auto checking = std::make_shared<WorkflowFlags>();
  CLI::App* checks = verbs.add(
      nullptr, "check", "Run the checks of a workflow against its last results",
      "atoll check flow.yaml", [checking](Session& session) { return check(session, *checking); });
  checks->add_option("FILE", checking->file, "The workflow")->required();
  checks->add_option("--set", checking->set, "A parameter, NAME=VALUE")->allow_extra_args(false);
  checks->add_option("--only", checking->only, "The check of this step alone");
  checks->add_option("--namespace,-n", checking->ns, "Where it ran");
}

}  // namespace atl::cli
