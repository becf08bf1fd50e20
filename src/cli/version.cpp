// version: of this program, and of the server it reaches. help: the page of a verb.
#include <ostream>

#include "cli/exit.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

Result<int> version(Session& session) {
  auto api = session.api();
  const auto answer = api ? (*api)->get("//version") : Result<Json>(Json());
  std::string text;
  spec::JsonWriter json(text);
  json.begin_object().member("client", ATOLL_VERSION);
  if (answer && !answer->is_null()) json.key("server").raw(answer->compact());
  json.end_object();
  const auto both = Json::parse(text);
  print_one(session, both ? *both : Json(), "client", [&] {
    Card card(session.terminal.color);
    card.line("client", ATOLL_VERSION);
    card.line("server", answer && !answer->is_null() ? answer->text("version") : "not running");
    return card.str();
  });
  return kExitOk;
}

// The page of `--help`, found by the words of the verb.
Result<int> help(Session& session, Verbs& verbs, const std::vector<std::string>& words) {
  CLI::App* at = &verbs.root();
  for (const std::string& word : words) {
    const auto found = at->get_subcommands([&](CLI::App* sub) { return sub->check_name(word); });
    if (found.empty()) {
      const auto names = verb_names(at);
      return fail(ErrorCode::invalid,
                  names.empty() ? full_name(at) + " has no verbs: see `atoll help " +
                                      full_name(at).substr(6) + "`"
                                : unknown_word(at->get_parent() ? "verb" : "command", word, names) +
                                      "\nsee `" + full_name(at) + " --help`");
    }
    at = found.front();
  }
  session.out << at->get_formatter()->make_help(at, full_name(at), CLI::AppFormatMode::Normal);
  return kExitOk;
}

}  // namespace

void add_version_verb(Verbs& verbs) {
  auto words = std::make_shared<std::vector<std::string>>();
  verbs
      .add(nullptr, "help", "Show the help of a verb", "atoll help submit\natoll help ns quota",
           [words, &verbs](Session& session) { return help(session, verbs, *words); })
      ->add_option("VERB", *words, "The verb, or a noun and its verb");
  verbs.add(nullptr, "version", "Show the versions of this program and of the server",
            "atoll version -o json", version);
}

}  // namespace atl::cli
