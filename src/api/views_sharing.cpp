#include "api/view_fields.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

const Shape& amounts_shape() { return spec::shape_of<spec::QuotaWish>(); }

constexpr std::array kCohortUse{always(Kind::number, "cpus", "Cores."),
                                always(Kind::integer, "memory", "Bytes."),
                                always(Kind::integer_map, "devices", "By kind and kind:model."),
                                always(Kind::integer, "running", "Tasks placed.")};
const Shape& cohort_use_shape() {
  static constexpr Shape shape{"CohortUse", "What all below a cohort use.", kCohortUse};
  return shape;
}
constexpr std::array kCohort{
    always(Kind::text, "name", "Its name."),
    maybe(Kind::text, "parent", "The cohort it belongs to."),
    always(Kind::integer, "depth", "How many are above it."),
    always(Kind::number, "weight", "Its part of what is shared."),
    always(Kind::object, "quota", "The quota of its own.", amounts_shape),
    always(Kind::object, "nominal",
           "What it is sure of: its quota, and where it has none the sum of its members'.",
           amounts_shape),
    always(Kind::object, "borrow",
           "What it may use beyond, of what the one above has; what is not named is all there is.",
           amounts_shape),
    always(Kind::object, "in_use", "What is used below it.", cohort_use_shape),
    always(Kind::object, "borrowed", "What is used beyond what it is sure of.", amounts_shape),
    always(Kind::texts, "cohorts", "Cohorts that belong to it."),
    always(Kind::texts, "namespaces", "Namespaces that belong to it, of those you may see."),
    sometimes(Kind::texts, "warnings",
              "When it was set: devices in its quota that no node has, and that nobody can lend it "
              "what it may borrow.")};
constexpr std::array kCohortList{always(
    Kind::objects, "cohorts", "All of them, each behind the one it belongs to.", cohort_shape)};

constexpr std::array kTier{
    always(Kind::text, "name", "Its name."), always(Kind::text, "meaning", "What it is for."),
    always(Kind::boolean, "yields", "Whether its work is stopped to make room."),
    always(Kind::integer, "running", "Tasks that hold a place."),
    always(Kind::integer, "waiting", "Tasks that do not.")};
const Shape& tier_shape() {
  static constexpr Shape shape{"Tier", "A class of work.", kTier};
  return shape;
}
constexpr std::array kPolicy{
    always(Kind::text, "half_life",
           "After how long past use counts half as much against somebody."),
    always(Kind::text, "ageing", "How much waiting outweighs one step of priority."),
    always(Kind::objects, "tiers", "From first served to last.", tier_shape)};

constexpr std::array kFairUse{always(Kind::number, "cpus", "Cores."),
                              always(Kind::integer, "memory", "Bytes."),
                              always(Kind::any, "devices", "By kind.")};
const Shape& fair_use_shape() {
  static constexpr Shape shape{"FairUse", "What counts as in use now.", kFairUse};
  return shape;
}
constexpr const char* kPayerKinds[] = {"cohort", "namespace", "user"};
constexpr std::array kFairRow{
    word("kind", "What it is.", kPayerKinds),
    always(Kind::text, "name", "Its name."),
    always(Kind::text, "path", "With those above it: institute/physics/bio/ada."),
    always(Kind::integer, "depth", "How many are above it."),
    always(Kind::number, "weight", "Its part among those beside it."),
    always(Kind::number, "share", "The part of the platform that its weight gives it, of 1."),
    always(Kind::number, "uses", "The part it has now: of cores, memory and devices the largest."),
    always(Kind::number, "lately", "The part it had on average, the past counting less and less."),
    always(
        Kind::number, "standing",
        "Both together for its weight. Of those beside each other the smallest is served first."),
    maybe(Kind::text, "most", "Of what it has that part now: cpu, memory or a kind of device."),
    always(Kind::object, "in_use", "What it has now.", fair_use_shape)};
const Shape& fair_row_shape() {
  static constexpr Shape shape{"FairRow", "How somebody stands.", kFairRow};
  return shape;
}
constexpr std::array kFair{
    always(Kind::text, "tier", "Against whose work this counts."),
    always(Kind::text, "half_life", "After how long past use counts half as much."),
    always(Kind::boolean, "truncated", "Whether there are more than 10000."),
    always(Kind::objects, "rows",
           "A tree, each behind the one it belongs to, furthest behind first.", fair_row_shape)};

constexpr const char* kChangeWords[] = {"add", "remove", "change"};
constexpr const char* kChangeKinds[] = {"policy", "cohort", "namespace", "calendar", "reservation"};
constexpr std::array kChange{
    word("change", "What happens to it.", kChangeWords),
    word("kind", "What it is.", kChangeKinds),
    always(Kind::text, "name", "Its name; empty for the policy."),
    always(Kind::text, "field", "Which of its fields; empty for all of it."),
    maybe(Kind::text, "from", "As it was, as the platform file writes it; null: it was not set."),
    maybe(Kind::text, "to", "As it is to be; null: taken away.")};
const Shape& platform_change_shape() {
  static constexpr Shape shape{"PlatformChange", "A difference.", kChange};
  return shape;
}
constexpr std::array kPlatformChanges{
    always(Kind::boolean, "applied", "False when it was only asked what would change."),
    always(Kind::objects, "changes", "Empty when there was nothing to change.",
           platform_change_shape),
    always(Kind::texts, "warnings",
           "Devices in quotas that no node has, and whom nobody can lend what they may borrow.")};

}  // namespace

#define ATOLL_VIEW(function, name, sentence, fields)      \
  const Shape& function() {                               \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_VIEW(cohort_shape, "Cohort", "Namespaces and cohorts that share.", kCohort)
ATOLL_VIEW(cohort_list_shape, "CohortList", "Cohorts.", kCohortList)
ATOLL_VIEW(policy_shape, "Policy", "How work is ordered.", kPolicy)
ATOLL_VIEW(fair_shape, "Fair", "Who is behind their fair share.", kFair)
ATOLL_VIEW(platform_changes_shape, "PlatformChanges", "What is, or would be, different.",
           kPlatformChanges)
#undef ATOLL_VIEW

}  // namespace atl::api
