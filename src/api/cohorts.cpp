// Cohorts: who shares with whom.
#include "api/context.h"
#include "api/handlers.h"
#include "api/quota_view.h"
#include "base/text.h"
#include "core/notes.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

struct ShownCohort {
  core::Cohort cohort;  // without its account
  std::string parent;
  int depth = 0;
  std::vector<std::string> cohorts;
  std::vector<std::string> namespaces;  // those that the actor may see
  std::vector<std::string> warnings;
};

Error no_such_cohort(const std::string& name) {
  return {ErrorCode::not_found, "there is no cohort " + quote(name), "cohort"};
}

// Without who belongs to it.
ShownCohort plain(const core::State& state, const core::Cohort& cohort) {
  ShownCohort shown;
  shown.cohort.id = cohort.id;
  shown.cohort.name = cohort.name;
  shown.cohort.quota = cohort.quota;
  shown.cohort.stake = cohort.stake;
  shown.cohort.nominal = cohort.nominal;
  shown.cohort.in_use = cohort.in_use;
  if (cohort.stake.cohort) shown.parent = state.cohorts.at(cohort.stake.cohort).name;
  return shown;
}

using ShownCohorts = std::map<CohortId, ShownCohort>;

ShownCohorts gather(const core::State& state, const core::Actor& actor) {
  ShownCohorts all;
  for (const auto& [id, cohort] : state.cohorts) all.emplace(id, plain(state, cohort));
  for (const auto& [id, cohort] : state.cohorts) {
    if (cohort.stake.cohort) all.at(cohort.stake.cohort).cohorts.push_back(cohort.name);
  }
  for (const auto& [id, ns] : state.namespaces) {
    if (ns.stake.cohort && core::may_view(state, actor, id))
      all.at(ns.stake.cohort).namespaces.push_back(ns.name);
  }
  return all;
}

// Each behind the one it belongs to, otherwise by name.
void put_below(ShownCohorts& all, CohortId parent, int depth, std::vector<ShownCohort>& list) {
  std::map<std::string, CohortId> members;
  for (const auto& [id, each] : all) {
    if (each.cohort.stake.cohort == parent) members.emplace(each.cohort.name, id);
  }
  for (const auto& [name, id] : members) {
    all.at(id).depth = depth;
    list.push_back(all.at(id));
    put_below(all, id, depth + 1, list);
  }
}

void write_cohort(spec::JsonWriter& json, const ShownCohort& shown) {
  const core::Cohort& cohort = shown.cohort;
  json.begin_object().member("name", cohort.name).key("parent");
  shown.parent.empty() ? json.null() : json.text(shown.parent);
  json.member("depth", shown.depth).key("weight").milli(cohort.stake.weight_milli).key("quota");
  write_quota(json, cohort.quota);
  json.key("nominal");
  write_quota(json, cohort.nominal);
  json.key("borrow");
  write_quota(json, cohort.stake.borrow);
  json.key("in_use").begin_object();
  write_use(json, cohort.in_use);
  json.end_object().key("borrowed");
  write_borrowed(json, cohort.nominal, cohort.in_use);
  json.member("cohorts", shown.cohorts).member("namespaces", shown.namespaces);
  if (!shown.warnings.empty()) json.member("warnings", shown.warnings);
  json.end_object();
}

std::string cohort_in_path(const CallPtr& call) {
  return std::string(call->request().param("cohort"));
}

// What should be known of what it was just given.
std::vector<std::string> notes_on_cohort(const core::State& state, const core::Cohort& cohort,
                                         const core::SetCohort& set) {
  core::Quota given = set.quota.value_or(core::Quota{});
  if (set.borrow) given.devices.insert(set.borrow->devices.begin(), set.borrow->devices.end());
  auto notes = core::unknown_devices(state, given);
  if (set.borrow || set.parent)
    core::note_idle_borrowing("cohort " + cohort.name, bool(cohort.stake.cohort),
                              cohort.stake.borrow, notes);
  return notes;
}

void show_cohort_named(const CallPtr& call, const std::string& name,
                       const core::SetCohort& set = {}) {
  view(
      call,
      [call, name, set](const core::State& state) -> Result<ShownCohort> {
        const core::Cohort* cohort = state.cohort_named(name);
        if (!cohort) return tl::unexpected(no_such_cohort(name));
        ShownCohort shown = gather(state, call->actor).at(cohort->id);
        for (CohortId at = cohort->stake.cohort; at; at = state.cohorts.at(at).stake.cohort)
          ++shown.depth;
        shown.warnings = notes_on_cohort(state, *cohort, set);
        return shown;
      },
      [call](const ShownCohort& shown) {
        std::string body;
        spec::JsonWriter json(body);
        write_cohort(json, shown);
        call->respond_json(std::move(body));
      });
}

}  // namespace

void list_cohorts(const CallPtr& call) {
  view(
      call,
      [call](const core::State& state) -> Result<ShownCohorts> {
        return gather(state, call->actor);
      },
      [call](ShownCohorts all) {
        std::vector<ShownCohort> list;
        put_below(all, {}, 0, list);
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().key("cohorts").begin_array();
        for (const ShownCohort& shown : list) write_cohort(json, shown);
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void show_cohort(const CallPtr& call) { show_cohort_named(call, cohort_in_path(call)); }

void set_cohort(const CallPtr& call) {
  const auto wish = body_of<spec::CohortWish>(call);
  if (!wish) return;
  const std::string name = cohort_in_path(call);
  core::SetCohort set{name, wish->parent, spec::to_weight(wish->weight), {}, {}};
  if (wish->quota) set.quota = spec::to_quota(*wish->quota);
  if (wish->borrow) set.borrow = spec::to_quota(*wish->borrow);
  command(call, set, {},
          [call, name, set](const runtime::Accepted&) { show_cohort_named(call, name, set); });
}

void delete_cohort(const CallPtr& call) {
  command(call, core::DeleteCohort{cohort_in_path(call)}, {},
          [call](const runtime::Accepted&) { call->respond_empty(204); });
}

}  // namespace atl::api
