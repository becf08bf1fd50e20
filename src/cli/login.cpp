// login: named servers elsewhere.
#include <termios.h>
#include <unistd.h>

#include <iostream>

#include "base/text.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "http/client.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

struct LoginFlags {
  std::string url;
  std::string token;
  std::string name;
  std::string ns;
  std::string ca_file;
  std::string use;
  std::string remove;
  bool list = false;
};

// A secret from the terminal, without showing it; from a pipe, its first line.
std::string read_secret(std::ostream& err) {
  const bool ask = ::isatty(STDIN_FILENO) == 1;
  termios before{};
  if (ask && ::tcgetattr(STDIN_FILENO, &before) == 0) {
    termios hidden = before;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    err << "token (make one there with `atoll token create`): " << std::flush;
  }
  std::string line;
  std::getline(std::cin, line);
  if (ask) {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    err << "\n";
  }
  return std::string(trim(line));
}

std::string token_of(Session& session, const LoginFlags& flags) {
  if (flags.token == "-") return read_secret(session.err);
  if (!flags.token.empty()) return flags.token;
  if (const char* variable = session.environment("ATOLL_TOKEN"); variable && *variable)
    return variable;
  return read_secret(session.err);
}

// Who the server takes us for: the proof that address and token are right.
Result<std::string> verify(const Context& context) {
  Target target;
  target.url = context.url;
  target.token = context.token;
  target.ca_file = context.ca_file;
  auto api = Api::open(target);
  if (!api) return tl::unexpected(api.error());
  const auto who = api->get("/whoami");
  if (!who) return tl::unexpected(who.error());
  const std::string name = who->text("name");
  return name.empty() ? who->text("user") : name;
}

Result<int> add_context(Session& session, const LoginFlags& flags, Contexts contexts) {
  const auto url = http::Url::parse(flags.url);
  if (!url) return tl::unexpected(url.error());
  const std::string name = flags.name.empty() ? url->host : flags.name;
  if (name == "local" || name.empty()) {
    return fail(ErrorCode::invalid,
                "`local` is the name of the socket here: choose another with --name");
  }
  const bool socket = url->scheme == http::Url::Scheme::unix_socket;
  const Context context{.url = flags.url,
                        .token = socket ? flags.token : token_of(session, flags),
                        .ns = flags.ns,
                        .ca_file = flags.ca_file.empty() ? "" : absolute_path(flags.ca_file)};
  const auto who = verify(context);
  if (!who) return tl::unexpected(who.error());
  contexts.named[name] = context;
  contexts.current = name;
  if (auto saved = save_contexts(contexts_path(session.environment), contexts); !saved) {
    return tl::unexpected(saved.error());
  }
  session.out << "logged in to " << printable(url->origin()) << " as " << printable(*who)
              << "; commands now go there (context " << printable(name) << ")\n";
  return kExitOk;
}

Result<int> use_context(Session& session, const std::string& name, Contexts contexts) {
  const auto target =
      resolve_target({.home = {}, .url = {}, .context = name}, contexts, session.environment);
  if (!target) return tl::unexpected(target.error());
  contexts.current = name == "local" ? "" : name;
  if (auto saved = save_contexts(contexts_path(session.environment), contexts); !saved) {
    return tl::unexpected(saved.error());
  }
  session.out << "commands now go to " << printable(target->url) << "\n";
  return kExitOk;
}

Result<int> remove_context(Session& session, const std::string& name, Contexts contexts) {
  if (contexts.named.erase(name) == 0) {
    return fail(ErrorCode::not_found, "there is no context " + quote(name));
  }
  if (contexts.current == name) contexts.current.clear();
  if (auto saved = save_contexts(contexts_path(session.environment), contexts); !saved) {
    return tl::unexpected(saved.error());
  }
  session.out << "forgot " << printable(name)
              << "; its token still works until it is revoked or expires\n";
  return kExitOk;
}

Result<int> list_contexts(Session& session, const Contexts& contexts) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_array();
  const auto entry = [&](const std::string& name, const std::string& url, const std::string& ns) {
    const bool current = name == (contexts.current.empty() ? "local" : contexts.current);
    json.begin_object().member("name", name).member("url", url).member("namespace", ns);
    json.member("current", current).end_object();
  };
  const auto local =
      resolve_target({.home = {}, .url = {}, .context = "local"}, {}, session.environment);
  entry("local", local ? local->url : "", "");
  for (const auto& [name, context] : contexts.named) entry(name, context.url, context.ns);
  json.end_array();
  const auto items = Json::parse(text);
  const View view{.columns = {{{.title = ""},
                               [](const Json& item) {
                                 return Cell{item["current"].truth() ? "*" : " ", Color::good};
                               }},
                              {{.title = "NAME"}, cell_text("name")},
                              {{.title = "URL", .least = 20}, cell_text("url")},
                              {{.title = "NAMESPACE"}, cell_text("namespace")}}};
  print_list(session, view, items ? items->items() : std::vector<Json>{});
  return kExitOk;
}

Result<int> login(Session& session, const LoginFlags& flags) {
  auto contexts = load_contexts(contexts_path(session.environment));
  if (!contexts) return tl::unexpected(contexts.error());
  if (!flags.use.empty()) return use_context(session, flags.use, std::move(*contexts));
  if (!flags.remove.empty()) return remove_context(session, flags.remove, std::move(*contexts));
  if (flags.list || flags.url.empty()) return list_contexts(session, *contexts);
  return add_context(session, flags, std::move(*contexts));
}

}  // namespace

void add_login_verb(Verbs& verbs) {
  auto flags = std::make_shared<LoginFlags>();
  CLI::App* verb =
      verbs.add(nullptr, "login", "Reach a server elsewhere, by name",
                "atoll login https://atoll.example.org --name lab   asks for the token\n"
                "atoll login --list\n"
                "atoll login --use local                            back to the server here",
                [flags](Session& session) { return login(session, *flags); });
  verb->add_option("URL", flags->url, "The server's address: https://…, or http://localhost:PORT");
  verb->add_option("--token", flags->token, "The token, or - to read it from standard input")
      ->type_name("TOKEN|-");
  verb->add_option("--name", flags->name, "What to call it here (its host)")->type_name("NAME");
  verb->add_option("--ns", flags->ns, "The namespace meant when a command names none")
      ->type_name("NAMESPACE");
  verb->add_option("--ca", flags->ca_file, "PEM file of the authority that signed its certificate")
      ->type_name("FILE");
  verb->add_flag("--list", flags->list, "Show the servers known here");
  verb->add_option("--use", flags->use, "Make that one current; `local` is the socket here")
      ->type_name("NAME");
  verb->add_option("--remove", flags->remove, "Forget that one")->type_name("NAME");
}

}  // namespace atl::cli
