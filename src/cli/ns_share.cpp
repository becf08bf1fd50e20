// ns weight, cohort, borrow: how a namespace shares.
#include "base/amount.h"
#include "base/text.h"
#include "cli/amounts.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "core/limits.h"
#include "spec/json_writer.h"
#include "spec/platform_json.h"

namespace atl::cli {
namespace {

struct ShareFlags {
  std::string ns;
  std::string value;
  std::vector<std::string> amounts;
  bool none = false;
  bool all = false;
};

std::string stake_path(const ShareFlags& flags) { return "/namespaces/" + encode(flags.ns); }

Result<int> set_weight(Session& session, const ShareFlags& flags) {
  const auto weight = parse_weight(flags.value);
  if (!weight) return tl::unexpected(weight.error());
  const spec::NamespaceChange change{{}, *weight, {}};
  return do_and_say(session, "PATCH", stake_path(flags), spec::to_json(change), flags.ns,
                    flags.ns + " has the weight " + format_milli(weight->milli));
}

Result<int> set_cohort_of(Session& session, const ShareFlags& flags) {
  if (flags.value.empty() != flags.none)
    return fail(ErrorCode::invalid, "say which cohort, or --none");
  const spec::NamespaceChange change{flags.value, {}, {}};
  return do_and_say(session, "PATCH", stake_path(flags), spec::to_json(change), flags.ns,
                    flags.none ? flags.ns + " belongs to no cohort"
                               : flags.ns + " belongs to cohort " + flags.value);
}

Result<int> set_borrow(Session& session, const ShareFlags& flags) {
  if (flags.amounts.empty() != flags.all)
    return fail(ErrorCode::invalid,
                "say how much it may borrow, such as cpu=16 gpu=2 (cpu=0 for none), or --all");
  const auto quota = parse_amounts(flags.amounts);
  if (!quota) return tl::unexpected(quota.error());
  const spec::NamespaceChange change{{}, {}, spec::to_wish(*quota)};
  return do_and_say(session, "PATCH", stake_path(flags), spec::to_json(change), flags.ns,
                    [&](const Json& ns) {
                      const std::string borrow = shown_amounts(ns["borrow"]);
                      const std::string may = flags.ns + " may borrow ";
                      return borrow.empty() ? may + "all that its cohort has left"
                                            : may + borrow + ", and all that is left of the rest";
                    });
}

}  // namespace

Result<spec::Cpus> parse_weight(const std::string& text) {
  const auto milli = parse_milli(text);
  if (milli && !text.ends_with('m') && *milli >= core::kWeightMilliMin &&
      *milli <= core::kWeightMilliMax)
    return spec::Cpus{*milli};
  return fail(ErrorCode::invalid,
              quote(text) +
                  " is not a weight: write a number from 0.001 to 1000000, such as 2 or 0.5; to "
                  "give nothing, set a quota of 0");
}

void add_ns_share_verbs(Verbs& verbs, CLI::App* noun) {
  const auto add = [&](const char* name, const char* sentence, const char* examples,
                       Result<int> (*run)(Session&, const ShareFlags&),
                       const std::shared_ptr<ShareFlags>& flags) {
    CLI::App* verb = verbs.add(noun, name, sentence, examples,
                               [flags, run](Session& session) { return run(session, *flags); });
    verb->add_option("NAME", flags->ns, "The namespace")->required();
    return verb;
  };
  auto weight = std::make_shared<ShareFlags>();
  add("weight", "Set its part of what is shared, among those beside it",
      "atoll ns weight vision 2        twice as much as one of weight 1", set_weight, weight)
      ->add_option("WEIGHT", weight->value, "A number from 0.001 to 1000000; 1 is usual")
      ->required();
  auto cohort = std::make_shared<ShareFlags>();
  CLI::App* verb =
      add("cohort", "Put a namespace into a cohort, or into none",
          "atoll ns cohort vision physics\natoll ns cohort vision --none", set_cohort_of, cohort);
  verb->add_option("COHORT", cohort->value, "The cohort");
  verb->add_flag("--none", cohort->none, "Into none: it borrows from nobody");
  auto borrow = std::make_shared<ShareFlags>();
  verb = add("borrow", "Set what it may use beyond its quota while its cohort has it left",
             "atoll ns borrow vision cpu=16 gpu=2\n"
             "atoll ns borrow vision gpu=0         no devices; of the rest all that is left\n"
             "atoll ns borrow vision --all",
             set_borrow, borrow);
  verb->add_option("AMOUNTS", borrow->amounts, "Amounts: cpu=16 memory=64Gi gpu=2 running=100");
  verb->add_flag("--all", borrow->all, "All that the cohort has left, which is usual");
}

}  // namespace atl::cli
