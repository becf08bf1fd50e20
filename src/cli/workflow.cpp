// workflow: what runs, what ran, and what is asked of it.
#include "cli/workflow.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"
#include "spec/workflow/workflow_file.h"

namespace atl::cli {
namespace {

Color color_of(const std::string& word) {
  if (word == "succeeded") return Color::good;
  if (word == "failed" || word == "lost" || word == "timed_out") return Color::bad;
  if (word == "running" || word == "collecting" || word == "preparing") return Color::active;
  if (word == "waiting" || word == "ready" || word == "paused") return Color::waiting;
  return Color::faint;
}

Cell state_cell(const Json& each) {
  const std::string word = each.has("outcome") ? each.text("outcome") : each.text("state");
  return {word, color_of(word)};
}

Cell steps_cell(const Json& each) {
  const Json counts = each["steps"];
  const std::int64_t done = counts["succeeded"].integer() + counts["failed"].integer() +
                            counts["cancelled"].integer() + counts["skipped"].integer();
  return {std::to_string(done) + "/" + counts.text("total")};
}

View workflow_view() {
  return {.columns = {{{.title = "ID"}, cell_text("id")},
                      {{.title = "NAME", .least = 8}, cell_text("name")},
                      {{.title = "VERSION", .align = Align::right, .drop_rank = 3},
                       cell_text("version")},
                      {{.title = "NAMESPACE", .drop_rank = 2}, cell_text("namespace")},
                      {{.title = "USER", .drop_rank = 1}, cell_text("user")},
                      {{.title = "STATE"}, state_cell},
                      {{.title = "STEPS", .align = Align::right}, steps_cell},
                      {{.title = "SUBMITTED", .drop_rank = 4}, cell_time("submitted")}},
          .name_key = "id"};
}

std::string duration_between(const Json& step, const char* from, const char* until) {
  const auto a = parse_time(step.text(from)), b = parse_time(step.text(until));
  return a && b ? format_duration(Duration{std::max<std::int64_t>(0, (*b - *a).us)}) : "";
}

View step_view() {
  const auto needs = [](const Json& step) {
    std::string text;
    for (const Json& need : step["needs"].items())
      text += (text.empty() ? "" : ",") + need.text("step");
    return Cell{text};
  };
  const auto tasks = [](const Json& step) {
    const Json counts = step["tasks"];
    if (counts["total"].integer() <= 1) return Cell{};
    return Cell{counts.text("succeeded") + "/" + counts.text("total")};
  };
  const auto cpu = [](const Json& step) {
    if (step["attempts"].integer() == 0) return Cell{};
    return Cell{format_duration({static_cast<std::int64_t>(step["cpu_seconds"].number() * 1e6)})};
  };
  const auto memory = [](const Json& step) {
    return step["attempts"].integer() == 0 ? Cell{} : Cell{show_memory(step["memory_peak_bytes"])};
  };
  return {
      .columns = {{{.title = "STEP", .least = 8}, cell_text("name")},
                  {{.title = "STATE"}, state_cell},
                  {{.title = "TASKS", .align = Align::right}, tasks},
                  {{.title = "JOB", .align = Align::right}, cell_text("job")},
                  {{.title = "WAITED", .align = Align::right, .drop_rank = 3},
                   [](const Json& s) { return Cell{duration_between(s, "queued", "started")}; }},
                  {{.title = "RAN", .align = Align::right},
                   [](const Json& s) { return Cell{duration_between(s, "started", "ended")}; }},
                  {{.title = "CPU", .align = Align::right, .drop_rank = 5}, cpu},
                  {{.title = "PEAK MEM", .align = Align::right, .drop_rank = 5}, memory},
                  {{.title = "ENERGY", .align = Align::right, .drop_rank = 4},
                   [](const Json& s) { return Cell{shown_energy(s)}; }},
                  {{.title = "NEEDS", .least = 8, .drop_rank = 2}, needs},
                  {{.title = "MESSAGE", .least = 12, .drop_rank = 1}, cell_text("message")}},
      .name_key = "name"};
}

Result<std::vector<Json>> all_steps(Api& api, const std::string& id, size_t limit) {
  std::vector<Json> steps;
  std::string after = "-1";
  while (!after.empty() && steps.size() < limit) {
    const auto page = api.get("/workflows/" + encode(id) + "/steps?limit=1000&after=" + after);
    if (!page) return tl::unexpected(page.error());
    for (Json& step : (*page)["steps"].items()) steps.push_back(std::move(step));
    after = page->text("next");
  }
  return steps;
}

struct ListFlags {
  std::string user, ns, name;
  size_t limit = 100;
};

Result<int> list(Session& session, const ListFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  std::vector<Json> found;
  std::string before;
  while (found.size() < flags.limit) {
    const auto page = (*api)->get(
        "/workflows" +
        query({{"user", flags.user},
               {"namespace", flags.ns},
               {"name", flags.name},
               {"before", before},
               {"limit", std::to_string(std::min<size_t>(1000, flags.limit - found.size()))}}));
    if (!page) return tl::unexpected(page.error());
    for (Json& each : (*page)["workflows"].items()) found.push_back(std::move(each));
    before = page->text("next");
    if (before.empty()) break;
  }
  print_list(session, workflow_view(), found);
  return kExitOk;
}

Result<int> show(Session& session, const std::string& word) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto id = one_workflow(**api, word);
  if (!id) return tl::unexpected(id.error());
  const auto workflow = (*api)->get("/workflows/" + encode(*id));
  if (!workflow) return tl::unexpected(workflow.error());
  if (!session.for_people()) {
    print_one(session, *workflow, "id", [] { return ""; });
    return kExitOk;
  }
  const auto steps = all_steps(**api, *id, 1000);
  if (!steps) return tl::unexpected(steps.error());
  Card card(session.terminal.color);
  const Cell state = state_cell(*workflow);
  card.line("workflow", printable(workflow->text("id")) + "  " + printable(workflow->text("name")) +
                            " (version " + workflow->text("version") + ")");
  card.line("state", state.text, state.color).line("message", printable(workflow->text("message")));
  card.line("steps", steps_cell(*workflow).text);
  card.line("of",
            printable(workflow->text("user")) + " in " + printable(workflow->text("namespace")));
  card.line("submitted", show_local_time(workflow->text("submitted")));
  if (workflow->has("ended")) card.line("ended", show_local_time(workflow->text("ended")));
  for (const auto& [name, value] : (*workflow)["request"]["params"].members())
    card.line("param", printable(name) + " = " + printable(value.text()));
  session.out << card.str() << "\n";
  print_list(session, step_view(), *steps);
  const std::int64_t total = (*workflow)["steps"]["total"].integer();
  if (total > static_cast<std::int64_t>(steps->size()))
    session.say("and " + std::to_string(total - static_cast<std::int64_t>(steps->size())) +
                " more steps");
  return kExitOk;
}

Result<int> steps(Session& session, const std::string& word) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto id = one_workflow(**api, word);
  if (!id) return tl::unexpected(id.error());
  const auto found = all_steps(**api, *id, 2'000'000);
  if (!found) return tl::unexpected(found.error());
  print_list(session, step_view(), *found);
  return kExitOk;
}

View output_view() {
  const auto outputs = [](const Json& each) { return Cell{each["outputs"].compact()}; };
  return {.columns = {{{.title = "JOB", .align = Align::right}, cell_text("job")},
                      {{.title = "ITEMS"}, cell_text("items")},
                      {{.title = "OUTPUTS", .least = 12}, outputs}},
          .name_key = "job"};
}

// The number of a step that is named by it or by its name.
Result<std::string> step_number(Api& api, const std::string& id, const std::string& word) {
  if (parse_int(word)) return word;
  const auto found = all_steps(api, id, 2'000'000);
  if (!found) return tl::unexpected(found.error());
  for (const Json& step : *found) {
    if (step.text("name") == word) return step.text("number");
  }
  return fail(ErrorCode::not_found, "workflow " + id + " has no step " + quote(word));
}

Result<int> outputs(Session& session, const std::string& word, const std::string& step) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto id = one_workflow(**api, word);
  if (!id) return tl::unexpected(id.error());
  const auto number = step_number(**api, *id, step);
  if (!number) return tl::unexpected(number.error());
  std::vector<Json> found;
  for (std::string after = "0"; !after.empty();) {
    const auto page = (*api)->get("/workflows/" + encode(*id) + "/steps/" + encode(*number) +
                                  "/outputs?limit=1000&after=" + after);
    if (!page) return tl::unexpected(page.error());
    for (Json& each : (*page)["outputs"].items()) found.push_back(std::move(each));
    after = page->text("next");
  }
  print_list(session, output_view(), found);
  return kExitOk;
}

struct Action {
  const char* verb;
  const char* done;
  const char* nothing;
};

Result<int> act(Session& session, const std::vector<std::string>& ids, const Action& action,
                const std::string& body) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  int code = kExitOk;
  std::vector<Json> answers;
  for (const std::string& word : ids) {
    const auto id = one_workflow(**api, word);
    const auto answer = id ? (*api)->post("/workflows/" + encode(*id) + "/" + action.verb, body)
                           : Result<Json>(tl::unexpected(id.error()));
    if (!answer) {
      session.say("atoll: " + word + ": " + answer.error().message);
      if (code == kExitOk) code = exit_code(answer.error());
      continue;
    }
    if (session.for_people())
      session.out << printable(*id) << " "
                  << ((*answer)["changed"].truth() ? action.done : action.nothing) << "\n";
    else
      answers.push_back(*answer);
  }
  if (!session.for_people()) print_answers(session, answers, ids.size() > 1, "id");
  return code;
}

Result<int> add_step(Session& session, const std::string& word, const std::string& file) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto id = one_workflow(**api, word);
  if (!id) return tl::unexpected(id.error());
  std::string text;
  std::ifstream in;
  if (file != "-") in.open(file, std::ios::binary);
  std::istream& from = file == "-" ? std::cin : in;
  text.assign(std::istreambuf_iterator<char>(from), {});
  if (file != "-" && !in.is_open()) return fail(ErrorCode::invalid, "cannot read " + file);
  const auto steps = spec::steps_json(text, file);
  if (!steps) return tl::unexpected(steps.error());
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("steps").raw(*steps);
  json.member("directory", std::filesystem::current_path().string()).end_object();
  const auto answer = (*api)->post("/workflows/" + encode(*id) + "/steps", std::move(body));
  if (!answer) return tl::unexpected(answer.error());
  print_one(session, *answer, "id", [&] {
    return answer->text("added") + (answer->text("added") == "1" ? " step" : " steps") +
           " added to " + printable(*id) + "\n";
  });
  return kExitOk;
}

void add_action(Verbs& verbs, CLI::App* noun, const Action& action, const char* sentence,
                const char* examples) {
  auto ids = std::make_shared<std::vector<std::string>>();
  auto only = std::make_shared<std::vector<std::string>>();
  const bool retry = std::string_view(action.verb) == "retry";
  CLI::App* verb =
      verbs.add(noun, action.verb, sentence, examples, [ids, only, action](Session& session) {
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object();
        if (!only->empty()) json.member("steps", *only);
        json.end_object();
        return act(session, *ids, action, body);
      });
  verb->add_option("WORKFLOW", *ids, "Its number, or last")->required();
  if (retry) verb->add_option("--step", *only, "Only this step and what needs it; may be repeated");
}

}  // namespace

Result<std::string> one_workflow(Api& api, const std::string& word) {
  if (word != "last") return word;
  const auto newest = api.get("/workflows?limit=1&user=me");
  if (!newest) return tl::unexpected(newest.error());
  const auto items = (*newest)["workflows"].items();
  if (items.empty()) return fail(ErrorCode::not_found, "you have no workflow");
  return items.front().text("id");
}

void add_workflow_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun("workflow", "Steps that need each other, from one file",
                                  "atoll run flow.yaml --set year=2017   run one and follow it\n"
                                  "atoll workflow list\n"
                                  "atoll workflow show last");
  auto flags = std::make_shared<ListFlags>();
  CLI::App* listing = verbs.add(noun, "list", "Workflows, newest first",
                                "atoll workflow list\natoll workflow list --user me -o json",
                                [flags](Session& session) { return list(session, *flags); });
  listing->add_option("--user", flags->user, "Only those of this user; me for your own");
  listing->add_option("--namespace,-n", flags->ns, "Only those of this namespace");
  listing->add_option("--name", flags->name, "Only those whose name contains this");
  listing->add_option("--limit", flags->limit, "How many at most")->default_val(100);
  const auto about_one = [&](const char* name, const char* sentence, const char* examples,
                             Result<int> (*action)(Session&, const std::string&)) {
    auto id = std::make_shared<std::string>();
    CLI::App* verb = verbs.add(noun, name, sentence, examples,
                               [id, action](Session& session) { return action(session, *id); });
    verb->add_option("WORKFLOW", *id, "Its number, or last")->required();
  };
  about_one("show", "One workflow and its steps", "atoll workflow show 3", show);
  about_one("steps", "The steps, for programs too", "atoll workflow steps 3 -o jsonl", steps);
  about_one("attach", "Follow a workflow to its end", "atoll workflow attach 3",
            [](Session& session, const std::string& word) -> Result<int> {
              auto api = session.api();
              if (!api) return tl::unexpected(api.error());
              const auto id = one_workflow(**api, word);
              if (!id) return tl::unexpected(id.error());
              return follow_workflow(session, *id);
            });
  add_action(verbs, noun, {"pause", "paused: no more steps start", "is paused already"},
             "Start no more steps; what runs goes on", "atoll workflow pause 3");
  add_action(verbs, noun, {"resume", "goes on", "is not paused"}, "Go on starting steps",
             "atoll workflow resume 3");
  add_action(verbs, noun, {"cancel", "cancelled", "is being cancelled already"},
             "End it: what runs is stopped", "atoll workflow cancel 3");
  add_action(verbs, noun, {"retry", "runs again", "has nothing to run again"},
             "Run again what did not succeed, and what that kept from running",
             "atoll workflow retry last\natoll workflow retry 3 --step train");
  add_graph_verb(verbs, noun);
  auto which = std::make_shared<std::pair<std::string, std::string>>();
  CLI::App* left = verbs.add(
      noun, "outputs", "What each job of a step left that goes through a queue",
      "atoll workflow outputs last fetch\natoll workflow outputs 3 fetch -o jsonl",
      [which](Session& session) { return outputs(session, which->first, which->second); });
  left->add_option("WORKFLOW", which->first, "Its number, or last")->required();
  left->add_option("STEP", which->second, "Its name or number")->required();
  auto target = std::make_shared<std::pair<std::string, std::string>>();
  CLI::App* add = verbs.add(
      noun, "add-step", "Add steps to a workflow that is under way",
      "atoll workflow add-step 3 -f more.yaml    with a section steps:\n"
      "echo 'steps: {plot: {run: ./plot, needs: train}}' | atoll workflow add-step last -f -",
      [target](Session& session) { return add_step(session, target->first, target->second); });
  add->add_option("WORKFLOW", target->first, "Its number, or last")->required();
  add->add_option("-f,--file", target->second, "The file with the steps; - for standard input")
      ->required();
}

}  // namespace atl::cli
