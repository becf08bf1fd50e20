#include "cli/cli.h"

#include <algorithm>
#include <clocale>
#include <iostream>

#include "base/text.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

CLI::App* deepest_parsed(CLI::App& root) {
  CLI::App* at = &root;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().back();
  return at;
}

// What could have stood in place of an unknown option.
std::vector<std::string> option_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::string explain_extras(CLI::App& root) {
  const CLI::App* verb = deepest_parsed(root);
  const bool takes_verbs = !verb_names(verb).empty();
  for (std::string word : root.remaining(true)) {
    if (word.size() > 1 && word[0] == '-') {
      word = word.substr(0, word.find('='));
      return unknown_word("option", word, option_names(verb)) + "\nsee `" + full_name(verb) +
             " --help`";
    }
    if (takes_verbs) {
      return unknown_word(verb->get_parent() ? "verb" : "command", word, verb_names(verb)) +
             "\nsee `" + full_name(verb) + " --help`";
    }
    return quote(word) + " is one argument too many\nsee `" + full_name(verb) + " --help`";
  }
  return "too many arguments";
}

int run_verb(Verbs& verbs, Session& session) {
  const Action* action = verbs.action_of(deepest_parsed(verbs.root()));
  const Result<int> done = action ? (*action)(session) : Result<int>(kExitUsage);
  session.out.flush();
  if (done) return *done;
  session.err << paint("atoll:", Color::bad, session.terminal.color_err) << " "
              << printable(done.error().message, true) << "\n";
  return exit_code(done.error());
}

// An option whose value is one of a few words.
template <class T>
void add_choice(Verbs& verbs, const std::string& names, T& value,
                const std::map<std::string, T>& words, const std::string& sentence,
                const std::string& metavar) {
  CLI::Option* option = verbs.root().add_option_function<std::string>(
      names,
      [&value, words, names](const std::string& text) {
        const auto found = words.find(text);
        if (found == words.end()) {
          std::string all;
          for (const auto& [word, meaning] : words) all += (all.empty() ? "" : ", ") + word;
          throw CLI::ValidationError(names, quote(text) + " is not one of " + all);
        }
        value = found->second;
      },
      sentence);
  option->type_name(metavar);
  std::vector<std::string> all;
  for (const auto& [word, meaning] : words) all.push_back(word);
  verbs.set_choices(option, std::move(all));
}

}  // namespace

std::vector<std::string> verb_names(const CLI::App* app) {
  std::vector<std::string> names;
  const auto named = [](const CLI::App* sub) { return !sub->get_group().empty(); };
  for (const CLI::App* sub : app->get_subcommands(named)) names.push_back(sub->get_name());
  return names;
}

std::string full_name(const CLI::App* app) {
  return app->get_parent() ? full_name(app->get_parent()) + " " + app->get_name() : "atoll";
}

std::string unknown_word(const std::string& kind, const std::string& word,
                         const std::vector<std::string>& candidates) {
  const auto near = did_you_mean(word, candidates);
  return "there is no " + kind + " " + quote(word) + (near ? "; did you mean " + *near + "?" : "");
}

namespace {

// An option's own complaint, which names the field behind it once more: "--cpus: cpus: …".
std::string without_field(const std::string& message) {
  const std::size_t option = message.starts_with("-") ? message.find(": ") : std::string::npos;
  if (option == std::string::npos) return message;
  const std::size_t begin = option + 2;
  const std::size_t end = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.", begin);
  const bool field = end != std::string::npos && end > begin && message.substr(end, 2) == ": ";
  return field ? message.substr(0, begin) + message.substr(end + 2) : message;
}

}  // namespace

std::string explain_usage_error(CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* verb = deepest_parsed(root);
  const std::string see = "\nsee `" + full_name(verb) + " --help`";
  if (!root.remaining(true).empty()) return explain_extras(root);
  if (dynamic_cast<const CLI::RequiredError*>(&error) && !verb_names(verb).empty()) {
    return "say what to do: `" + full_name(verb) + " VERB`, such as " + full_name(verb) + " " +
           verb_names(verb).front() + see;
  }
  return printable(without_field(error.what())) + see;
}

void add_globals(Verbs& verbs, Globals& globals) {
  CLI::App& root = verbs.root();
  root.add_option("--home", globals.target.home,
                  "Data directory (ATOLL_HOME; ~/.local/share/atoll)")
      ->type_name("DIR");
  root.add_option("--url", globals.target.url, "Server elsewhere (ATOLL_URL, with ATOLL_TOKEN)")
      ->type_name("URL");
  root.add_option("--context", globals.target.context, "Server by the name given to `atoll login`")
      ->type_name("NAME");
  add_choice<Format>(verbs, "-o,--output", globals.format,
                     {{"table", Format::table},
                      {"wide", Format::wide},
                      {"json", Format::json},
                      {"jsonl", Format::jsonl},
                      {"yaml", Format::yaml},
                      {"name", Format::name}},
                     "table, wide, json, jsonl, yaml or name", "FORMAT");
  root.add_flag("-q,--quiet", globals.quiet, "Print names and ids only");
  root.add_flag("--no-headers", globals.no_headers, "Tables without their first line");
  add_choice<ColorChoice>(verbs, "--color", globals.color,
                          {{"auto", ColorChoice::automatic},
                           {"always", ColorChoice::always},
                           {"never", ColorChoice::never}},
                          "auto, always or never (NO_COLOR, CLICOLOR_FORCE)", "WHEN");
}

int run_args(std::vector<std::string> args, const Hooks& hooks, std::ostream& out,
             std::ostream& err) {
  Verbs verbs;
  Globals globals;
  CLI::App& root = verbs.root();
  add_globals(verbs, globals);
  add_all_verbs(verbs);
  if (args.empty()) {
    out << root.help();
    return kExitUsage;
  }
  take_tail(verbs, root, args);
  std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
  try {
    root.parse(args);
  } catch (const CLI::Success& asked) {
    return root.exit(asked, out, err);
  } catch (const CLI::ParseError& error) {
    err << "atoll: " << explain_usage_error(root, error) << "\n";
    return kExitUsage;
  }
  Session session(globals, hooks, out, err);
  return run_verb(verbs, session);
}

int run_cli(int argc, char** argv, const Hooks& hooks) {
  std::setlocale(LC_CTYPE, "");
  std::ios::sync_with_stdio(false);
  return run_args({argv + std::min(argc, 1), argv + argc}, hooks, std::cout, std::cerr);
}

}  // namespace atl::cli
