// cohort: who shares with whom.
#include "cli/amounts.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/platform_json.h"

namespace atl::cli {
namespace {

struct CohortFlags {
  std::string name;
  std::string parent;
  std::string weight;
  std::vector<std::string> quota;
  std::vector<std::string> borrow;
  bool top = false;
  bool yes = false;
};
using CohortAction = Result<int> (*)(Session&, const CohortFlags&);

std::string cohort_path(const std::string& name) { return "/cohorts/" + encode(name); }

std::string name_list(const Json& names) {
  std::string out;
  for (const Json& name : names.items()) out += (out.empty() ? "" : ", ") + name.text();
  return out;
}

View cohort_view() {
  const auto use = [](const char* key, bool bytes) {
    return
        [key, bytes](const Json& each) { return Cell{used_of_limit(each, "nominal", key, bytes)}; };
  };
  return {
      .columns = {
          {{.title = "NAME", .least = 8}, indented_name},
          {{.title = "WEIGHT", .align = Align::right}, cell_text("weight")},
          {{.title = "CPUS", .align = Align::right}, use("cpus", false)},
          {{.title = "MEM", .align = Align::right}, use("memory", true)},
          {{.title = "RUNNING", .align = Align::right, .drop_rank = 1}, use("running", false)},
          {{.title = "DEVICES", .least = 8},
           [](const Json& each) { return Cell{used_devices(each, "nominal")}; }},
          {{.title = "BORROWED", .least = 8},
           [](const Json& each) { return Cell{shown_amounts(each["borrowed"]), Color::warning}; }},
          {{.title = "NAMESPACES", .least = 10, .drop_rank = 2},
           [](const Json& each) { return Cell{name_list(each["namespaces"])}; }}}};
}

Result<int> show_cohort(Session& session, const CohortFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto cohort = (*api)->get(cohort_path(flags.name));
  if (!cohort) return tl::unexpected(cohort.error());
  print_one(session, *cohort, "name", [&] {
    const std::string quota = shown_amounts((*cohort)["quota"]);
    const std::string borrow = shown_amounts((*cohort)["borrow"]);
    const std::string parent = cohort->text("parent");
    Card card(session.terminal.color);
    card.line("cohort", cohort->text("name"), Color::strong).line("belongs to", parent);
    card.line("weight", cohort->text("weight"));
    card.line("quota", quota.empty() ? "none of its own: the sum of its members'" : quota);
    card.line("is sure of", shown_amounts((*cohort)["nominal"]));
    card.line("may borrow", parent.empty()   ? "from nobody"
                            : borrow.empty() ? "all that is left"
                                             : borrow);
    card.line("in use", shown_amounts((*cohort)["in_use"]));
    card.line("borrowed", shown_amounts((*cohort)["borrowed"]), Color::warning);
    card.line("cohorts", name_list((*cohort)["cohorts"]));
    card.line("namespaces", name_list((*cohort)["namespaces"]));
    return card.str();
  });
  return kExitOk;
}

// All of it as it now is, also what was not named and stayed.
std::string cohort_in_words(const Json& cohort) {
  const std::string quota = shown_amounts(cohort["quota"]);
  const std::string borrow = shown_amounts(cohort["borrow"]);
  const std::string parent = cohort.text("parent");
  std::string out = "set cohort " + cohort.text("name") + ": ";
  if (!parent.empty()) out += "in " + parent + ", ";
  out += "weight " + cohort.text("weight");
  out += quota.empty() ? ", no quota of its own" : ", quota " + quota;
  if (!parent.empty()) out += ", may borrow " + (borrow.empty() ? "all that is left" : borrow);
  return out;
}

// "none" for no limits, "all" for all there is, else amounts.
Result<std::optional<spec::QuotaWish>> wish_of(const std::vector<std::string>& words,
                                               const char* nothing) {
  if (words.empty()) return std::optional<spec::QuotaWish>{};
  if (words.size() == 1 && words.front() == nothing) return spec::QuotaWish{};
  const auto quota = parse_amounts(words);
  if (!quota) return tl::unexpected(quota.error());
  return spec::to_wish(*quota);
}

Result<int> set_cohort(Session& session, const CohortFlags& flags) {
  spec::CohortWish wish;
  if (flags.top && !flags.parent.empty())
    return fail(ErrorCode::invalid, "say either --parent or --no-parent");
  if (flags.top || !flags.parent.empty()) wish.parent = flags.parent;
  if (!flags.weight.empty()) {
    const auto weight = parse_weight(flags.weight);
    if (!weight) return tl::unexpected(weight.error());
    wish.weight = *weight;
  }
  auto quota = wish_of(flags.quota, "none");
  if (!quota) return tl::unexpected(quota.error());
  wish.quota = std::move(*quota);
  auto borrow = wish_of(flags.borrow, "all");
  if (!borrow) return tl::unexpected(borrow.error());
  wish.borrow = std::move(*borrow);
  return do_and_say(session, "PUT", cohort_path(flags.name), spec::to_json(wish), flags.name,
                    cohort_in_words);
}

Result<int> delete_cohort(Session& session, const CohortFlags& flags) {
  if (!flags.yes) {
    const auto sure = session.confirm("Delete cohort " + flags.name + "?");
    if (!sure) return tl::unexpected(sure.error());
    if (!*sure) return kExitFailure;
  }
  return do_and_say(session, "DELETE", cohort_path(flags.name), "", flags.name,
                    "deleted cohort " + flags.name);
}

void add_set_options(CLI::App* verb, CohortFlags& flags) {
  verb->add_option("--parent", flags.parent, "The cohort that it belongs to")->type_name("COHORT");
  verb->add_flag("--no-parent", flags.top, "It belongs to none");
  verb->add_option("--weight", flags.weight,
                   "Its part of what is shared, among those beside it: 0.001 to 1000000 (1)")
      ->type_name("W");
  verb->add_option("--quota", flags.quota,
                   "What it is sure of, all of it: cpu=64,gpu=8, or none for no limits")
      ->allow_extra_args(false)
      ->type_name("AMOUNTS");
  verb->add_option("--borrow", flags.borrow,
                   "What it may use beyond, of what the one above has, all of it: "
                   "cpu=16, or all")
      ->allow_extra_args(false)
      ->type_name("AMOUNTS");
}

}  // namespace

Cell indented_name(const Json& item) {
  const auto depth = static_cast<std::size_t>(std::max<std::int64_t>(0, item["depth"].integer()));
  return {std::string(depth * 2, ' ') + item.text("name")};
}

void add_cohort_verbs(Verbs& verbs) {
  CLI::App* noun =
      verbs.add_noun("cohort", "Cohorts, which share quotas: list, show, set, delete",
                     "atoll cohort set institute --quota cpu=128,memory=512Gi,gpu=8\n"
                     "atoll cohort set physics --parent institute --weight 2 --quota cpu=64\n"
                     "atoll ns cohort vision physics\n"
                     "atoll cohort list");
  verbs.add(noun, "list", "Show the tree of cohorts, with what they use of their quotas",
            "atoll cohort list",
            [](Session& session) { return show_list(session, "/cohorts", cohort_view()); });
  const auto add = [&](const char* name, const char* sentence, const char* example,
                       CohortAction run) {
    auto flags = std::make_shared<CohortFlags>();
    CLI::App* verb = verbs.add(noun, name, sentence, example,
                               [flags, run](Session& session) { return run(session, *flags); });
    verb->add_option("NAME", flags->name, "The cohort")->required();
    return std::pair(verb, flags);
  };
  add("show", "Show a cohort: quota, use, members", "atoll cohort show physics", show_cohort);
  const auto [set, set_flags] =
      add("set",
          "Make a cohort, or change what is named of it: an option that is left out stays as it is",
          "atoll cohort set physics --parent institute --quota cpu=64,gpu:a100=2\n"
          "atoll cohort set physics --weight 2 --borrow cpu=16\n"
          "atoll cohort set physics --quota none --borrow all",
          set_cohort);
  add_set_options(set, *set_flags);
  const auto [gone, gone_flags] = add("delete", "Delete a cohort that has no members left",
                                      "atoll cohort delete physics", delete_cohort);
  gone->add_flag("-y,--yes", gone_flags->yes, "Do not ask");
}

}  // namespace atl::cli
