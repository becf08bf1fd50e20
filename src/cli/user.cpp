// user: who is known to the platform. whoami: who is asking.
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

struct UserFlags {
  std::string name;
  bool admin = false;
  bool off = false;
  std::int64_t uid = -1;
};
using Flags = std::shared_ptr<UserFlags>;

std::string user_path(const std::string& name) { return "/users/" + encode(name); }

template <class T>
std::string member(const char* key, T value) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member(key, value).end_object();
  return body;
}

Result<int> create(Session& session, const UserFlags& flags) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("name", flags.name);
  if (flags.admin) json.member("platform_admin", true);
  if (flags.uid >= 0) json.member("uid", flags.uid);
  json.end_object();
  return do_and_say(session, "POST", "/users", body, flags.name, "created user " + flags.name);
}

Result<int> set_disabled(Session& session, const std::string& name, bool disabled) {
  return do_and_say(session, "PATCH", user_path(name), member("disabled", disabled), name,
                    name + (disabled ? " is shut out" : " is let in again"));
}

Result<int> set_admin(Session& session, const UserFlags& flags) {
  return do_and_say(session, "PATCH", user_path(flags.name), member("platform_admin", !flags.off),
                    flags.name,
                    flags.name + (flags.off ? " is no longer a platform administrator"
                                            : " is a platform administrator"));
}

Result<int> set_account(Session& session, const UserFlags& flags) {
  return do_and_say(session, "PATCH", user_path(flags.name), member("uid", flags.uid), flags.name,
                    flags.name + " is the account " + std::to_string(flags.uid));
}

View user_view() {
  const auto yes = [](const char* key, const char* word) {
    return [key, word](const Json& user) { return Cell{user[key].truth() ? word : ""}; };
  };
  return {.columns = {{{.title = "NAME", .least = 8}, cell_text("name")},
                      {{.title = "ROLE"}, yes("platform_admin", "platform admin")},
                      {{.title = "UID", .align = Align::right}, cell_text("uid")},
                      {{.title = "STATUS"}, yes("disabled", "disabled")}}};
}

Result<int> whoami(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto who = (*api)->get("/whoami");
  if (!who) return tl::unexpected(who.error());
  print_one(session, *who, "name", [&] {
    std::string namespaces;
    for (const auto& [name, role] : (*who)["namespaces"].members())
      namespaces += (namespaces.empty() ? "" : ", ") + name + " (" + role.text() + ")";
    Card card(session.terminal.color);
    card.line("user", who->text("name"), Color::strong);
    card.line("role", (*who)["platform_admin"].truth() ? "platform admin" : "");
    card.line("access", (*who)["read_only"].truth() ? "read only" : "");
    card.line("namespaces", namespaces.empty() ? "none" : namespaces);
    card.line("server", (*api)->target().url);
    return card.str();
  });
  return kExitOk;
}

CLI::App* add(Verbs& verbs, CLI::App* noun, const char* name, const char* sentence,
              const char* example, const Flags& flags,
              Result<int> (*run)(Session&, const UserFlags&)) {
  CLI::App* verb = verbs.add(noun, name, sentence, example,
                             [flags, run](Session& session) { return run(session, *flags); });
  verb->add_option("NAME", flags->name, "The user")->required();
  return verb;
}

}  // namespace

void add_user_verbs(Verbs& verbs) {
  verbs.add(nullptr, "whoami", "Show who you are to the server, and your namespaces",
            "atoll whoami\natoll whoami -q", whoami);
  CLI::App* noun = verbs.add_noun("user", "Users: list, create, account, disable, enable, admin",
                                  "atoll user list\natoll user create ada --uid $(id -u ada)\n"
                                  "atoll user disable ada");
  verbs.add(noun, "list", "List users", "atoll user list",
            [](Session& session) { return show_list(session, "/users", user_view()); });
  auto flags = std::make_shared<UserFlags>();
  CLI::App* verb = add(verbs, noun, "create", "Create a user",
                       "atoll user create ada --uid $(id -u ada)", flags, create);
  verb->add_option("--uid", flags->uid, "The machine's account behind it, known on the socket")
      ->type_name("UID");
  verb->add_flag("--admin", flags->admin, "Make it a platform administrator");
  auto account = std::make_shared<UserFlags>();
  add(verbs, noun, "account", "Say which account of the machine a user is; their work runs as it",
      "atoll user account ada $(id -u ada)", account, set_account)
      ->add_option("UID", account->uid, "The account's number")
      ->required()
      ->check(CLI::NonNegativeNumber);
  add(verbs, noun, "disable", "Shut a user out", "atoll user disable ada",
      std::make_shared<UserFlags>(),
      [](Session& session, const UserFlags& f) { return set_disabled(session, f.name, true); });
  add(verbs, noun, "enable", "Let a user in again", "atoll user enable ada",
      std::make_shared<UserFlags>(),
      [](Session& session, const UserFlags& f) { return set_disabled(session, f.name, false); });
  auto admin = std::make_shared<UserFlags>();
  add(verbs, noun, "admin", "Make a user a platform administrator, or no longer",
      "atoll user admin ada --off", admin, set_admin)
      ->add_flag("--off", admin->off, "Take it away");
}

}  // namespace atl::cli
