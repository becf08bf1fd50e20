// completion: scripts for shells, made from the tree of verbs itself.
#include "cli/completion.h"

#include <ostream>
#include <sstream>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

bool is_shown(const CLI::App* app) { return !app->get_group().empty(); }

std::string options_of(const CLI::App* app) {
  std::string out;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) out += (out.empty() ? "--" : " --") + name;
  }
  return out;
}

std::string verbs_of(const CLI::App* app) {
  std::string out;
  for (const CLI::App* sub : app->get_subcommands(is_shown))
    out += (out.empty() ? "" : " ") + sub->get_name();
  return out;
}

// Calls fn for every verb and noun with its words joined by `separator`.
void each_verb(const CLI::App* app, const std::string& prefix, char separator,
               const std::function<void(const CLI::App*, const std::string&)>& fn) {
  for (const CLI::App* sub : app->get_subcommands(is_shown)) {
    const std::string name =
        prefix.empty() ? sub->get_name() : prefix + separator + sub->get_name();
    fn(sub, name);
    each_verb(sub, name, separator, fn);
  }
}

std::string escaped(std::string text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void bash_cases(std::ostream& out, const CLI::App& root) {
  const std::string globals = options_of(&root);
  out << "    '') words='" << verbs_of(&root) << " " << globals << "' ;;\n";
  each_verb(&root, "", ' ', [&](const CLI::App* app, const std::string& name) {
    const std::string verbs = verbs_of(app);
    out << "    '" << name << "') words='"
        << (verbs.empty() ? options_of(app) + " " + globals : verbs) << "' ;;\n";
  });
}

std::string bash(const CLI::App& root) {
  std::ostringstream out;
  std::string nouns;
  each_verb(&root, "", ' ', [&](const CLI::App* app, const std::string& name) {
    if (!verbs_of(app).empty()) nouns += (nouns.empty() ? "" : "|") + name;
  });
  out << "# eval \"$(atoll completion bash)\"\n"
         "_atoll() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} path='' word words i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    word=${COMP_WORDS[i]}\n"
         "    [[ $word == -* ]] && continue\n"
         "    if [[ -z $path ]]; then path=$word; else\n"
         "      case $path in "
      << nouns
      << ") path=\"$path $word\" ;; esac\n"
         "      break\n"
         "    fi\n"
         "  done\n"
         "  case $path in\n";
  bash_cases(out, root);
  out << "    *) words='' ;;\n"
         "  esac\n"
         "  case $path in\n"
         "    cancel|hold|release|requeue|change|show|logs|wait|explain|exec|files)\n"
         "      [[ $current != -* ]] && words=\"last $(atoll ps -a -q --limit 50 2>/dev/null)\" "
         ";;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _atoll atoll\n";
  return out.str();
}

std::string fish(const CLI::App& root) {
  std::ostringstream out;
  const auto describe = [](const std::string& text) { return "'" + escaped(text, "'\\") + "'"; };
  const auto options = [&](const CLI::App* app, const std::string& condition) {
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_lnames().empty()) continue;
      out << "complete -c atoll" << condition << " -l " << option->get_lnames().front();
      if (!option->get_snames().empty()) out << " -s " << option->get_snames().front();
      if (option->get_items_expected_max() > 0) out << " -r";
      out << " -d " << describe(option->get_description()) << "\n";
    }
  };
  out << "# atoll completion fish | source\n";
  options(&root, "");
  for (const CLI::App* verb : root.get_subcommands(is_shown)) {
    out << "complete -c atoll -n __fish_use_subcommand -f -a " << verb->get_name() << " -d "
        << describe(verb->get_description()) << "\n";
    const std::string seen = " -n '__fish_seen_subcommand_from " + verb->get_name() + "'";
    options(verb, seen);
    for (const CLI::App* sub : verb->get_subcommands(is_shown)) {
      out << "complete -c atoll" << seen << " -f -a " << sub->get_name() << " -d "
          << describe(sub->get_description()) << "\n";
    }
  }
  return out.str();
}

std::string zsh_options(const CLI::App* app) {
  std::string out;
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string value = option->get_items_expected_max() > 0
                                  ? ":" + escaped(option->get_type_name(), "'[]:") + ":_files"
                                  : "";
    out += " '--" + option->get_lnames().front() + "[" + escaped(option->get_description(), "[]:") +
           "]" + value + "'";
  }
  // A quote inside quotes would end them.
  return out;
}

std::string zsh_list(const CLI::App* app) {
  std::string out;
  for (const CLI::App* sub : app->get_subcommands(is_shown)) {
    out += " '" + sub->get_name() + ":" + escaped(sub->get_description(), ":") + "'";
  }
  return out;
}

std::string without_quotes(std::string text) {
  // Inside single quotes zsh knows no escape; the helps have apostrophes.
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside = text[i] == '\'' && i > 0 && i + 1 < text.size() &&
                        std::isalpha(static_cast<unsigned char>(text[i - 1])) &&
                        std::isalpha(static_cast<unsigned char>(text[i + 1]));
    inside ? void(out += "'\\''") : void(out += text[i]);
  }
  return out;
}

std::string zsh(const CLI::App& root) {
  std::ostringstream out;
  out << "#compdef atoll\n"
         "# eval \"$(atoll completion zsh)\"\n"
         "_atoll() {\n"
         "  local -a verbs\n"
         "  local line state\n"
         "  _arguments -C"
      << zsh_options(&root)
      << " '1: :->verb' '*:: :->rest'\n"
         "  case $state in\n"
         "    verb) verbs=("
      << zsh_list(&root)
      << "); _describe verb verbs ;;\n"
         "    rest)\n"
         "      case $words[1] in\n";
  for (const CLI::App* verb : root.get_subcommands(is_shown)) {
    if (!verbs_of(verb).empty()) {
      out << "        " << verb->get_name() << ") verbs=(" << zsh_list(verb)
          << "); _describe verb verbs ;;\n";
    } else {
      out << "        " << verb->get_name() << ") _arguments" << zsh_options(verb)
          << " '*:file:_files' ;;\n";
    }
  }
  out << "      esac ;;\n"
         "  esac\n"
         "}\n"
         "compdef _atoll atoll\n";
  return without_quotes(out.str());
}

}  // namespace

Result<std::string> completion_script(const CLI::App& root, const std::string& shell) {
  if (shell == "bash") return bash(root);
  if (shell == "zsh") return zsh(root);
  if (shell == "fish") return fish(root);
  return fail(ErrorCode::invalid, quote(shell) + " is not one of bash, zsh, fish");
}

void add_completion_verb(Verbs& verbs) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = verbs.add(nullptr, "completion", "Print a completion script for a shell",
                             "eval \"$(atoll completion bash)\"             in ~/.bashrc\n"
                             "atoll completion fish > ~/.config/fish/completions/atoll.fish",
                             [shell, &verbs](Session& session) -> Result<int> {
                               const auto script = completion_script(verbs.root(), *shell);
                               if (!script) return tl::unexpected(script.error());
                               session.out << *script;
                               return kExitOk;
                             });
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required();
}

}  // namespace atl::cli
