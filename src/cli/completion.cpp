// completion: scripts for shells, made from the tree of verbs itself.
#include "cli/completion.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "base/text.h"
#include "cli/exit.h"

namespace atl::cli {
namespace {

bool is_shown(const CLI::App* app) { return !app->get_group().empty(); }

bool takes_value(const CLI::Option* option) { return option->get_items_expected_max() > 0; }

// The options that people see, without positionals.
std::vector<const CLI::Option*> options_of(const CLI::App* app) {
  std::vector<const CLI::Option*> out;
  for (const CLI::Option* option : app->get_options()) {
    if (option->nonpositional() && !option->get_group().empty()) out.push_back(option);
  }
  return out;
}

std::vector<std::string> spellings(const CLI::Option* option) {
  std::vector<std::string> out;
  for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  for (const std::string& letter : option->get_snames()) out.push_back("-" + letter);
  return out;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator = " ") {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : separator) + word;
  return out;
}

std::string long_options(const CLI::App* app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  return joined(out);
}

// Whether words other than options follow it, such as files.
bool takes_words(const Verbs& verbs, const CLI::App* app) {
  const auto options = app->get_options();
  return verbs.tail_of(app) || std::any_of(options.begin(), options.end(), [](const auto* option) {
           return !option->nonpositional();
         });
}

// Those whose value is the word after them, so that it is not taken for a verb.
std::string valued_options(const CLI::App* app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : options_of(app)) {
    if (takes_value(option)) out.push_back(joined(spellings(option)));
  }
  return joined(out);
}

// Every verb and noun with its words: "ns create".
using EachVerb = std::function<void(const CLI::App*, const std::string& path)>;
void each_verb(const CLI::App* app, const std::string& prefix, const EachVerb& fn) {
  for (const CLI::App* sub : app->get_subcommands(is_shown)) {
    const std::string path = prefix.empty() ? sub->get_name() : prefix + " " + sub->get_name();
    fn(sub, path);
    each_verb(sub, path, fn);
  }
}

// In quotes: some are two words.
std::vector<std::string> nouns_of(const CLI::App& root) {
  std::vector<std::string> nouns;
  each_verb(&root, "", [&](const CLI::App* app, const std::string& path) {
    if (!verb_names(app).empty()) nouns.push_back("'" + path + "'");
  });
  return nouns;
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// bash

void bash_paths(std::ostream& out, const Verbs& verbs) {
  const CLI::App& root = verbs.root();
  const std::string options = long_options(&root);
  const std::string valued = valued_options(&root);
  out << "    '') words='" << joined(verb_names(&root)) << " " << options << "' valued='" << valued
      << "' files='' ;;\n";
  each_verb(&root, "", [&](const CLI::App* app, const std::string& path) {
    const std::string below = joined(verb_names(app));
    out << "    '" << path << "') words='"
        << (below.empty() ? long_options(app) + " " + options : below) << "' valued='"
        << valued_options(app) << " " << valued << "' files='"
        << (takes_words(verbs, app) ? "1" : "") << "' ;;\n";
  });
}

void bash_choices(std::ostream& out, const Verbs& verbs) {
  const auto lines = [&](const CLI::App* app, const std::string& path) {
    for (const CLI::Option* option : app->get_options()) {
      const std::vector<std::string>& choices = verbs.choices_of(option);
      if (choices.empty() || !option->nonpositional()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : spellings(option))
        patterns.push_back(path.empty() ? "*' " + name + "'" : "'" + path + " " + name + "'");
      out << "    " << joined(patterns, "|") << ") words='" << joined(choices) << "' ;;\n";
    }
  };
  each_verb(&verbs.root(), "", lines);
  lines(&verbs.root(), "");
}

constexpr const char* kBashWalk =
    "  local current=${COMP_WORDS[COMP_CWORD]} path='' option='' value='' word words valued files "
    "i\n"
    "  local -a server=()\n"
    "  _atoll_at ''\n"
    "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "    word=${COMP_WORDS[i]}\n"
    "    [[ $word == -- ]] && return\n"
    "    if [[ $word == = ]]; then value=1; continue; fi\n"
    "    if [[ $value ]]; then\n"
    "      case $option in --home|--url|--context) server+=(\"$option\" \"$word\") ;; esac\n"
    "      value=''\n"
    "      continue\n"
    "    fi\n"
    "    if [[ $word == -* ]]; then\n"
    "      option=$word\n"
    "      [[ \" $valued \" == *\" $word \"* ]] && value=1\n"
    "      continue\n"
    "    fi\n"
    "    case $path in ''|";

constexpr const char* kBashEnd =
    "  if [[ $value ]]; then\n"
    "    [[ $current == = ]] && current=''\n"
    "    words=''\n"
    "    _atoll_choices \"$path $option\"\n"
    "  elif [[ $current != -* ]]; then\n"
    "    [[ $files ]] && words=''\n"
    "    case $path in\n"
    "      cancel|hold|release|requeue|change|show|logs|wait|explain|exec|files)\n"
    "        words=\"last $(atoll \"${server[@]}\" ps -a -q --limit 50 2>/dev/null)\" ;;\n"
    "      completion) words='bash zsh fish' ;;\n"
    "    esac\n"
    "  fi\n"
    "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
    "}\n"
    "complete -o default -F _atoll atoll\n";

std::string bash(const Verbs& verbs) {
  std::ostringstream out;
  out << "# eval \"$(atoll completion bash)\"\n"
         "_atoll_at() {\n"
         "  case $1 in\n";
  bash_paths(out, verbs);
  out << "    *) words='' valued='' files='' ;;\n"
         "  esac\n"
         "}\n"
         "_atoll_choices() {\n"
         "  case $1 in\n";
  bash_choices(out, verbs);
  out << "  esac\n"
         "}\n"
         "_atoll() {\n"
      << kBashWalk << joined(nouns_of(verbs.root()), "|")
      << ") path=${path:+$path }$word; _atoll_at \"$path\" ;; esac\n"
         "  done\n"
      << kBashEnd;
  return out.str();
}

// fish

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "'\\") + "'"; }

constexpr const char* kFishWalk =
    "# The verb that the line has come to: options and their values do not count.\n"
    "function __atoll_path\n"
    "  set -l tokens (commandline -opc)\n"
    "  set -e tokens[1]\n"
    "  set -l path ''\n"
    "  set -l value 0\n"
    "  for token in $tokens\n"
    "    if test $value = 1\n"
    "      set value 0\n"
    "      continue\n"
    "    end\n"
    "    switch $token\n"
    "      case '--*=*'\n"
    "      case '-*'\n"
    "        contains -- $token (__atoll_valued $path); and set value 1\n"
    "      case '*'\n"
    "        switch $path\n"
    "          case ''\n"
    "            set path $token\n"
    "          case ";

void fish_options(std::ostream& out, const Verbs& verbs, const CLI::App* app,
                  const std::string& condition) {
  for (const CLI::Option* option : options_of(app)) {
    if (option->get_lnames().empty()) continue;
    out << "complete -c atoll" << condition << " -l " << option->get_lnames().front();
    if (!option->get_snames().empty()) out << " -s " << option->get_snames().front();
    const std::vector<std::string>& choices = verbs.choices_of(option);
    if (!choices.empty())
      out << " -x -a " << fish_quoted(joined(choices));
    else if (takes_value(option))
      out << " -r";
    out << " -d " << fish_quoted(option->get_description()) << "\n";
  }
}

std::string fish(const Verbs& verbs) {
  std::ostringstream out;
  const CLI::App& root = verbs.root();
  const auto at = [](const std::string& path) {
    return " -n 'test (__atoll_path) = \"" + path + "\"'";
  };
  out << "# atoll completion fish | source\n"
         "function __atoll_valued\n"
         "  string split ' ' -- '"
      << valued_options(&root) << "'\n  switch \"$argv\"\n";
  each_verb(&root, "", [&](const CLI::App* app, const std::string& path) {
    if (const std::string valued = valued_options(app); !valued.empty())
      out << "    case '" << path << "'\n      string split ' ' -- '" << valued << "'\n";
  });
  out << "  end\nend\n"
      << kFishWalk << joined(nouns_of(root))
      << "\n            set path \"$path $token\"\n        end\n    end\n  end\n  echo "
         "$path\nend\n";
  fish_options(out, verbs, &root, "");
  const auto names = [&](const CLI::App* app, const std::string& path) {
    for (const CLI::App* sub : app->get_subcommands(is_shown)) {
      out << "complete -c atoll" << at(path) << " -f -a " << sub->get_name() << " -d "
          << fish_quoted(sub->get_description()) << "\n";
    }
  };
  names(&root, "");
  each_verb(&root, "", [&](const CLI::App* app, const std::string& path) {
    names(app, path);
    fish_options(out, verbs, app, at(path));
  });
  return out.str();
}

// zsh

// Inside single quotes, where zsh knows no escape.
std::string zsh_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string zsh_options(const Verbs& verbs, const CLI::App* app) {
  std::string out;
  for (const CLI::Option* option : options_of(app)) {
    const std::vector<std::string>& choices = verbs.choices_of(option);
    std::string about = "[" + escaped(option->get_description(), "[]:\\") + "]";
    if (takes_value(option)) {
      about += ":" + escaped(option->get_type_name(), "[]:\\") + ":";
      about += choices.empty() ? "_files" : "(" + joined(choices) + ")";
    }
    for (const std::string& name : spellings(option)) out += " " + zsh_quoted("*" + name + about);
  }
  return out;
}

std::string zsh_list(const CLI::App* app) {
  std::string out;
  for (const CLI::App* sub : app->get_subcommands(is_shown))
    out += " " + zsh_quoted(sub->get_name() + ":" + escaped(sub->get_description(), ":\\"));
  return out;
}

// The level below `app`: its verbs, then what each of them takes.
void zsh_level(std::ostream& out, const Verbs& verbs, const CLI::App* app, const std::string& pad) {
  const std::string globals = zsh_options(verbs, &verbs.root());
  out << pad << "_arguments -C" << globals << " '1: :->verb' '*:: :->rest'\n"
      << pad << "case $state in\n"
      << pad << "  verb) verbs=(" << zsh_list(app) << "); _describe verb verbs ;;\n"
      << pad << "  rest)\n"
      << pad << "    case $words[1] in\n";
  for (const CLI::App* verb : app->get_subcommands(is_shown)) {
    out << pad << "      " << verb->get_name() << ")\n";
    if (verb_names(verb).empty()) {
      out << pad << "        _arguments" << globals << zsh_options(verbs, verb)
          << " '*:file:_files' ;;\n";
    } else {
      zsh_level(out, verbs, verb, pad + "        ");
      out << pad << "        ;;\n";
    }
  }
  out << pad << "    esac ;;\n" << pad << "esac\n";
}

std::string zsh(const Verbs& verbs) {
  std::ostringstream out;
  out << "#compdef atoll\n"
         "# eval \"$(atoll completion zsh)\"\n"
         "_atoll() {\n"
         "  local -a verbs\n"
         "  local curcontext=\"$curcontext\" line state\n";
  zsh_level(out, verbs, &verbs.root(), "  ");
  out << "}\n"
         "compdef _atoll atoll\n";
  return out.str();
}

}  // namespace

Result<std::string> completion_script(const Verbs& verbs, const std::string& shell) {
  if (shell == "bash") return bash(verbs);
  if (shell == "zsh") return zsh(verbs);
  if (shell == "fish") return fish(verbs);
  return fail(ErrorCode::invalid, quote(shell) + " is not one of bash, zsh, fish");
}

void add_completion_verb(Verbs& verbs) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = verbs.add(nullptr, "completion", "Print a completion script for a shell",
                             "eval \"$(atoll completion bash)\"             in ~/.bashrc\n"
                             "atoll completion fish > ~/.config/fish/completions/atoll.fish",
                             [shell, &verbs](Session& session) -> Result<int> {
                               const auto script = completion_script(verbs, *shell);
                               if (!script) return tl::unexpected(script.error());
                               session.out << *script;
                               return kExitOk;
                             });
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required();
}

}  // namespace atl::cli
