// cc: the command line of the Cloudmesh compute coordinator, so that its users find their way.
#include "cli/cc.h"

#include <memory>
#include <ostream>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

using CcAction = Result<int> (*)(Session& session, const CcFlags& flags);

// The first address that the server listens on, or empty.
Result<std::string> address(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto version = (*api)->get("//version");
  if (!version) return tl::unexpected(version.error());
  const auto listen = (*version)["listen"].items();
  return listen.empty() ? std::string() : listen.front().text();
}

Result<int> say_running(Session& session) {
  const auto url = address(session);
  if (!url) return tl::unexpected(url.error());
  if (url->empty())
    session.out << "the server runs on its socket only; give it an address with `atoll up --listen "
                   "HOST:PORT`\n";
  else
    session.out << "the server runs; cc's routes are at " << printable(*url) << "/cloudmesh\n";
  return kExitOk;
}

Result<int> say_doc(Session& session) {
  const auto url = address(session);
  if (!url) return tl::unexpected(url.error());
  if (url->empty()) return say_running(session);
  session.out << printable(*url) << "/docs\n";
  return kExitOk;
}

Result<int> say_stop(Session& session) {
  session.say("cc is a part of this server: `atoll down` stops it, and all that it serves");
  return kExitFailure;
}

std::shared_ptr<CcFlags> add_flags(CLI::App* verb) {
  auto flags = std::make_shared<CcFlags>();
  verb->add_option("--name", flags->name, "The workflow; several as a,b[1-3]")->type_name("NAME");
  verb->add_option("--namespace,-n", flags->ns, "Where it is kept; your default one when left out");
  return flags;
}
void add_job_flag(CLI::App* verb, CcFlags& flags) {
  verb->add_option("--job", flags.job, "The job; several as a,b[1-3]")->type_name("JOB");
}

// A verb of cc's below `workflow` or `service`.
struct Added {
  CLI::App* verb;
  std::shared_ptr<CcFlags> flags;
};
Added add_verb(Verbs& verbs, CLI::App* parent, const char* name, const char* sentence,
               const char* examples, CcAction action) {
  auto held = std::make_shared<std::shared_ptr<CcFlags>>();
  CLI::App* verb = verbs.add(parent, name, sentence, examples,
                             [held, action](Session& session) { return action(session, **held); });
  *held = add_flags(verb);
  return {verb, *held};
}

void add_output_flag(Verbs& verbs, const Added& added) {
  verbs.set_choices(
      added.verb->add_option("-o,--output", added.flags->output, "table, json, csv or html")
          ->type_name("OUTPUT")
          ->check(CLI::IsMember({"table", "json", "csv", "html"})),
      {"table", "json", "csv", "html"});
}

void add_lasting_verbs(Verbs& verbs, CLI::App* workflow) {
  const Added remove = add_verb(verbs, workflow, "delete", "Delete workflows, or jobs of them",
                                "atoll cc workflow delete --name=flood --job=plot[1-3]", cc_delete);
  add_job_flag(remove.verb, *remove.flags);
  const Added status = add_verb(verbs, workflow, "status", "How the last run is getting on",
                                "atoll cc workflow status --name=flood --output=json", cc_show);
  add_output_flag(verbs, status);
  add_verb(verbs, workflow, "graph", "The graph of a workflow",
           "atoll cc workflow graph --name=flood", cc_graph);
}

void add_list_and_run(Verbs& verbs, CLI::App* parent, const char* list, const char* run) {
  const Added listing =
      add_verb(verbs, parent, "list", "Workflows by name, or the jobs of one", list, cc_list);
  add_job_flag(listing.verb, *listing.flags);
  const Added running = add_verb(verbs, parent, "run",
                                 "Run a workflow and follow it to its end; with --job only those "
                                 "jobs of it",
                                 run, cc_run);
  add_job_flag(running.verb, *running.flags);
  running.verb->add_option("--filename", running.flags->filename, "Add this file first")
      ->type_name("FILE");
}

void add_workflow(Verbs& verbs, CLI::App* cc) {
  auto held = std::make_shared<std::shared_ptr<CcFlags>>();
  CLI::App* workflow = verbs.add(cc, "workflow", "Workflows that are kept by name",
                                 "atoll cc workflow add --name=flood --job=fetch script=fetch.sh\n"
                                 "atoll cc workflow --name=flood --dependencies=start,fetch,end\n"
                                 "atoll cc workflow run --name=flood",
                                 [held](Session& session) { return cc_link(session, **held); });
  *held = add_flags(workflow);
  workflow->add_option("--dependencies", (*held)->dependencies, "Each job after the one before it")
      ->type_name("a,b[1-3],c");
  const Added add =
      add_verb(verbs, workflow, "add", "Add a job with its attributes, or a whole file",
               "atoll cc workflow add --name=flood --job=fetch kind=local script=fetch.sh\n"
               "atoll cc workflow add --name=flood --job=plot[1-3] exec='echo plot' parent=fetch\n"
               "atoll cc workflow add --filename=flood.yaml",
               cc_add);
  add_job_flag(add.verb, *add.flags);
  add.verb->add_option("--filename", add.flags->filename, "A whole workflow")->type_name("FILE");
  add.verb->add_option("ARGS", add.flags->attributes, "Attributes: script=a.sh, host=hpc, …");
  add_list_and_run(verbs, workflow, "atoll cc workflow list\natoll cc workflow list --name=flood",
                   "atoll cc workflow run --name=flood\n"
                   "atoll cc workflow run --filename=flood.yaml\n"
                   "atoll cc workflow run --name=flood --job=fetch");
  add_lasting_verbs(verbs, workflow);
  CLI::App* service = verbs.add(workflow, "service", "The same by the words of cc's service",
                                "atoll cc workflow service add --name=flood flood.yaml\n"
                                "atoll cc workflow service run --name=flood",
                                nullptr);
  service->require_subcommand(1);
  const Added upload = add_verb(verbs, service, "add", "Add a file",
                                "atoll cc workflow service add --name=flood flood.yaml", cc_add);
  upload.verb->add_option("FILENAME", upload.flags->filename, "The file")->required();
  add_list_and_run(verbs, service, "atoll cc workflow service list",
                   "atoll cc workflow service run --name=flood");
}

}  // namespace

void add_cc_verbs(Verbs& verbs) {
  CLI::App* cc = verbs.add_noun("cc", "The habits of the Cloudmesh compute coordinator",
                                "atoll cc workflow add --filename=flood.yaml\n"
                                "atoll cc workflow run --name=flood\n"
                                "atoll cc workflow status --name=flood");
  add_workflow(verbs, cc);
  CLI::App* start = verbs.add(cc, "start", "Say where the server is; `atoll up` starts it",
                              "atoll cc start", say_running);
  // Taken as cc takes them; where the server listens is decided when it is started.
  start->add_flag_function("-c,--reload", [](std::int64_t) {}, "Taken and without effect");
  for (const char* name : {"--host", "--port"})
    start->add_option_function<std::string>(
        name, [](const std::string&) {}, "Taken and without effect");
  verbs.add(cc, "stop", "Say how the server is stopped", "atoll cc stop", say_stop);
  verbs.add(cc, "status", "Whether the server runs, and where", "atoll cc status", say_running);
  verbs.add(cc, "doc", "Where the server documents itself", "atoll cc doc", say_doc);
}

}  // namespace atl::cli
