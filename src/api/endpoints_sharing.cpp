#include "api/handlers.h"
#include "api/views.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

constexpr const char* kTierWords[] = {"interactive", "service", "batch", "opportunistic"};

const spec::Shape& platform_shape() { return spec::shape_of<spec::PlatformWish>(); }

std::vector<Endpoint> cohort_endpoints() {
  const Param cohort = path_param("cohort", "Its name.", "\"physics\"");
  return {
      {.path = "/api/v1/cohorts",
       .summary = "List cohorts, each behind the one it belongs to: what they are sure of and use.",
       .tag = "sharing",
       .response = cohort_list_shape,
       .handle = list_cohorts},
      {.path = "/api/v1/cohorts/{cohort}",
       .summary = "Show a cohort.",
       .tag = "sharing",
       .params = {cohort},
       .response = cohort_shape,
       .handle = show_cohort},
      {.method = "PUT",
       .path = "/api/v1/cohorts/{cohort}",
       .summary = "Make a cohort, or change what is named of it.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .params = {cohort},
       .request = spec::shape_of<spec::CohortWish>,
       .response = cohort_shape,
       .handle = set_cohort,
       .changes = true},
      {.method = "DELETE",
       .path = "/api/v1/cohorts/{cohort}",
       .summary = "Delete a cohort without members.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .params = {cohort},
       .status = 204,
       .handle = delete_cohort,
       .changes = true},
  };
}

}  // namespace

std::vector<Endpoint> sharing_endpoints() {
  std::vector<Endpoint> list = cohort_endpoints();
  const std::vector<Endpoint> more{
      {.path = "/api/v1/policy",
       .summary =
           "How fast the past is forgotten, and the tiers in order with what runs and waits.",
       .tag = "sharing",
       .response = policy_shape,
       .handle = show_policy},
      {.method = "PATCH",
       .path = "/api/v1/policy",
       .summary = "Change the half-life of past use, or what waiting is worth.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .request = spec::shape_of<spec::PolicyWish>,
       .response = policy_shape,
       .handle = change_policy,
       .changes = true},
      {.path = "/api/v1/fair",
       .summary = "Who is behind their fair share: a tree of cohorts, namespaces and users in the "
                  "order in which the scheduler serves them.",
       .tag = "sharing",
       .params = {query_param(spec::Kind::text,
                              {.name = "tier",
                               .sentence = "Count what counts against work of this tier: its own "
                                           "and those above it.",
                               .example = "\"batch\"",
                               .fallback = "\"batch\"",
                               .choices = kTierWords})},
       .response = fair_shape,
       .handle = show_fair},
      {.path = "/api/v1/platform",
       .summary = "Everything of this that is in force, as one document.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .response = platform_shape,
       .handle = show_platform},
      {.method = "PATCH",
       .path = "/api/v1/platform",
       .summary = "Put a document in force, all of it or nothing. An entry is the whole of what it "
                  "names; what is not named stays, unless it is pruned.",
       .tag = "sharing",
       .needs = Needs::platform_admin,
       .params = {query_param(spec::Kind::boolean, {.name = "dry_run",
                                                    .sentence = "Only say what would change.",
                                                    .example = "true",
                                                    .fallback = "false"}),
                  query_param(spec::Kind::boolean,
                              {.name = "prune",
                               .sentence = "Delete cohorts that are not named, and namespaces that "
                                           "are not named and have no jobs.",
                               .example = "true",
                               .fallback = "false"})},
       .request = platform_shape,
       .response = platform_changes_shape,
       .handle = apply_platform,
       .changes = true},
  };
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

}  // namespace atl::api
