// token: what opens the API to programs and other machines.
#include <ostream>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

struct TokenFlags {
  std::string user;
  std::string note;
  std::string expires;
  bool read_only = false;
  bool jwt = false;
  std::vector<std::string> namespaces;
};

std::string body_of(const TokenFlags& flags) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object();
  if (!flags.user.empty()) json.member("user", flags.user);
  if (!flags.note.empty()) json.member("note", flags.note);
  if (!flags.expires.empty())
    json.member("expires_in", flags.expires == "never" ? "0" : flags.expires);
  if (flags.read_only) json.member("read_only", true);
  if (flags.jwt) json.member("jwt", true);
  if (!flags.namespaces.empty()) {
    json.key("namespaces").begin_array();
    for (const std::string& ns : flags.namespaces) json.text(ns);
    json.end_array();
  }
  json.end_object();
  return body;
}

Result<int> create(Session& session, const TokenFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto made = (*api)->post("/tokens", body_of(flags));
  if (!made) return tl::unexpected(made.error());
  print_one(session, *made, "token", [&] { return printable(made->text("token")) + "\n"; });
  if (session.for_people()) {
    const std::string expires = made->text("expires");
    session.say("shown only now; it " + (expires.empty() ? std::string("never expires")
                                                         : "expires " + show_local_time(expires)));
  }
  return kExitOk;
}

View token_view() {
  return {.columns = {{{.title = "ID", .align = Align::right}, cell_text("id")},
                      {{.title = "USER", .least = 6}, cell_text("user")},
                      {{.title = "NOTE", .least = 8}, cell_text("note")},
                      {{.title = "ACCESS"},
                       [](const Json& token) {
                         return Cell{token["read_only"].truth() ? "read only" : "full"};
                       }},
                      {{.title = "NAMESPACES", .least = 8},
                       [](const Json& token) {
                         std::string names;
                         for (const Json& ns : token["namespaces"].items())
                           names += (names.empty() ? "" : ",") + ns.text();
                         return Cell{names};
                       }},
                      {{.title = "CREATED"}, cell_time("created")},
                      {{.title = "EXPIRES"},
                       [](const Json& token) {
                         const std::string when = token.text("expires");
                         return Cell{when.empty() ? "never" : show_local_time(when).substr(0, 16)};
                       }}},
          .name_key = "id"};
}

}  // namespace

void add_token_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun("token", "Tokens for programs: create, list, revoke",
                                  "atoll token create --note laptop --expires 30d\n"
                                  "atoll token list\natoll token revoke 3");
  auto flags = std::make_shared<TokenFlags>();
  CLI::App* verb = verbs.add(noun, "create", "Create a token; it is shown once",
                             "atoll token create --note laptop --expires 30d\n"
                             "atoll token create --read-only --ns vision\n"
                             "atoll token create --jwt                     # for tapipy",
                             [flags](Session& session) { return create(session, *flags); });
  verb->add_option("--note", flags->note, "What it is for")->type_name("TEXT");
  verb->add_option("--expires", flags->expires, "How long it lives, or `never` (90d)")
      ->type_name("DURATION");
  verb->add_flag("--read-only", flags->read_only, "It may only read");
  verb->add_flag("--jwt", flags->jwt, "In the shape of a JWT, as clients of Tapis want it");
  verb->add_option("--ns", flags->namespaces, "It opens only this namespace; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAMESPACE");
  verb->add_option("--user", flags->user, "Whose it is, for administrators (you)")
      ->type_name("USER");

  verbs.add(noun, "list", "List tokens, without their secrets", "atoll token list",
            [](Session& session) { return show_list(session, "/tokens", token_view()); });

  auto id = std::make_shared<std::string>();
  verb = verbs.add(noun, "revoke", "Make a token worthless, at once", "atoll token revoke 3",
                   [id](Session& session) {
                     return do_and_say(session, "DELETE", "/tokens/" + encode(*id), "", *id,
                                       "revoked token " + *id);
                   });
  verb->add_option("ID", *id, "As in `atoll token list`")->required();
}

}  // namespace atl::cli
