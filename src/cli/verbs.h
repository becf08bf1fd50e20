// How verbs are put together: each file of verbs adds its own to the tree, with a sentence,
// examples and the function that runs it. Sees CLI11; for the sources of this room only.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/session.h"

namespace atl::cli {

using Action = std::function<Result<int>(Session&)>;

// The rest of a command line that belongs to another program: everything from the word after
// `before` positionals on, or after "--".
struct Tail {
  std::size_t before = 0;
  std::vector<std::string>* words = nullptr;
  bool* marked = nullptr;  // whether "--" stood before them
  // Of such a word nothing belongs to another program: what follows it is about this one.
  bool (*alone)(const std::string& word) = nullptr;
};

class Verbs {
 public:
  Verbs();

  // A verb of `parent` (the root when null). `examples` are lines without indentation.
  CLI::App* add(CLI::App* parent, const std::string& name, const std::string& sentence,
                const std::string& examples, Action action);
  // A noun whose verbs follow.
  CLI::App* add_noun(const std::string& name, const std::string& sentence,
                     const std::string& examples);
  void heading(std::string group) { group_ = std::move(group); }
  // `usage` is how the rest is written: "SCRIPT [ARGS…] | -- COMMAND…".
  void set_tail(CLI::App* verb, Tail tail, std::string usage);

  // Lines of prose below a verb's examples.
  static void set_note(CLI::App* verb, const std::string& lines);

  // The few words that an option's value can be, for completion.
  void set_choices(const CLI::Option* option, std::vector<std::string> words);

  CLI::App& root() { return root_; }
  const CLI::App& root() const { return root_; }
  const Tail* tail_of(const CLI::App* verb) const;
  std::string usage_of(const CLI::App* verb) const;
  const Action* action_of(const CLI::App* verb) const;
  const std::vector<std::string>& choices_of(const CLI::Option* option) const;  // empty: any value

 private:
  CLI::App root_;
  std::string group_;
  std::map<const CLI::App*, Action> actions_;
  std::map<const CLI::App*, Tail> tails_;
  std::map<const CLI::App*, std::string> usages_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
};

// Options that all verbs share; they may stand anywhere on the line.
void add_globals(Verbs& verbs, Globals& globals);

// All of the above on one tree.
void add_all_verbs(Verbs& verbs);

// The program behind run_cli, on streams of the caller's.
int run_args(std::vector<std::string> args, const Hooks& hooks, std::ostream& out,
             std::ostream& err);

// A usage error in a sentence, with what was probably meant.
std::string explain_usage_error(CLI::App& root, const CLI::ParseError& error);

// What follows "there is no ": the kind, the word, and what was probably meant.
std::string unknown_word(const std::string& kind, const std::string& word,
                         const std::vector<std::string>& candidates);
// The verbs below a noun or the root that people see, and how one is called: "atoll ns create".
std::vector<std::string> verb_names(const CLI::App* app);
std::string full_name(const CLI::App* app);

// Takes off `args` (without the program's name) what belongs to another program and puts it where
// the verb's Tail says.
void take_tail(const Verbs& verbs, CLI::App& root, std::vector<std::string>& args);

// Every verb, in the order of the help page.
void add_server_verbs(Verbs& verbs);  // up down
void add_submit_verbs(Verbs& verbs);  // submit run
void add_workflow_verbs(Verbs& verbs);
void add_graph_verb(Verbs& verbs, CLI::App* noun);  // of workflow
void add_report_verbs(Verbs& verbs);                // report check
void add_cc_verbs(Verbs& verbs);                    // cc start, stop, status, doc, workflow
void add_wait_verb(Verbs& verbs);
void add_ps_verb(Verbs& verbs);
void add_show_verbs(Verbs& verbs);  // show explain
void add_logs_verb(Verbs& verbs);
void add_exec_verb(Verbs& verbs);
void add_files_verbs(Verbs& verbs);    // files cp
void add_control_verbs(Verbs& verbs);  // cancel hold release requeue change
void add_top_verb(Verbs& verbs);
void add_events_verb(Verbs& verbs);
void add_cohort_verbs(Verbs& verbs);
void add_calendar_verbs(Verbs& verbs);
void add_reservation_verbs(Verbs& verbs);
void add_node_verbs(Verbs& verbs);
void add_fair_verb(Verbs& verbs);
void add_tier_verbs(Verbs& verbs);
void add_apply_verbs(Verbs& verbs);  // apply export
void add_ns_verbs(Verbs& verbs);
void add_ns_share_verbs(Verbs& verbs, CLI::App* noun);  // weight cohort borrow, of ns
void add_user_verbs(Verbs& verbs);                      // user, whoami
void add_token_verbs(Verbs& verbs);
void add_site_verbs(Verbs& verbs);
void add_login_verb(Verbs& verbs);
void add_backup_verbs(Verbs& verbs);  // backup restore internal-snapshot
void add_doctor_verb(Verbs& verbs);
void add_simulate_verbs(Verbs& verbs);  // simulate, simulate generate, simulate export
void add_simulate_export_verb(Verbs& verbs, CLI::App* parent);
void add_completion_verb(Verbs& verbs);
void add_version_verb(Verbs& verbs);  // version help
void add_secret_verbs(Verbs& verbs);
void add_queue_verbs(Verbs& verbs);
void add_schedule_verbs(Verbs& verbs);
void add_queue_item_verbs(Verbs& verbs, CLI::App* noun);  // put lease done retry extend, of queue
void add_queue_work_verb(Verbs& verbs, CLI::App* noun);

}  // namespace atl::cli
