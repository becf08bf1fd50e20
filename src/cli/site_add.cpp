// site add and site remove: sites that come and go while the server runs.
#include <chrono>
#include <ostream>
#include <set>
#include <thread>

#include "cli/exit.h"
#include "cli/platform.h"
#include "cli/site.h"
#include "cli/verbs.h"
#include "spec/site_spec.h"

namespace atl::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kAnswerWithin{20};  // a host that is there says so sooner
constexpr std::chrono::milliseconds kLookEvery{100};

struct AddFlags {
  std::string name;
  std::vector<std::string> ssh;
  bool slurm = false;
  bool simulated = false;
  std::vector<std::pair<std::string, std::string>> settings;  // flags of the kinds' tables
};

// The tables that say which settings there are, by kind.
std::vector<std::pair<const char*, const spec::Shape*>> kinds() {
  return {{"ssh", &spec::shape_of<spec::SshSite>()},
          {"slurm", &spec::shape_of<spec::SlurmSite>()},
          {"simulated", &spec::shape_of<spec::SimulatedSite>()}};
}

// "ssh and slurm": which kinds know the setting.
std::string kinds_with(std::string_view flag) {
  std::string words;
  for (const auto& [kind, shape] : kinds()) {
    if (spec::find_flag(*shape, flag))
      words += (words.empty() ? "--" : " or --") + std::string(kind);
  }
  return words;
}

// One option for each setting, whichever kinds have it.
void add_settings(CLI::App* verb, const std::shared_ptr<AddFlags>& flags) {
  std::set<std::string> seen;
  for (const auto& [kind, shape] : kinds()) {
    for (const spec::Field& field : shape->fields) {
      if (!field.flag || !seen.insert(field.flag).second) continue;
      std::string help = field.sentence;
      if (help.ends_with('.')) help.pop_back();
      const std::string name = field.flag;
      verb->add_option_function<std::string>(
              "--" + name,
              [flags, name](const std::string& text) { flags->settings.emplace_back(name, text); },
              help + " (" + kinds_with(name) + ")")
          ->trigger_on_parse()
          ->type_name(field.metavar ? field.metavar : "WORD");
    }
  }
}

Result<void> set_all(const AddFlags& flags, const spec::Shape& shape, void* object) {
  for (const auto& [name, text] : flags.settings) {
    const spec::Field* field = spec::find_flag(shape, name);
    if (!field)
      return fail(ErrorCode::invalid, "--" + name + " is a setting of " + kinds_with(name));
    if (auto ok = spec::set_text(*field, object, text); !ok)
      return fail(ok.error().code, "--" + name + ": " + ok.error().message);
  }
  return {};
}

Result<spec::SiteWish> wish_of(const AddFlags& flags) {
  spec::SiteWish wish;
  wish.name = flags.name;
  Result<void> set;
  if (!flags.ssh.empty()) {
    wish.ssh.emplace().hosts = flags.ssh;
    set = set_all(flags, spec::shape_of<spec::SshSite>(), &*wish.ssh);
  }
  if (flags.slurm && set)
    set = set_all(flags, spec::shape_of<spec::SlurmSite>(), &wish.slurm.emplace());
  if (flags.simulated && set)
    set = set_all(flags, spec::shape_of<spec::SimulatedSite>(), &wish.simulated.emplace());
  if (!set) return tl::unexpected(set.error());
  if (!wish.ssh && !wish.slurm && !wish.simulated)
    return fail(ErrorCode::invalid,
                "say what kind of site it is: --ssh HOST…, --slurm or --simulated");
  // The server says the same; this way it is said without one.
  if (auto ok = spec::to_command(wish); !ok) return tl::unexpected(ok.error());
  return wish;
}

// What is wrong, a line for the site and each node.
std::vector<std::string> troubles(const Json& site) {
  std::vector<std::string> lines;
  if (site.has("trouble")) lines.push_back(site.text("trouble"));
  for (const auto& [node, sentence] : site["node_trouble"].members())
    lines.push_back(node + ": " + sentence.text());
  return lines;
}

// Until it has said what it has, or what is wrong with it.
Result<Json> first_answer(Api& api, const std::string& name) {
  const auto end = steady_clock::now() + kAnswerWithin;
  for (;;) {
    auto site = api.get(site_path(name));
    if (!site) return site;
    // Just added, it has no driver yet, and that is no trouble.
    const bool connected = site->text("trouble") != "no driver serves it";
    const bool said = (*site)["reported"].truth() || (connected && !troubles(*site).empty());
    if (said || steady_clock::now() > end) return site;
    std::this_thread::sleep_for(kLookEvery);
  }
}

Result<int> add_site(Session& session, const AddFlags& flags) {
  const auto wish = wish_of(flags);
  if (!wish) return tl::unexpected(wish.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto added = (*api)->post("/sites", spec::to_json(*wish));
  if (!added) return tl::unexpected(added.error());
  const auto site = first_answer(**api, flags.name);
  if (!site) return tl::unexpected(site.error());
  const size_t nodes = (*site)["nodes"].items().size();
  print_one(session, *site, "name", [&] {
    if (nodes == 0)
      return flags.name + " is added, and no node of it answers yet; `atoll site show " +
             flags.name + "` says more\n";
    return flags.name + " is added: " + std::to_string(nodes) +
           (nodes == 1 ? " node, " : " nodes, ") + capacity_of(*site) + "; `atoll site check " +
           flags.name + "` tries it\n";
  });
  for (const std::string& line : troubles(*site)) session.warn(line);
  return nodes > 0 ? kExitOk : kExitFailure;
}

Result<void> drain_to_the_end(Session& session, Api& api, const std::string& name) {
  if (auto drained = api.post(site_path(name) + "/drain"); !drained)
    return tl::unexpected(drained.error());
  for (int64_t told = -1;;) {
    const auto site = api.get(site_path(name));
    if (!site) return tl::unexpected(site.error());
    int64_t tasks = 0;
    for (const Json& node : (*site)["nodes"].items()) tasks += node["tasks"].integer();
    if (tasks == 0) return {};
    if (tasks != told) session.say(name + " still runs " + std::to_string(tasks) + " tasks");
    told = tasks;
    std::this_thread::sleep_for(kLookEvery * 5);
  }
}

Result<int> remove_site(Session& session, const std::string& name, bool drain) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  if (drain) {
    if (auto empty = drain_to_the_end(session, **api, name); !empty)
      return tl::unexpected(empty.error());
  }
  return do_and_say(session, "DELETE", site_path(name), "", name, name + " is removed");
}

}  // namespace

void add_site_change_verbs(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<AddFlags>();
  CLI::App* add =
      verbs.add(noun, "add", "Add a site while the server runs",
                "atoll site add lab --ssh gpu1 ada@gpu2\n"
                "atoll site add lab --ssh gpu1 --lease 1h --directory /scratch/atoll\n"
                "atoll site add cluster --slurm --over login.cluster --partition short\n"
                "atoll site add class --simulated --nodes 4 --cpus 32 --device gpu:a100=2",
                [flags](Session& session) { return add_site(session, *flags); });
  add->add_option("NAME", flags->name, "What it will be called")->required();
  add->add_option("--ssh", flags->ssh, "Hosts that are reached by ssh, as ~/.ssh/config knows them")
      ->expected(1, 256)
      ->type_name("HOST…");
  add->add_flag("--slurm", flags->slurm, "A cluster that Slurm manages");
  add->add_flag("--simulated", flags->simulated, "A site that only pretends");
  add_settings(add, flags);

  auto name = std::make_shared<std::string>();
  auto drain = std::make_shared<bool>(false);
  CLI::App* remove =
      verbs.add(noun, "remove", "Remove a site that was added; refused while work is there",
                "atoll site remove lab\n"
                "atoll site remove lab --drain   starts nothing more there, waits, then removes",
                [name, drain](Session& session) { return remove_site(session, *name, *drain); });
  remove->add_option("NAME", *name, "The site")->required();
  remove->add_flag("--drain", *drain, "Start nothing more there and wait until it is empty");
}

}  // namespace atl::cli
