// tier: the classes of work in order, and how fast the past is forgotten. fair: who is behind.
#include <cstdio>

#include "base/amount.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/platform_json.h"

namespace atl::cli {
namespace {

struct TierFlags {
  std::string half_life;
  std::string ageing;
};

View tier_view() {
  return {.columns = {{{.title = "TIER"}, cell_text("name")},
                      {{.title = "RUNNING", .align = Align::right}, cell_text("running")},
                      {{.title = "WAITING", .align = Align::right}, cell_text("waiting")},
                      {{.title = "MEANING", .least = 20}, cell_text("meaning")}}};
}

Result<std::optional<Duration>> duration_of(const char* flag, const std::string& text) {
  if (text.empty()) return std::optional<Duration>{};
  const auto duration = parse_duration(text);
  if (!duration)
    return fail(ErrorCode::invalid, std::string(flag) + ": " + duration.error().message);
  return *duration;
}

Result<int> show_tiers(Session& session, const TierFlags& flags) {
  const auto half_life = duration_of("--half-life", flags.half_life);
  if (!half_life) return tl::unexpected(half_life.error());
  const auto ageing = duration_of("--ageing", flags.ageing);
  if (!ageing) return tl::unexpected(ageing.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const spec::PolicyWish wish{*half_life, *ageing};
  const bool changes = wish.half_life || wish.ageing;
  const auto policy =
      changes ? (*api)->patch("/policy", spec::to_json(wish)) : (*api)->get("/policy");
  if (!policy) return tl::unexpected(policy.error());
  if (session.names_only()) {
    print_list(session, tier_view(), (*policy)["tiers"].items());
    return kExitOk;
  }
  print_one(session, *policy, "half_life", [&] {
    Card card(session.terminal.color);
    card.line("half-life", policy->text("half_life") + ": past use counts half after so long");
    card.line("ageing", policy->text("ageing") + " of waiting outweighs one step of priority");
    return format_list(tier_view(), (*policy)["tiers"].items(), session.globals, session.terminal) +
           "\n" + card.str();
  });
  return kExitOk;
}

std::string percent(const Json& part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", part.number() * 100);
  return text;
}

// "gpu 4, cpu 8": what USES speaks of, and its cores.
Cell has_now(const Json& row) {
  const std::string most = row.text("most");
  const Json in_use = row["in_use"];
  const std::string cores = "cpu " + in_use.text("cpus");
  if (most.empty()) return {};
  if (most == "cpu") return {cores};
  return {
      most + " " +
      (most == "memory" ? format_bytes(in_use["memory"].integer()) : in_use["devices"].text(most)) +
      ", " + cores};
}

View fair_view() {
  const auto part = [](const char* key) {
    return [key](const Json& row) { return Cell{percent(row[key])}; };
  };
  // Behind what its weight gives it, or ahead.
  const auto uses = [](const Json& row) {
    const double share = row["share"].number();
    const double has = row["uses"].number();
    return Cell{percent(row["uses"]), has > share ? Color::warning : Color::plain};
  };
  return {.columns = {{{.title = "NAME", .least = 10}, indented_name},
                      {{.title = "KIND", .drop_rank = 2}, cell_text("kind")},
                      {{.title = "WEIGHT", .align = Align::right}, cell_text("weight")},
                      {{.title = "SHARE", .align = Align::right}, part("share")},
                      {{.title = "USES", .align = Align::right}, uses},
                      {{.title = "LATELY", .align = Align::right}, part("lately")},
                      {{.title = "STANDING", .align = Align::right}, part("standing")},
                      {{.title = "HAS", .drop_rank = 1}, has_now}},
          .name_key = "path"};
}

}  // namespace

void add_tier_verbs(Verbs& verbs) {
  auto flags = std::make_shared<TierFlags>();
  CLI::App* verb = verbs.add(
      nullptr, "tier", "Show the tiers in order, what runs and waits in each; or change the policy",
      "atoll tier\natoll tier --half-life 7d --ageing 1h      as a platform administrator\n"
      "atoll submit --tier opportunistic train.sh",
      [flags](Session& session) { return show_tiers(session, *flags); });
  verb->add_option("--half-life", flags->half_life, "After how long past use counts half as much")
      ->type_name("TIME");
  verb->add_option("--ageing", flags->ageing, "How much waiting outweighs one step of priority")
      ->type_name("TIME");
}

void add_fair_verb(Verbs& verbs) {
  auto tier = std::make_shared<std::string>();
  CLI::App* verb = verbs.add(
      nullptr, "fair",
      "Show who is behind their fair share: cohorts, namespaces and users, next to be served first",
      "atoll fair\natoll fair --tier interactive       what counts against interactive work\n"
      "atoll fair -o json",
      [tier](Session& session) {
        return show_list(session, "/fair" + query({{"tier", *tier}}), fair_view());
      });
  CLI::Option* option =
      verb->add_option("--tier", *tier,
                       "Count what counts against this tier: interactive, service, "
                       "batch or opportunistic (batch)")
          ->type_name("TIER");
  verbs.set_choices(option, {"interactive", "service", "batch", "opportunistic"});
  Verbs::set_note(
      verb,
      "SHARE is what the weight gives, USES what they have now, LATELY what they had. "
      "STANDING\n"
      "is both for the weight: of those beside each other the smallest is served first. HAS is\n"
      "what USES is a part of, and the cores.");
}

}  // namespace atl::cli
