#include "cli/help.h"

#include <algorithm>
#include <sstream>

#include "cli/display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

constexpr int kVerbColumn = 14;
constexpr int kOptionColumn = 30;

int page_width() { return std::clamp(terminal_width(), 60, 100); }

std::string option_name(const CLI::Option* option) {
  std::string name;
  for (const std::string& letter : option->get_snames())
    name += (name.empty() ? "-" : ", -") + letter;
  for (const std::string& word : option->get_lnames())
    name += (name.empty() ? "    --" : ", --") + word;
  if (option->get_items_expected_max() > 0 && !option->get_type_name().empty()) {
    name += " " + option->get_type_name();
  }
  return name;
}

bool shown(const CLI::Option* option) {
  return option->nonpositional() && !option->get_group().empty();
}

}  // namespace

std::string two_columns(const std::string& left, const std::string& right, int left_width,
                        int width) {
  std::string out = "  " + pad(left, left_width, Align::left);
  int used = 2 + std::max(left_width, display_width(left));
  const std::string margin(static_cast<std::size_t>(left_width + 2), ' ');
  if (display_width(left) >= left_width && !right.empty()) {
    out += "\n" + margin;
    used = left_width + 2;
  }
  std::istringstream words(right);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    const int more = display_width(word) + (first ? 0 : 1);
    if (!first && used + more > width) {
      out += "\n" + margin + word;
      used = left_width + 2 + display_width(word);
      continue;
    }
    out += (first ? "" : " ") + word;
    used += more;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  std::string out = app->get_description() + "\n\n" + make_usage(app, std::move(name));
  out += make_positionals(app) + make_subcommands(app, mode);
  std::string groups = make_groups(app, mode);
  while (groups.find("\n\n\n") != std::string::npos)
    groups.replace(groups.find("\n\n\n"), 3, "\n\n");
  if (!groups.empty()) out += (groups.starts_with("\n") ? "" : "\n") + groups;
  while (out.ends_with("\n\n")) out.pop_back();
  if (!app->get_footer().empty()) out += "\n" + app->get_footer() + "\n";
  if (app->get_parent()) {
    out +=
        "\nOptions of every verb (--home, --url, --context, -o, -q, --color) are in `atoll "
        "--help`.\n";
  }
  return out;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string out = "Usage: " + name;
  if (!app->get_options(shown).empty()) out += " [OPTIONS]";
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) out += " " + make_option_usage(option);
  }
  const auto named = [](const CLI::App* sub) { return !sub->get_group().empty(); };
  if (!app->get_subcommands(named).empty()) out += app->get_parent() ? " VERB" : " VERB …";
  const std::string tail = verbs_.usage_of(app);
  return out + (tail.empty() ? "" : " " + tail) + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const std::string name = is_positional ? make_option_name(option, true) : option_name(option);
  return two_columns(name, option->get_description(), is_positional ? kVerbColumn : kOptionColumn,
                     page_width());
}

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  return two_columns(sub->get_name(), sub->get_description(), kVerbColumn, page_width());
}

}  // namespace atl::cli
