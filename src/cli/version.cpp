// version: of this program, and of the server it reaches.
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

}  // namespace

void add_version_verb(Verbs& verbs) {
  verbs.add(nullptr, "version", "Show the versions of this program and of the server",
            "atoll version -o json", version);
}

}  // namespace atl::cli
