#include "cli/verbs.h"

#include <algorithm>

#include "cli/help.h"

namespace atl::cli {
namespace {

constexpr const char* kAbout =
    "Atoll turns the computers a research group has into one shared machine-learning platform.";

constexpr const char* kRootExamples =
    "Examples:\n"
    "  atoll up                                start the server here\n"
    "  atoll run -- python3 train.py           run, follow the output, return its exit code\n"
    "  atoll submit --gpus 1 --time 2h job.sh  queue a script and print its id\n"
    "  atoll ps                                what runs and what waits, and why\n"
    "\n"
    "`atoll help VERB` says more about each.";

std::string indented(const std::string& lines) {
  std::string out = "  ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

std::string examples_footer(const std::string& examples) {
  const char* title = examples.find('\n') == std::string::npos ? "Example:\n" : "Examples:\n";
  return examples.empty() ? "" : title + indented(examples);
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  for (const CLI::App* at = &app; at; at = at->get_parent()) {
    if (const auto* option = at->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

// Whether the word after this one is the option's value.
bool takes_next_word(const CLI::App& app, const std::string& word) {
  if (word.starts_with("--")) {
    if (word.find('=') != std::string::npos) return false;
    const auto* option = find_option(app, word);
    return option && option->get_items_expected_min() > 0;
  }
  // -qc 4: letters without a value may precede one with; -c4 carries its own.
  for (std::size_t i = 1; i < word.size(); ++i) {
    const auto* option = find_option(app, std::string("-") + word[i]);
    if (option && option->get_items_expected_min() > 0) return i + 1 == word.size();
  }
  return false;
}

// Goes through words until `positionals` of them were not options; where it stopped.
std::size_t skip_words(const CLI::App& app, const std::vector<std::string>& args, std::size_t from,
                       std::size_t positionals) {
  std::size_t at = from;
  while (at < args.size()) {
    const std::string& word = args[at];
    if (word == "--") break;
    if (word.size() > 1 && word[0] == '-') {
      at += takes_next_word(app, word) ? 2 : 1;
    } else if (positionals-- == 0) {
      break;
    } else {
      ++at;
    }
  }
  return std::min(at, args.size());
}

}  // namespace

Verbs::Verbs() : root_(kAbout, "atoll") {
  auto formatter = std::make_shared<HelpFormatter>(*this);
  formatter->label("Positionals", "Arguments");
  root_.formatter(std::move(formatter));
  root_.set_help_flag("-h,--help", "Show this help");
  root_.set_version_flag("--version", "atoll " ATOLL_VERSION, "Show the version");
  root_.fallthrough();
  root_.require_subcommand(1);
  root_.footer(kRootExamples);
}

CLI::App* Verbs::add(CLI::App* parent, const std::string& name, const std::string& sentence,
                     const std::string& examples, Action action) {
  CLI::App* verb = (parent ? *parent : root_).add_subcommand(name, sentence);
  verb->group(parent ? "Verbs" : group_);
  verb->footer(examples_footer(examples));
  actions_[verb] = std::move(action);
  return verb;
}

CLI::App* Verbs::add_noun(const std::string& name, const std::string& sentence,
                          const std::string& examples) {
  CLI::App* noun = root_.add_subcommand(name, sentence);
  noun->group(group_);
  noun->footer(examples_footer(examples));
  noun->require_subcommand(1);
  return noun;
}

void Verbs::set_note(CLI::App* verb, const std::string& lines) {
  verb->footer(verb->get_footer() + "\n\n" + lines);
}

void Verbs::set_tail(CLI::App* verb, Tail tail, std::string usage) {
  tails_[verb] = tail;
  usages_[verb] = std::move(usage);
}

const Tail* Verbs::tail_of(const CLI::App* verb) const {
  const auto found = tails_.find(verb);
  return found == tails_.end() ? nullptr : &found->second;
}

std::string Verbs::usage_of(const CLI::App* verb) const {
  const auto found = usages_.find(verb);
  return found == usages_.end() ? "" : found->second;
}

const Action* Verbs::action_of(const CLI::App* verb) const {
  const auto found = actions_.find(verb);
  return found == actions_.end() ? nullptr : &found->second;
}

void Verbs::set_choices(const CLI::Option* option, std::vector<std::string> words) {
  choices_[option] = std::move(words);
}

const std::vector<std::string>& Verbs::choices_of(const CLI::Option* option) const {
  static const std::vector<std::string> kAny;
  const auto found = choices_.find(option);
  return found == choices_.end() ? kAny : found->second;
}

void take_tail(const Verbs& verbs, CLI::App& root, std::vector<std::string>& args) {
  std::size_t at = skip_words(root, args, 0, 0);
  CLI::App* verb = &root;
  const Tail* tail = nullptr;
  // A noun's verbs come after it: atoll queue work NAME -- COMMAND.
  while (!tail) {
    if (at >= args.size()) return;
    const auto found =
        verb->get_subcommands([&](CLI::App* sub) { return sub->check_name(args[at]); });
    if (found.empty()) return;
    verb = found.front();
    tail = verbs.tail_of(verb);
    if (!tail) at = skip_words(*verb, args, at + 1, 0);
  }
  const std::size_t end = skip_words(*verb, args, at + 1, tail->before);
  const bool marked = end < args.size() && args[end] == "--";
  if (tail->marked) *tail->marked = marked;
  const bool alone = !marked && tail->alone && end < args.size() && tail->alone(args[end]);
  const auto first = args.begin() + static_cast<std::ptrdiff_t>(end);
  const auto last = alone ? first + 1 : args.end();
  tail->words->assign(first + (marked ? 1 : 0), last);
  args.erase(first, last);
}

void add_all_verbs(Verbs& verbs) {
  verbs.heading("Work");
  add_submit_verbs(verbs);
  add_workflow_verbs(verbs);
  add_report_verbs(verbs);
  add_cc_verbs(verbs);
  add_wait_verb(verbs);
  add_ps_verb(verbs);
  add_show_verbs(verbs);
  add_logs_verb(verbs);
  add_top_verb(verbs);
  add_exec_verb(verbs);
  add_files_verbs(verbs);
  add_control_verbs(verbs);
  add_events_verb(verbs);
  add_queue_verbs(verbs);
  add_secret_verbs(verbs);
  add_schedule_verbs(verbs);
  verbs.heading("Server");
  add_server_verbs(verbs);
  add_doctor_verb(verbs);
  add_backup_verbs(verbs);
  add_site_verbs(verbs);
  add_node_verbs(verbs);
  verbs.heading("Sharing");
  add_fair_verb(verbs);
  add_tier_verbs(verbs);
  add_cohort_verbs(verbs);
  add_calendar_verbs(verbs);
  add_reservation_verbs(verbs);
  add_apply_verbs(verbs);
  add_simulate_verbs(verbs);
  verbs.heading("People");
  add_ns_verbs(verbs);
  add_user_verbs(verbs);
  add_token_verbs(verbs);
  verbs.heading("This program");
  add_login_verb(verbs);
  add_completion_verb(verbs);
  add_version_verb(verbs);
}

}  // namespace atl::cli
