#include "cli/submit.h"

#include <algorithm>
#include <iostream>
#include <set>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/outlook.h"
#include "cli/output.h"
#include "cli/selectors.h"
#include "cli/verbs.h"
#include "cli/waiting.h"
#include "cli/workflow.h"

namespace atl::cli {
namespace {

struct SubmitFlags {
  JobFlags job;
  bool print = false;
  bool dry_run = false;
  bool wait = false;
  WorkflowFlags workflow;
  const CLI::App* verb = nullptr;
};

// Flags that say something of a job mean nothing for a workflow, whose file says it.
Result<void> check_workflow_flags(const SubmitFlags& flags) {
  const std::set<std::string> known{"name", "namespace", "ns",   "keep", "dry-run",
                                    "set",  "only",      "from", "wait", "paused"};
  for (const CLI::Option* option : flags.verb->get_options()) {
    const auto& names = option->get_lnames();
    if (option->count() == 0 || names.empty()) continue;
    if (std::ranges::any_of(names, [&](const auto& name) { return known.contains(name); }))
      continue;
    return fail(ErrorCode::invalid, "--" + names.front() +
                                        " is for jobs; what the steps of a workflow ask for stands "
                                        "in its file");
  }
  return {};
}

Result<void> check_job_flags(const SubmitFlags& flags) {
  const WorkflowFlags& given = flags.workflow;
  const char* flag = given.paused          ? "--paused"
                     : !given.set.empty()  ? "--set"
                     : !given.only.empty() ? "--only"
                     : !given.from.empty() ? "--from"
                                           : nullptr;
  if (!flag) return {};
  return fail(ErrorCode::invalid,
              std::string(flag) + " is for workflows: files that end in .yaml or .yml");
}

// Where and when it would start.
Result<int> try_job(Session& session, const JobDraft& job) {
  const auto answer = submit_job(session, job, true);
  if (!answer) return tl::unexpected(answer.error());
  if (session.names_only()) {
    for (const Json& each : (*answer)["jobs"].items())
      session.out << (each.has("starts") ? printable(each.text("starts")) : "-") << "\n";
    return kExitOk;
  }
  print_one(session, *answer, "starts", [&] { return dry_run_card(session, *answer); });
  return kExitOk;
}

// A file that is a workflow, with what flags before and behind it say.
Result<int> with_workflow(Session& session, const SubmitFlags& flags, bool follow) {
  if (auto ok = check_workflow_flags(flags); !ok) return tl::unexpected(ok.error());
  WorkflowFlags workflow = flags.workflow;
  workflow.dry_run = flags.dry_run;
  workflow.name = flags.job.ask.spec.name.value_or("");
  workflow.ns = flags.job.ask.spec.ns.value_or("");
  workflow.keep = flags.job.ask.spec.keep.value_or(false);
  workflow.file = flags.job.words.front();
  return run_workflow(session, workflow, follow);
}

bool names_workflow(const SubmitFlags& flags) {
  return !flags.job.is_command && !flags.job.words.empty() && is_workflow(flags.job.words.front());
}

Result<int> submit(Session& session, const SubmitFlags& flags) {
  if (names_workflow(flags)) return with_workflow(session, flags, flags.wait);
  if (auto ok = check_job_flags(flags); !ok) return tl::unexpected(ok.error());
  auto job = prepare_job(session, flags.job);
  if (!job) return tl::unexpected(job.error());
  if (flags.print) {
    print_spec(session, job->spec);
    return kExitOk;
  }
  if (flags.dry_run) return try_job(session, *job);
  const auto answer = submit_job(session, *job);
  if (!answer) return tl::unexpected(answer.error());
  const std::string id = answer->text("id");
  print_one(session, *answer, "id", [&] { return printable(id) + "\n"; });
  if (!flags.wait) return kExitOk;
  auto api = session.api();
  Console console(session.terminal);
  const Interrupts interrupts([&, target = (*api)->target()](Interrupts& signals) {
    return detach(signals, console, target, id, Attached::end);
  });
  const auto ended = wait_for_end(**api, id, {}, [](const Json&) { return true; });
  if (!ended) return tl::unexpected(ended.error());
  return job_exit_code(**ended);
}

Result<int> run(Session& session, const SubmitFlags& flags) {
  if (names_workflow(flags)) return with_workflow(session, flags, true);
  if (auto ok = check_job_flags(flags); !ok) return tl::unexpected(ok.error());
  auto job = prepare_job(session, flags.job);
  if (job && flags.print) {
    print_spec(session, job->spec);
    return kExitOk;
  }
  if (job && flags.dry_run) return try_job(session, *job);
  const auto answer = job ? submit_job(session, *job) : Result<Json>(tl::unexpected(job.error()));
  if (!answer) {
    // Told apart from whatever the job itself could return.
    session.say("atoll: " + answer.error().message);
    return launcher_exit_code(answer.error());
  }
  const bool several = job->spec.array || job->spec.gang.value_or(0) > 0;
  return follow_to_end(session, answer->text("id"), several);
}

}  // namespace

Result<std::string> default_namespace(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  if (!(*api)->target().ns.empty()) return (*api)->target().ns;
  const auto who = (*api)->get("/whoami");
  if (!who) return tl::unexpected(who.error());
  // One where they may submit, `default` before others.
  std::string first;
  for (const auto& [name, role] : (*who)["namespaces"].members()) {
    if (name == "default" && role.text() != "viewer") return name;
    if (first.empty() && role.text() != "viewer") first = name;
  }
  return first;
}

Result<JobDraft> prepare_job(Session& session, const JobFlags& given) {
  JobFlags flags = given;
  if (!flags.after_last.empty()) {
    const auto last = one_job(session, "last");
    if (!last) return tl::unexpected(last.error());
    if (auto ok = use_last(flags, *last); !ok) return tl::unexpected(ok.error());
  }
  auto draft = draft_job(flags, real_surroundings());
  if (!draft) return tl::unexpected(draft.error());
  for (const spec::Warning& warning : draft->warnings) {
    session.warn(draft->script_name + ":" + std::to_string(warning.line) + ": " + warning.message);
  }
  return draft;
}

Result<Json> submit_job(Session& session, const JobDraft& job, bool dry_run) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  spec::JobSpec named = job.spec;
  if (!named.ns) {
    auto ns = default_namespace(session);
    if (!ns) return tl::unexpected(ns.error());
    if (!ns->empty()) named.ns = std::move(*ns);
  }
  http::Call call{.method = "POST", .target = dry_run ? "/jobs?dry_run=true" : "/jobs"};
  call.headers.set("Content-Type", "application/json");
  if (!job.key.empty()) call.headers.set("Idempotency-Key", job.key);
  call.body = spec::to_json(named);
  const auto response = (*api)->send(std::move(call));
  if (!response) return tl::unexpected(response.error());
  auto answer = Json::parse(response->body);
  if (!answer) return tl::unexpected(answer.error());
  if ((*answer)["repeated"].truth())
    session.say("this key was used before: it is the same job, not a new one");
  // Those about lines of the script were told from here, with its name.
  for (const Json& warning : (*answer)["warnings"].items()) {
    if (!warning.text().starts_with("line ")) session.warn(warning.text());
  }
  return answer;
}

void print_spec(Session& session, const spec::JobSpec& job) {
  const auto json = Json::parse(spec::to_json(job));
  if (!json) return;
  // A table of a request says nothing; YAML is what people read.
  session.out << (session.globals.format == Format::json    ? json->pretty()
                  : session.globals.format == Format::jsonl ? json->compact() + "\n"
                                                            : json->yaml());
}

namespace {

CLI::App* add_one(Verbs& verbs, const char* name, const char* sentence, const char* examples,
                  Result<int> (*action)(Session&, const SubmitFlags&)) {
  auto flags = std::make_shared<SubmitFlags>();
  CLI::App* verb = verbs.add(nullptr, name, sentence, examples,
                             [flags, action](Session& session) { return action(session, *flags); });
  flags->verb = verb;
  add_job_flags(verb, flags->job);
  for (const spec::JobFlag& flag : spec::job_flags()) {
    if (flag.field && !flag.field->choices.empty())
      verbs.set_choices(verb->get_option(std::string("--") + flag.name),
                        {flag.field->choices.begin(), flag.field->choices.end()});
  }
  verb->add_flag("--dry-run", flags->dry_run,
                 "Say where and when it would start, or why not, and submit nothing");
  verb->add_flag("--print", flags->print, "Show the job as it would be sent, and send nothing");
  verb->add_option("--set", flags->workflow.set, "Of a workflow: a parameter, NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--only", flags->workflow.only,
                   "Of a workflow: this step alone, on what others left in earlier runs");
  verb->add_option("--from", flags->workflow.from,
                   "Of a workflow: this step and what comes after it, likewise");
  verb->add_option_function<std::string>(
          "--namespace", [flags](const std::string& ns) { flags->job.ask.spec.ns = ns; },
          "The same as --ns, as other verbs say it")
      ->group("");
  verb->add_flag("--paused", flags->workflow.paused,
                 "Of a workflow: nothing of it starts until it is resumed");
  if (std::string_view(name) == "submit") {
    verb->add_flag("--wait", flags->wait, "Wait until it has ended, and return its exit code");
  }
  verbs.set_tail(verb,
                 {.before = 0,
                  .words = &flags->job.words,
                  .marked = &flags->job.is_command,
                  .alone = is_workflow},
                 "(SCRIPT [ARGS…] | WORKFLOW.yaml | -- COMMAND…)");
  return verb;
}

}  // namespace

void add_submit_verbs(Verbs& verbs) {
  add_one(verbs, "submit", "Queue a script or a command, and print its id",
          "atoll submit train.sh\n"
          "atoll submit --cpus 4 --mem 8Gi --gpus a100:1 --time 2h -- python3 train.py --epochs 3\n"
          "atoll submit --array 1-1000%50 -- ./simulate.sh\n"
          "atoll submit --after last --label model=unet report.sh\n"
          "atoll submit --dry-run --gpus a100:2 train.sh    where and when it would start",
          submit);
  CLI::App* follow = add_one(
      verbs, "run", "Run a script, a command or a workflow: follow it, return its exit code",
      "atoll run -- python3 train.py\n"
      "atoll run --mem 4Gi --time 10m train.sh\n"
      "atoll run --array 1-5 -- ./simulate.sh        each line behind its task\n"
      "atoll run flow.yaml --set year=2017           a workflow, with its steps' progress\n"
      "atoll run flow.yaml --only train              one step, on what others left",
      run);
  Verbs::set_note(follow, "Ctrl-C detaches and leaves it running; twice cancels it.");
}

}  // namespace atl::cli
