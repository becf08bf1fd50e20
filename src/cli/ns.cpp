// ns: namespaces, their members and quotas.
#include <ostream>
#include <set>

#include "base/text.h"
#include "cli/amounts.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

std::string ns_path(const std::string& name) { return "/namespaces/" + encode(name); }

struct NsFlags {
  std::string name;
  std::string admin;
  bool yes = false;
};

struct QuotaFlags {
  std::string name;
  std::string cpus, memory, running, queued;
  std::vector<std::string> devices;
};

struct MemberFlags {
  std::string ns;
  std::string user;
  std::string role = "member";
  bool remove = false;
};

std::string shown_members(const Json& ns) {
  std::string out;
  for (const auto& [user, role] : ns["members"].members())
    out += (out.empty() ? "" : ", ") + user + " (" + role.text() + ")";
  return out;
}

View ns_view() {
  const auto limit = [](const char* key, bool bytes) {
    return [key, bytes](const Json& ns) { return Cell{used_of_limit(ns, "quota", key, bytes)}; };
  };
  return {.columns = {
              {{.title = "NAME", .least = 8}, cell_text("name")},
              {{.title = "COHORT", .least = 6}, cell_text("cohort")},
              {{.title = "WEIGHT", .align = Align::right, .drop_rank = 1}, cell_text("weight")},
              {{.title = "JOBS", .align = Align::right}, limit("queued", false)},
              {{.title = "CPUS", .align = Align::right}, limit("cpus", false)},
              {{.title = "MEM", .align = Align::right}, limit("memory", true)},
              {{.title = "RUNNING", .align = Align::right}, limit("running", false)},
              {{.title = "DEVICES", .least = 8},
               [](const Json& ns) { return Cell{used_devices(ns, "quota")}; }},
              {{.title = "BORROWED", .least = 8},
               [](const Json& ns) { return Cell{shown_amounts(ns["borrowed"]), Color::warning}; }},
              {{.title = "MEMBERS", .least = 12},
               [](const Json& ns) { return Cell{shown_members(ns)}; }}}};
}

Result<int> show(Session& session, const NsFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto ns = (*api)->get(ns_path(flags.name));
  if (!ns) return tl::unexpected(ns.error());
  print_one(session, *ns, "name", [&] {
    Card card(session.terminal.color);
    card.line("namespace", ns->text("name"), Color::strong).line("members", shown_members(*ns));
    const std::string cohort = ns->text("cohort");
    const std::string borrow = shown_amounts((*ns)["borrow"]);
    card.line("cohort", cohort).line("weight", ns->text("weight"));
    card.line("quota", shown_amounts((*ns)["quota"]));
    if (!cohort.empty()) card.line("may borrow", borrow.empty() ? "all that is left" : borrow);
    card.line("borrowed", shown_amounts((*ns)["borrowed"]), Color::warning);
    const auto use = [&](const char* key, bool bytes) {
      return used_of_limit(*ns, "quota", key, bytes);
    };
    card.line("cpus", use("cpus", false)).line("memory", use("memory", true));
    card.line("running tasks", use("running", false)).line("jobs not ended", use("queued", false));
    card.line("devices", used_devices(*ns, "quota"));
    return card.str();
  });
  return kExitOk;
}

Result<int> create(Session& session, const NsFlags& flags) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("name", flags.name);
  if (!flags.admin.empty()) json.member("admin", flags.admin);
  json.end_object();
  return do_and_say(session, "POST", "/namespaces", body, flags.name,
                    "created namespace " + flags.name);
}

Result<int> remove(Session& session, const NsFlags& flags) {
  if (!flags.yes) {
    const auto sure = session.confirm("Delete namespace " + flags.name + "?");
    if (!sure) return tl::unexpected(sure.error());
    if (!*sure) return kExitFailure;
  }
  return do_and_say(session, "DELETE", ns_path(flags.name), "", flags.name,
                    "deleted namespace " + flags.name);
}

Result<void> write_device_quotas(spec::JsonWriter& json, const std::vector<std::string>& devices) {
  if (devices.empty()) return {};
  std::set<std::string> seen;
  json.key("devices").begin_object();
  for (const std::string& words : devices) {
    for (const std::string_view device : split(words, ',')) {
      const std::size_t equals = device.find('=');
      const auto count =
          equals == std::string_view::npos ? std::nullopt : parse_int(device.substr(equals + 1));
      if (!count || *count < 0)
        return fail(ErrorCode::invalid,
                    quote(device) + " is not a device quota: write gpu=8 or gpu:a100=4");
      const std::string kind(device.substr(0, equals));
      if (!seen.insert(kind).second)
        return fail(ErrorCode::invalid, quote(kind) + " is named twice; keep one of them");
      json.member(kind, *count);
    }
  }
  json.end_object();
  return {};
}

Result<void> write_count_quota(spec::JsonWriter& json, const char* key, const std::string& text,
                               int64_t low) {
  if (text.empty()) return {};
  const auto count = parse_int(text);
  if (!count || *count < low)
    return fail(ErrorCode::invalid, std::string("--") + key + " is " + quote(text) +
                                        "; it must be a whole number of at least " +
                                        std::to_string(low) + ", or left out for no limit");
  json.member(key, *count);
  return {};
}

// All of it as it now is, since what was not named is gone.
std::string quota_in_words(const Json& ns) {
  const std::string quota = shown_amounts(ns["quota"]);
  const std::string name = ns.text("name");
  return quota.empty() ? name + " has no limits"
                       : "the quota of " + name + " is " + quota + "; nothing else is limited";
}

Result<int> set_quota(Session& session, const QuotaFlags& flags) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object();
  if (!flags.cpus.empty()) json.member("cpus", flags.cpus);
  if (!flags.memory.empty()) json.member("memory", flags.memory);
  if (auto ok = write_device_quotas(json, flags.devices); !ok) return tl::unexpected(ok.error());
  if (auto ok = write_count_quota(json, "running", flags.running, 0); !ok)
    return tl::unexpected(ok.error());
  // With none queued nobody could submit at all.
  if (auto ok = write_count_quota(json, "queued", flags.queued, 1); !ok)
    return tl::unexpected(ok.error());
  json.end_object();
  return do_and_say(session, "PUT", ns_path(flags.name) + "/quota", body, flags.name,
                    quota_in_words);
}

Result<int> set_member(Session& session, const MemberFlags& flags) {
  const std::string path = ns_path(flags.ns) + "/members/" + encode(flags.user);
  if (flags.remove) {
    return do_and_say(session, "DELETE", path, "", flags.user,
                      flags.user + " is no longer a member of " + flags.ns);
  }
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("role", flags.role).end_object();
  return do_and_say(session, "PUT", path, body, flags.user,
                    flags.user + " is " + flags.role + " of " + flags.ns);
}

void add_quota_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<QuotaFlags>();
  CLI::App* verb = verbs.add(noun, "quota",
                             "Set what a namespace is sure of, and may not exceed unless it "
                             "borrows. It replaces the whole quota: what is left out does not "
                             "limit any more",
                             "atoll ns quota vision --cpus 64 --mem 256Gi --device gpu=8\n"
                             "atoll ns quota vision            no limits",
                             [flags](Session& session) { return set_quota(session, *flags); });
  verb->add_option("NAME", flags->name, "The namespace")->required();
  verb->add_option("--cpus", flags->cpus, "Cores in use at once")->type_name("N");
  verb->add_option("--mem", flags->memory, "Memory in use at once")->type_name("SIZE");
  verb->add_option("--device", flags->devices,
                   "Devices in use at once, by kind or kind:model; several with commas")
      ->allow_extra_args(false)
      ->type_name("KIND=N");
  verb->add_option("--running", flags->running, "Tasks running at once")->type_name("N");
  verb->add_option("--queued", flags->queued, "Jobs that have not ended, at least 1")
      ->type_name("N");
}

void add_member_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<MemberFlags>();
  CLI::App* verb =
      verbs.add(noun, "member", "Add a member, change a role, or remove somebody",
                "atoll ns member vision ada --role admin\natoll ns member vision ada --remove",
                [flags](Session& session) { return set_member(session, *flags); });
  verb->add_option("NAME", flags->ns, "The namespace")->required();
  verb->add_option("USER", flags->user, "The user")->required();
  CLI::Option* role = verb->add_option("--role", flags->role, "viewer, member or admin (member)")
                          ->type_name("ROLE");
  verbs.set_choices(role, {"viewer", "member", "admin"});
  verb->add_flag("--remove", flags->remove, "Remove them");
}

}  // namespace

void add_ns_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun(
      "ns", "Namespaces: list, show, create, delete, quota, member, cohort, weight, borrow",
      "atoll ns list\natoll ns create vision --admin ada\n"
      "atoll ns member vision bob\n"
      "atoll ns quota vision --cpus 64 --device gpu=8\n"
      "atoll ns cohort vision physics\natoll ns weight vision 2");
  verbs.add(noun, "list", "List your namespaces", "atoll ns list",
            [](Session& session) { return show_list(session, "/namespaces", ns_view()); });
  const auto add = [&](const char* name, const char* sentence, const char* example,
                       Result<int> (*run)(Session&, const NsFlags&),
                       const std::shared_ptr<NsFlags>& flags) {
    CLI::App* verb = verbs.add(noun, name, sentence, example,
                               [flags, run](Session& session) { return run(session, *flags); });
    verb->add_option("NAME", flags->name, "The namespace")->required();
    return verb;
  };
  add("show", "Show a namespace: members, use, quota", "atoll ns show vision", show,
      std::make_shared<NsFlags>());
  auto made = std::make_shared<NsFlags>();
  add("create", "Create a namespace", "atoll ns create vision --admin ada", create, made)
      ->add_option("--admin", made->admin, "Who becomes its administrator (you)")
      ->type_name("USER");
  auto gone = std::make_shared<NsFlags>();
  add("delete", "Delete a namespace that has no jobs left; default stays", "atoll ns delete vision",
      remove, gone)
      ->add_flag("-y,--yes", gone->yes, "Do not ask");
  add_quota_verb(verbs, noun);
  add_member_verb(verbs, noun);
  add_ns_share_verbs(verbs, noun);
}

}  // namespace atl::cli
