// Conversations with the core as text: blocks of commands, `----`, and the events and reasons they
// lead to. ATOLL_REWRITE=1 writes what was seen back into testdata/*.txt; read the difference
// before committing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/amount.h"
#include "base/text.h"
#include "core/core.h"
#include "core/scheduling/explain.h"
#include "core/scheduling/line.h"
#include "core/trace.h"

namespace atl::core {
namespace {

using Arguments = std::map<std::string, std::string>;

// One state, a clock that starts at zero, and the words of the scripts.
class Conversation {
 public:
  Conversation() { run(Input{now_, Request{{}, CreateUser{"root", true, 0}}}); }

  std::string say(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    Arguments args;
    for (std::string word; words >> word;) {
      const size_t at = word.find('=');
      args[word.substr(0, at)] = at == std::string::npos ? "" : word.substr(at + 1);
    }
    return act(verb, args);
  }

 private:
  std::string act(const std::string& verb, Arguments& args);
  std::string act_on_workflow(const std::string& verb, Arguments& args);
  Report step_report(const std::string& verb, Arguments& args);
  std::string ask(const Arguments& args, Command command);
  std::string report(Report report) { return run(Input{now_, std::move(report)}); }
  std::string run(const Input& input);
  std::string explain_job(JobId id);
  std::string act_on_queue(const std::string& verb, Arguments& args);
  SubmitJob job_from(Arguments& args);
  AttemptId attempt_from(Arguments& args);

  State state_;
  Time now_{1'000'000};
  std::map<WorkflowId, Workflow> ended_;  // what history would have of them
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

// `work:urls:4:10:2:closed`: step `work` goes through queue `urls` with four jobs of ten items at
// most and two at least, until it is closed.
FeedTerms feed_from(Arguments& args, const std::string& step) {
  const auto parts = split(args["feed"], ':');
  const auto number = [&](size_t place) {
    return parts.size() > place ? static_cast<uint32_t>(std::stoul(parts[place])) : 1;
  };
  if (parts.empty() || parts[0] != step) return {};
  return {parts[1], number(4), number(2), number(3), parts.size() > 5};
}

// `make,test:make?+data~`: `test` needs `make`, which may fail, and `data`, which may be skipped.
void steps_from(Arguments& args, AddSteps& add) {
  const auto listed = [&](const char* list, const std::string& name) {
    const auto names = split(args[list], '+');
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& word : split(args["steps"], ',')) {
    const auto parts = split(word, ':');
    NewStep& step = add.steps.emplace_back();
    step.name = parts[0];
    step.prepared = listed("prepared", step.name);
    step.collected = listed("collected", step.name);
    step.feed = feed_from(args, step.name);
    auto& needs = add.needs.emplace_back();
    for (std::string name : split(parts.size() > 1 ? parts[1] : "", '+')) {
      Need need;
      need.can_fail = name.back() == '?';
      need.can_skip = name.back() == '~';
      if (need.can_fail || need.can_skip) name.pop_back();
      needs.emplace_back(name, need);
    }
  }
}

// The same, when there are no other steps yet: needs by number.
SubmitWorkflow workflow_from(Arguments& args) {
  AddSteps add;
  steps_from(args, add);
  SubmitWorkflow flow;
  flow.ns = "lab";
  flow.name = args["name"];
  flow.fail_fast = args.count("fail_fast") > 0;
  flow.paused = args.count("paused") > 0;
  flow.sealed = args.count("unsealed") == 0;
  if (args.count("at_once")) flow.parallel_max = static_cast<uint32_t>(std::stoul(args["at_once"]));
  flow.kinds.emplace_back().terms.resources.cpu_milli = 1000;
  for (size_t i = 0; i < add.steps.size(); ++i) {
    for (auto [name, need] : add.needs[i]) {
      while (need.step < i && add.steps[need.step].name != name) ++need.step;
      add.steps[i].needs.push_back(need);
    }
  }
  flow.steps = std::move(add.steps);
  return flow;
}

std::string Conversation::run(const Input& input) {
  std::string out;
  const auto absorb = [&](const Events& events) {
    for (const Event& event : events) {
      out += to_text(event.body) + "\n";
      if (const auto* end = std::get_if<WorkflowEnded>(&event.body)) {
        ended_[end->id] = state_.workflows.at(end->id);
        ended_[end->id].cancelled = false;
      }
      apply(state_, event);
    }
    EXPECT_EQ(broken_invariant(state_), "") << out;
  };
  const auto decided = decide(state_, input);
  if (!decided) {
    const Error& error = decided.error();
    return "refused " + std::string(to_string(error.code)) + " " + error.field + ": " +
           error.message + "\n";
  }
  absorb(*decided);
  for (;;) {
    const Events more = decide(state_, {input.now, Tick{}}).value();
    if (more.empty()) return out;
    absorb(more);
  }
}

std::string Conversation::ask(const Arguments& args, Command command) {
  Actor actor{UserId{1}, false, {}};
  if (const auto as = args.find("as"); as != args.end()) {
    const User* user = state_.user_named(as->second);
    actor.user = user ? user->id : UserId{99};
  }
  actor.read_only = args.count("read_only") > 0;
  return run(Input{now_, Request{actor, std::move(command)}});
}

SubmitJob Conversation::job_from(Arguments& args) {
  SubmitJob job;
  job.ns = args.count("ns") ? args["ns"] : "lab";
  job.name = args["name"];
  job.terms.resources.cpu_milli = args.count("cpus") ? parse_milli(args["cpus"]).value() : 1000;
  if (args.count("mem")) job.terms.resources.memory_bytes = parse_bytes(args["mem"]).value();
  if (args.count("gpus"))
    job.terms.resources.devices = {
        {"gpu", args["model"], static_cast<uint32_t>(std::stoul(args["gpus"]))}};
  job.terms.site = args["site"];
  if (args.count("priority")) job.terms.priority = std::stoi(args["priority"]);
  if (args.count("retries"))
    job.terms.retry.max = static_cast<uint32_t>(std::stoul(args["retries"]));
  if (args.count("retry_on")) job.terms.retry.exit_codes = {std::stoi(args["retry_on"])};
  if (args.count("at_once"))
    job.terms.parallel_max = static_cast<uint32_t>(std::stoul(args["at_once"]));
  job.array = args.count("array") > 0;
  job.indices =
      job.array ? parse_intervals(args["array"], 10'000'000).value() : IntervalSet({0, 0});
  job.held = args.count("hold") > 0;
  job.keep = args.count("keep") > 0;
  for (const auto kind :
       {DependencyKind::after_success, DependencyKind::after_end, DependencyKind::after_failure}) {
    if (args.count(enum_name(kind)))
      job.dependencies.push_back({JobId{std::stoull(args[enum_name(kind)])}, kind, {}});
  }
  return job;
}

AttemptId Conversation::attempt_from(Arguments& args) {
  return {JobId{std::stoull(args["job"])},
          args.count("index") ? static_cast<uint32_t>(std::stoul(args["index"])) : 0,
          args.count("attempt") ? static_cast<uint32_t>(std::stoul(args["attempt"])) : 1};
}

std::string Conversation::explain_job(JobId id) {
  const Job* job = state_.job(id);
  if (!job) return "no live job\n";
  const auto why = scheduling::explain(state_, *job);
  return std::string(scheduling::reason_word(why)) + ": " + why.sentence + "\n";
}

Report Conversation::step_report(const std::string& verb, Arguments& args) {
  const StepRef step{WorkflowId{std::stoull(args["workflow"])},
                     static_cast<uint32_t>(std::stoul(args["step"]))};
  if (verb == "collected") {
    StepCollected collected;
    collected.step = step;
    if (const Workflow* of = state_.workflow(step.workflow)) {
      const Step& now = of->steps[step.step];
      const bool whole = now.fed && now.state == StepState::collecting;
      collected.job = whole ? JobId{} : now.job;
      collected.opening = now.opening;
    }
    if (args.count("job")) collected.job = {std::stoull(args["job"])};
    if (args.count("opening")) collected.opening = std::stoull(args["opening"]);
    collected.failed = args.count("failed") > 0;
    collected.message = args["failed"];
    collected.outputs = args["outputs"];
    return collected;
  }
  StepPrepared prepared;
  prepared.step = step;
  if (const Workflow* of = state_.workflow(step.workflow))
    prepared.opening = of->steps[step.step].opening;
  if (args.count("opening")) prepared.opening = std::stoull(args["opening"]);
  using Result = StepPrepared::Result;
  for (const auto& [word, result] :
       {std::pair{"reuse", Result::reuse}, {"skip", Result::skip}, {"fail", Result::fail}}) {
    if (!args.count(word)) continue;
    prepared.result = result;
    prepared.message = args[word];
  }
  if (prepared.result == Result::reuse) prepared.reused = {WorkflowId{1}, 0};
  return prepared;
}

std::string Conversation::act_on_workflow(const std::string& verb, Arguments& args) {
  if (verb == "workflow") return ask(args, workflow_from(args));
  if (verb == "prepared" || verb == "collected") return report(step_report(verb, args));
  const WorkflowId id{std::stoull(args["workflow"])};
  if (verb == "pause") return ask(args, PauseWorkflow{id, true});
  if (verb == "resume") return ask(args, PauseWorkflow{id, false});
  if (verb == "cancel_workflow") return ask(args, CancelWorkflow{id});
  if (verb == "retry") {
    RetryWorkflow retry{id, split(args["steps"], '+'), {}};
    if (!state_.workflow(id) && ended_.count(id)) retry.ended = ended_.at(id);
    return ask(args, retry);
  }
  AddSteps add;
  add.id = id;
  add.kinds.emplace_back().terms.resources.cpu_milli = 1000;
  add.seal = args.count("seal") > 0;
  steps_from(args, add);
  return ask(args, add);
}

std::string Conversation::act(const std::string& verb, Arguments& args) {
  const auto id = [&] { return JobId{std::stoull(args["job"])}; };
  if (verb == "clock") {
    now_ = now_ + parse_duration(args["forward"]).value();
    return run(Input{now_, Tick{}});
  }
  if (verb == "user") return ask(args, CreateUser{args["name"], false, {}});
  if (verb == "namespace") return ask(args, CreateNamespace{args["name"], args["admin"]});
  if (verb == "delete_namespace") return ask(args, DeleteNamespace{args["name"]});
  if (verb == "member") {
    Role role = Role::member;
    EXPECT_TRUE(enum_from_name(args["role"], role));
    return ask(args, SetMember{args["ns"], args["user"], role});
  }
  if (verb == "quota") {
    Quota quota;
    if (args.count("cpus")) quota.cpu_milli = parse_milli(args["cpus"]).value();
    if (args.count("gpus")) quota.devices["gpu"] = static_cast<uint32_t>(std::stoul(args["gpus"]));
    if (args.count("queued")) quota.queued = std::stoull(args["queued"]);
    if (args.count("running")) quota.running = std::stoull(args["running"]);
    return ask(args, SetQuota{args["ns"], quota});
  }
  if (verb == "site") {
    std::string out = state_.site_named(args["name"])
                          ? ""
                          : ask(args, AddSite{args["name"], "simulated", args["definition"]});
    NodeCapacity node{"n1",
                      parse_milli(args["cpus"]).value(),
                      parse_bytes(args.count("mem") ? args["mem"] : "8Gi").value(),
                      {}};
    const int gpus = args.count("gpus") ? std::stoi(args["gpus"]) : 0;
    for (int i = 0; i < gpus; ++i)
      node.devices.push_back({"gpu" + std::to_string(i), "gpu", args["model"], 0, true});
    const std::vector<std::string> abilities(args.count("line"), scheduling::kLineAbility);
    return out + report(SiteProbed{args["name"], {{node}, abilities}});
  }
  if (verb == "remove_site") return ask(args, RemoveSite{args["name"]});
  if (verb == "drain") return ask(args, DrainSite{args["name"], true});
  if (verb == "undrain") return ask(args, DrainSite{args["name"], false});
  if (verb == "submit") return ask(args, SubmitJobs{{job_from(args)}});
  if (verb == "cancel") {
    CancelJob cancel{id(), {}, {}};
    if (args.count("index")) cancel.index = static_cast<uint32_t>(std::stoul(args["index"]));
    return ask(args, cancel);
  }
  if (verb == "hold") return ask(args, HoldJob{id()});
  if (verb == "release") return ask(args, ReleaseJob{id()});
  if (verb == "requeue") return ask(args, RequeueJob{id(), {}, {}});
  if (verb == "change") {
    ChangeJob change{.id = id()};
    if (args.count("cpus")) change.cpu_milli = parse_milli(args["cpus"]).value();
    if (args.count("priority")) change.priority = std::stoi(args["priority"]);
    if (args.count("time")) change.wall = parse_duration(args["time"]).value();
    if (args.count("at_once"))
      change.parallel_max = static_cast<uint32_t>(std::stoul(args["at_once"]));
    return ask(args, change);
  }
  if (verb == "started") return report(AttemptStarted{attempt_from(args), now_});
  if (verb == "ended") {
    AttemptResult result;
    if (args.count("cause")) EXPECT_TRUE(enum_from_name(args["cause"], result.cause));
    if (args.count("exit")) result.exit_code = std::stoi(args["exit"]);
    result.checkpointed = args.count("checkpointed") > 0;
    return report(AttemptEnded{attempt_from(args), result});
  }
  if (verb == "record") {
    RecordDeed record{BackupAsked{args["backup"]}, {}};
    if (const Namespace* ns = state_.namespace_named(args["ns"])) record.ns = ns->id;
    if (args.count("exec")) record.deed = ExecAsked{attempt_from(args), args["exec"]};
    if (args.count("upload")) record.deed = UploadAsked{id(), args["upload"], 5};
    return ask(args, record);
  }
  if (verb == "explain") return explain_job(id());
  if (verb == "workflow" || verb == "add_steps" || args.count("workflow"))
    return act_on_workflow(verb, args);
  return act_on_queue(verb, args);
}

// Every queue is one of the namespace lab.
std::string Conversation::act_on_queue(const std::string& verb, Arguments& args) {
  const std::string queue = args["queue"];
  const auto number = [&](const char* name, int64_t fallback) {
    return args.count(name) ? std::stoll(args[name]) : fallback;
  };
  const auto span = [&](const char* name) {
    return args.count(name) ? parse_duration(args[name]).value() : Duration{};
  };
  const LeaseId lease{static_cast<uint64_t>(number("lease", 0))};
  std::vector<ItemId> items;
  if (args.count("item")) items.push_back({static_cast<uint64_t>(number("item", 0))});
  if (verb == "create_queue") {
    QueueSettings settings;
    settings.attempts = static_cast<uint32_t>(number("attempts", settings.attempts));
    if (args.count("visibility")) settings.visibility = span("visibility");
    settings.dead_letters = args.count("forget") == 0;
    return ask(args, CreateQueue{"lab", queue, settings});
  }
  if (verb == "close_queue") return ask(args, ChangeQueue{"lab", queue, {}, {}, {}, true});
  if (verb == "delete_queue") return ask(args, DeleteQueue{"lab", queue});
  if (verb == "put") {
    NewItem item{static_cast<int32_t>(number("priority", 0)), span("delay"), args["key"],
                 static_cast<uint64_t>(number("bytes", 8))};
    return ask(args, PutItems{"lab", queue, std::vector<NewItem>(number("count", 1), item)});
  }
  if (verb == "lease")
    return ask(args, LeaseItems{"lab", queue, static_cast<uint32_t>(number("max", 1)), {}, ""});
  if (verb == "done") return ask(args, FinishItems{"lab", queue, lease, items});
  if (verb == "give_back")
    return ask(args, ReturnItems{"lab", queue, lease, items, span("delay"), args["message"]});
  if (verb == "extend") return ask(args, ExtendLeases{"lab", queue, {lease}, {}});
  if (verb == "restore") return ask(args, RestoreItems{"lab", queue, items});
  if (verb == "remove") {
    Removal what = Removal::dead;
    if (args.count("what")) EXPECT_TRUE(enum_from_name(args["what"], what));
    return ask(args, RemoveItems{"lab", queue, what, items});
  }
  ADD_FAILURE() << "unknown verb " << verb;
  return "";
}

// Runs a script and gives it back with what was seen in place of what was expected.
std::string replay(const std::string& script) {
  Conversation conversation;
  std::string out, seen;
  bool expecting = false;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    if (expecting) {
      if (!line.empty()) continue;
      expecting = false;
      out += seen + "\n";
      seen.clear();
    } else if (line == "----") {
      expecting = true;
      out += line + "\n";
    } else {
      out += line + "\n";
      if (!line.empty() && line[0] != '#') seen += conversation.say(line);
    }
  }
  return expecting ? out + seen : out;
}

TEST(Conversation, GoesAsWritten) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("src/core/testdata")) {
    std::ifstream in(entry.path());
    const std::string script((std::istreambuf_iterator<char>(in)), {});
    const std::string seen = replay(script);
    ++files;
    if (std::getenv("ATOLL_REWRITE"))
      std::ofstream(entry.path()) << seen;
    else
      EXPECT_EQ(seen, script) << entry.path();
  }
  EXPECT_GE(files, 6);
}

}  // namespace
}  // namespace atl::core
