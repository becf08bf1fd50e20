// A workflow's file goes to the server, and what becomes of it is followed.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include "base/text.h"
#include "cli/console.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/submit.h"
#include "cli/workflow.h"
#include "spec/cloudmesh/cc_file.h"
#include "spec/json_writer.h"
#include "spec/workflow/workflow_file.h"

namespace atl::cli {
namespace {

constexpr auto kLook = std::chrono::milliseconds(300);
constexpr int kToldSteps = 2000;  // of a larger one only sums are told

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(spec::kWorkflowBytesMax + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad() || std::filesystem::is_directory(path))
    return fail(ErrorCode::invalid, "cannot read " + path);
  if (text.size() > spec::kWorkflowBytesMax)
    return fail(ErrorCode::too_large, path + " is larger than 64Mi");
  return text;
}

// Of a Cloudmesh file, the scripts of nodes that run elsewhere: those here are found where they
// are. One that cannot be read may be there already.
Result<void> add_scripts(const std::filesystem::path& folder, const std::string& main,
                         spec::FileTexts& files) {
  const auto file = spec::cc::parse_cc(files.at(main), main);
  if (!file) return tl::unexpected(file.error());
  for (const spec::cc::CcNode& node : file->workflow.nodes) {
    const bool elsewhere = node.kind == "ssh" || node.kind == "slurm" || node.kind == "lsf";
    if (!elsewhere || node.script.empty() || files.contains(node.script)) continue;
    auto script = read_file((folder / node.script).string());
    if (script && valid_utf8(*script) && files.size() < spec::kIncludesMax)
      files[node.script] = std::move(*script);
  }
  return {};
}

// The file and whatever it includes, by the names that they are included by.
Result<spec::FileTexts> gather(const std::string& path, const std::string& main) {
  spec::FileTexts files;
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  files[main] = std::move(*text);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (spec::cc::looks_like_cc(files[main])) {
    if (auto ok = add_scripts(folder, main, files); !ok) return tl::unexpected(ok.error());
    return files;
  }
  std::vector<std::string> todo{main};
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    const bool yaml = name == main || name.ends_with(".yaml") || name.ends_with(".yml");
    if (!yaml) continue;
    const auto named = spec::files_named_in(files.at(name), name);
    if (!named) return tl::unexpected(named.error());
    for (const auto& [each, mark] : *named) {
      if (files.contains(each)) continue;
      if (files.size() >= spec::kIncludesMax)
        return fail(ErrorCode::invalid, main + " names more than 100 files");
      auto more = read_file((folder / each).string());
      if (!more)
        return fail(ErrorCode::invalid, name + ":" + to_string(mark) + ": " + more.error().message);
      files[each] = std::move(*more);
      todo.push_back(each);
    }
  }
  return files;
}

std::string plan_text(const Json& answer) {
  std::string text = printable(answer.text("name")) + ": " + answer.text("steps") + " steps\n";
  for (const auto& [name, value] : answer["params"].members())
    text += "  " + printable(name) + " = " + printable(value.text()) + "\n";
  for (const Json& step : answer["plan"].items()) {
    text += "  " + printable(step.text("name"));
    const auto needs = step["needs"].items();
    for (size_t i = 0; i < needs.size(); ++i)
      text += (i == 0 ? "  needs " : ", ") + printable(needs[i].text());
    const bool later = !step.has("tasks");
    if (later || step["tasks"].integer() > 1)
      text += later ? "  (tasks known later)" : "  (" + step.text("tasks") + " tasks)";
    if (step["kept"].truth()) text += "  (as an earlier run left it)";
    text += "\n";
  }
  return text;
}

std::string lasted(const Json& step) {
  const auto from = parse_time(step.text("started")), until = parse_time(step.text("ended"));
  if (!from || !until) return "";
  return " in " + format_duration(Duration{std::max<int64_t>(0, (*until - *from).us)});
}

// One line of what has become of a step.
std::string told_end(const Json& step) {
  const std::string outcome = step.text("outcome");
  std::string line = printable(step.text("name")) + " " + outcome + lasted(step);
  if (outcome != "succeeded" && !step.text("message").empty())
    line += ": " + printable(step.text("message"));
  if (step.text("reason") == "reused") line += " (" + printable(step.text("message")) + ")";
  if (outcome == "failed" && step.has("job")) line += "; atoll logs " + step.text("job");
  return line;
}

// Redraws its lines in place, on standard error.
class LiveLines {
 public:
  explicit LiveLines(bool on) : on_(on) {}
  ~LiveLines() { clear(); }
  void show(const std::vector<std::string>& lines) {
    const std::lock_guard guard(lock_);
    if (!on_) return;
    std::string out = back();
    for (const std::string& line : lines) out += line + "\x1b[K\n";
    std::cerr << out + "\x1b[J" << std::flush;
    shown_ = lines.size();
  }
  void clear() {
    const std::lock_guard guard(lock_);
    if (!on_ || shown_ == 0) return;
    std::cerr << back() + "\x1b[J" << std::flush;
    shown_ = 0;
  }
  // For good: somebody else writes now.
  void close() {
    clear();
    const std::lock_guard guard(lock_);
    on_ = false;
  }

 private:
  std::string back() const { return shown_ ? "\x1b[" + std::to_string(shown_) + "F" : ""; }
  std::mutex lock_;  // Ctrl-C comes on a thread of its own
  bool on_;
  size_t shown_ = 0;
};

class Following {
 public:
  Following(Session& session, Api& api, std::string id)
      : session_(session), api_(api), id_(std::move(id)), live_(session.terminal.live) {}

  // The workflow once it has ended.
  Result<Json> run() {
    std::optional<std::chrono::steady_clock::time_point> away;
    for (auto pause = std::chrono::milliseconds(20);;
         pause = std::min<std::chrono::milliseconds>(pause * 2, kLook)) {
      auto workflow = look();
      if (workflow && workflow->text("state") == "ended") {
        live_.clear();
        return workflow;
      }
      if (!workflow) {
        // A server that restarts comes back.
        const auto now = std::chrono::steady_clock::now();
        if (!away) away = now;
        const bool gone = workflow.error().code != ErrorCode::unavailable;
        if (gone || now - *away > kAwayMax) return workflow;
      } else {
        away.reset();
      }
      std::this_thread::sleep_for(pause);
    }
  }
  void silence() { live_.close(); }

 private:
  static constexpr auto kAwayMax = std::chrono::minutes(5);

  Result<Json> look() {
    auto workflow = api_.get("/workflows/" + id_);
    if (!workflow) return workflow;
    if (auto told = tell_steps(*workflow); !told) return tl::unexpected(told.error());
    if (!session_.terminal.live || workflow->text("state") == "ended") return workflow;
    const auto active = api_.get("/workflows/" + id_ + "/steps?active=true&limit=50");
    if (!active) return active;
    live_.show(progress_.lines(*workflow, (*active)["steps"].items(),
                               std::max(20, terminal_width() - 1),
                               std::chrono::steady_clock::now()));
    return workflow;
  }

  // What has ended since the last look, a line each; where lines are not redrawn also what began.
  Result<void> tell_steps(const Json& workflow) {
    if (workflow["steps"]["total"].integer() > kToldSteps) return {};
    std::string after = "-1";
    while (!after.empty()) {
      const auto page = api_.get("/workflows/" + id_ + "/steps?limit=1000&after=" + after);
      if (!page) return tl::unexpected(page.error());
      for (const Json& step : (*page)["steps"].items()) tell_step(step);
      after = page->text("next");
    }
    return {};
  }
  void tell_step(const Json& step) {
    const std::string number = step.text("number");
    if (step.text("state") == "ended") {
      if (!ended_.insert(number).second) return;
      live_.clear();
      session_.say(told_end(step));
    } else if (!session_.terminal.live && step.has("started") && begun_.insert(number).second) {
      session_.say(printable(step.text("name")) + " started");
    }
  }

  Session& session_;
  Api& api_;
  const std::string id_;
  LiveLines live_;
  WorkflowProgress progress_;
  std::set<std::string> begun_, ended_;
};

int tell_end(Session& session, const Json& workflow) {
  const std::string outcome = workflow.text("outcome");
  const Json counts = workflow["steps"];
  std::string line = "workflow " + workflow.text("id") + " " + outcome + ": " +
                     counts.text("succeeded") + " of " + counts.text("total") + " steps succeeded";
  for (const char* word : {"failed", "cancelled", "skipped"}) {
    if (counts[word].integer() > 0) line += ", " + counts.text(word) + " " + word;
  }
  session.say(line);
  if (outcome == "succeeded") return kExitOk;
  session.say("  atoll workflow show " + workflow.text("id") +
              "     what became of each step\n  atoll workflow retry " + workflow.text("id") +
              "    runs again what did not succeed");
  return outcome == "cancelled" ? kExitCancelled : kExitFailure;
}

}  // namespace

bool is_workflow(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

Result<void> write_params(spec::JsonWriter& json, const WorkflowFlags& flags) {
  if (flags.set.empty()) return {};
  json.key("set").begin_object();
  std::set<std::string> seen;
  for (const std::string& each : flags.set) {
    const size_t equals = each.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::invalid, "--set is " + quote(each) + "; it must be NAME=VALUE");
    if (!seen.insert(each.substr(0, equals)).second)
      return fail(ErrorCode::invalid, "--set " + each.substr(0, equals) + " is given twice");
    json.member(each.substr(0, equals), each.substr(equals + 1));
  }
  json.end_object();
  return {};
}

Result<void> write_files(spec::JsonWriter& json, const WorkflowFlags& flags) {
  const std::string main = std::filesystem::path(flags.file).filename().string();
  const auto files = gather(flags.file, main);
  if (!files) return tl::unexpected(files.error());
  json.key("files").begin_object();
  for (const auto& [name, text] : *files) {
    if (!valid_utf8(text)) return fail(ErrorCode::invalid, name + " is not UTF-8 text");
    json.member(name, text);
  }
  json.end_object().member("main", main);
  if (auto ok = write_params(json, flags); !ok) return ok;
  const auto directory = std::filesystem::absolute(flags.file).parent_path().lexically_normal();
  json.member("directory", directory.string());
  return {};
}

Result<std::string> workflow_body(Session& session, const WorkflowFlags& flags) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object();
  if (auto ok = write_files(json, flags); !ok) return tl::unexpected(ok.error());
  auto ns = flags.ns.empty() ? default_namespace(session) : Result<std::string>(flags.ns);
  if (!ns) return tl::unexpected(ns.error());
  for (const auto& [key, value] : {std::pair("namespace", *ns), std::pair("name", flags.name),
                                   std::pair("only", flags.only), std::pair("from", flags.from)}) {
    if (!value.empty()) json.member(key, value);
  }
  json.member("paused", flags.paused).member("keep", flags.keep);
  json.member("check", flags.check).end_object();
  return body;
}

Result<int> run_workflow(Session& session, const WorkflowFlags& flags, bool follow) {
  auto body = workflow_body(session, flags);
  if (!body) return tl::unexpected(body.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  std::optional<SlowLine> slow;  // gone before anything else is shown, or Ctrl-C is waited for
  slow.emplace(session.terminal, "reading " + flags.file);
  const auto answer =
      (*api)->post(flags.dry_run ? "/workflows?dry_run=true" : "/workflows", std::move(*body));
  slow.reset();
  if (!answer) return tl::unexpected(answer.error());
  for (const Json& warning : (*answer)["warnings"].items()) session.warn(warning.text());
  if (flags.dry_run) {
    print_one(session, *answer, "name", [&] { return plan_text(*answer); });
    return kExitOk;
  }
  const std::string id = answer->text("id");
  if (!follow) {
    print_one(session, *answer, "id", [&] { return printable(id) + "\n"; });
    return kExitOk;
  }
  session.say("workflow " + id + ": " + printable(answer->text("name")) + ", " +
              answer->text("steps") + (answer->text("steps") == "1" ? " step" : " steps"));
  return follow_workflow(session, id);
}

Result<int> follow_workflow(Session& session, const std::string& id) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  Following following(session, **api, id);
  const Interrupts interrupts([&](Interrupts&) {
    following.silence();
    const std::string said = "\ndetached; the workflow goes on\n  atoll workflow attach " + id +
                             "    follows it again\n  atoll workflow cancel " + id +
                             "    stops it\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, said.data(), said.size());
    return kExitInterrupt;
  });
  const auto workflow = following.run();
  if (!workflow) return tl::unexpected(workflow.error());
  print_one(session, *workflow, "id", [] { return ""; });  // for programs
  return tell_end(session, *workflow);
}

}  // namespace atl::cli
