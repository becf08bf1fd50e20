// secret: what tasks may know and nobody may read. The value comes from a file or standard input:
// what stands on a command line is seen by everybody on the machine.
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/submit.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

struct SecretFlags {
  std::string name;
  std::string ns;
  std::string file;
};

Result<std::string> secrets_path(Session& session, const std::string& ns) {
  if (auto api = session.api(); !api) return tl::unexpected(api.error());
  if (!ns.empty()) return "/namespaces/" + encode(ns) + "/secrets";
  const auto meant = default_namespace(session);
  if (!meant) return tl::unexpected(meant.error());
  if (meant->empty())
    return fail(ErrorCode::invalid,
                "you are no member of a namespace: say which one with --ns NAMESPACE");
  return "/namespaces/" + encode(*meant) + "/secrets";
}

// Without the line's end that editors and echo leave behind.
Result<std::string> read_value(const SecretFlags& flags) {
  std::string value;
  if (flags.file.empty() || flags.file == "-") {
    if (isatty(STDIN_FILENO) != 0) std::cerr << "the secret, ended by Ctrl-D: " << std::flush;
    value.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream file(flags.file, std::ios::binary);
    if (!file) return fail(ErrorCode::invalid, "cannot read " + quote(flags.file));
    value.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (value.ends_with('\n')) value.pop_back();
  if (value.empty()) return fail(ErrorCode::invalid, "the secret is empty");
  return value;
}

Result<int> set_secret(Session& session, const SecretFlags& flags) {
  const auto path = secrets_path(session, flags.ns);
  if (!path) return tl::unexpected(path.error());
  const auto value = read_value(flags);
  if (!value) return tl::unexpected(value.error());
  if (!valid_utf8(*value)) return fail(ErrorCode::invalid, "the secret must be text");
  std::string body = "{\"value\":";
  spec::append_json_text(body, *value);
  return do_and_say(session, "PUT", *path + "/" + encode(flags.name), body + "}", flags.name,
                    "set secret " + flags.name);
}

Result<int> delete_secret(Session& session, const SecretFlags& flags) {
  const auto path = secrets_path(session, flags.ns);
  if (!path) return tl::unexpected(path.error());
  return do_and_say(session, "DELETE", *path + "/" + encode(flags.name), "", flags.name,
                    "deleted secret " + flags.name);
}

Result<int> list_secrets(Session& session, const SecretFlags& flags) {
  const auto path = secrets_path(session, flags.ns);
  if (!path) return tl::unexpected(path.error());
  return show_list(session, *path,
                   {.columns = {{{.title = "NAME", .least = 6}, cell_text("name")},
                                {{.title = "USER", .least = 6}, cell_text("user")},
                                {{.title = "SET"}, cell_time("set")}}});
}

void add_ns_option(CLI::App* verb, SecretFlags& flags) {
  verb->add_option("-n,--ns", flags.ns, "The namespace it is in (the context's, or your own)")
      ->type_name("NAMESPACE");
}

}  // namespace

void add_secret_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun("secret", "Secrets of a namespace: set, list, delete",
                                  "atoll secret set weather <key.txt\n"
                                  "atoll submit --secret API_KEY=weather job.sh\n"
                                  "atoll secret list");
  auto flags = std::make_shared<SecretFlags>();
  CLI::App* verb = verbs.add(noun, "set", "Set a secret from standard input or a file",
                             "pass show weather | atoll secret set weather\n"
                             "atoll secret set weather --file key.txt --ns vision",
                             [flags](Session& session) { return set_secret(session, *flags); });
  verb->add_option("NAME", flags->name, "Its name")->required();
  verb->add_option("--file", flags->file, "Where its value is (standard input)")->type_name("FILE");
  add_ns_option(verb, *flags);

  auto listed = std::make_shared<SecretFlags>();
  verb = verbs.add(noun, "list", "List secrets, without what they say",
                   "atoll secret list --ns vision",
                   [listed](Session& session) { return list_secrets(session, *listed); });
  add_ns_option(verb, *listed);

  auto gone = std::make_shared<SecretFlags>();
  verb = verbs.add(noun, "delete", "Delete a secret; tasks that name it fail from now on",
                   "atoll secret delete weather",
                   [gone](Session& session) { return delete_secret(session, *gone); });
  verb->add_option("NAME", gone->name, "Its name")->required();
  add_ns_option(verb, *gone);
}

}  // namespace atl::cli
