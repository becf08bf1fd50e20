// The whole platform at once. What is wished for is laid over a copy of what is in force, the copy
// is judged, and the events are drafted in an order in which each of them applies.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "core/cohorts.h"
#include "core/decide.h"
#include "core/limits.h"
#include "core/queue/index.h"
#include "core/schedule/index.h"

namespace atl::core {
namespace {

std::string place_of(const char* section, size_t index) {
  return std::string(section) + "[" + std::to_string(index) + "]";
}

// The same error, of a field inside the entry.
tl::unexpected<Error> within(const std::string& entry, Error error) {
  error.field = error.field.empty() ? entry : entry + "." + error.field;
  return tl::unexpected<Error>(std::move(error));
}

class PlatformPlan {
 public:
  PlatformPlan(const State& state, const Actor& actor, const ApplyPlatform& wish)
      : state_(state), actor_(actor), wish_(wish) {}

  Result<void> decide(Draft& draft) {
    if (auto ok = check_entries(); !ok) return ok;
    copy_what_is();
    if (auto ok = lay_cohorts(); !ok) return ok;
    if (auto ok = lay_namespaces(); !ok) return ok;
    if (auto ok = prune(); !ok) return ok;
    if (auto ok = check_tree(); !ok) return ok;
    if (auto ok = check_sums(); !ok) return ok;
    draft_all(draft);
    if (auto ok = draft_calendar(state_, wish_, draft); !ok) return ok;
    return draft_reservations(state_, after_, wish_, draft);
  }

 private:
  // Each entry by itself is held to what the single commands are held to.
  Result<void> check_entries() {
    if (std::max(wish_.cohorts.size(), wish_.namespaces.size()) > kPlatformEntriesMax)
      return fail(ErrorCode::too_large, "at most 5000 cohorts and 5000 namespaces at once");
    Draft unused({}, {});
    State alone;
    alone.users = state_.users;
    if (wish_.policy) {
      const SetPolicy set{wish_.policy->half_life, wish_.policy->ageing};
      if (auto ok = decide_command(alone, actor_, set, unused); !ok)
        return within("policy", ok.error());
    }
    for (size_t i = 0; i < wish_.cohorts.size(); ++i) {
      const auto& entry = wish_.cohorts[i];
      const SetCohort set{entry.name, {}, entry.weight_milli, entry.quota, entry.borrow};
      if (auto ok = decide_command(alone, actor_, set, unused); !ok)
        return within(place_of("cohorts", i), ok.error());
    }
    for (size_t i = 0; i < wish_.namespaces.size(); ++i) {
      const auto& entry = wish_.namespaces[i];
      const std::string place = place_of("namespaces", i);
      if (auto ok = check_identifier(entry.name, "name"); !ok) return within(place, ok.error());
      if (auto ok = check_quota(entry.quota); !ok) return within(place, ok.error());
      alone.namespaces[NamespaceId{1}].id = NamespaceId{1};
      alone.namespace_names = {{entry.name, NamespaceId{1}}};
      const SetStake set{entry.name, {}, entry.weight_milli, entry.borrow};
      if (auto ok = decide_command(alone, actor_, set, unused); !ok)
        return within(place, ok.error());
      if (auto ok = check_members(entry, place); !ok) return ok;
    }
    return {};
  }

  Result<void> check_members(const ApplyPlatform::NamespaceTerms& entry, const std::string& place) {
    if (!entry.members) return {};
    bool admin = false;
    for (const auto& [user, role] : *entry.members) {
      if (!state_.user_named(user))
        return fail(ErrorCode::not_found,
                    "there is no user " + quote(user) + "; create them first: atoll user create",
                    place + ".members." + user);
      admin |= role == Role::admin;
    }
    if (admin) return {};
    return fail(ErrorCode::conflict,
                "namespace " + entry.name + " would have no administrator; make one of them admin",
                place + ".members");
  }

  // Only what quotas and places are judged by.
  void copy_what_is() {
    after_.counters = state_.counters;
    for (const auto& [id, cohort] : state_.cohorts) {
      Cohort& copy = after_.cohorts[id];
      copy.id = id;
      copy.name = cohort.name;
      copy.quota = cohort.quota;
      copy.stake = cohort.stake;
    }
    for (const auto& [id, ns] : state_.namespaces) {
      Namespace& copy = after_.namespaces[id];
      copy.id = id;
      copy.name = ns.name;
      copy.quota = ns.quota;
      copy.stake = ns.stake;
    }
    after_.cohort_names = state_.cohort_names;
    after_.namespace_names = state_.namespace_names;
  }

  Result<CohortId> cohort_called(const std::string& name, const std::string& field) const {
    if (name.empty()) return CohortId{};
    if (const Cohort* cohort = after_.cohort_named(name)) return cohort->id;
    return fail(ErrorCode::not_found,
                "there is no cohort " + quote(name) + "; add it under cohorts, or correct the name",
                field);
  }

  Result<void> lay_cohorts() {
    for (size_t i = 0; i < wish_.cohorts.size(); ++i) {
      const std::string& name = wish_.cohorts[i].name;
      const auto [known, fresh] = after_.cohort_names.try_emplace(name, CohortId{});
      if (fresh) known->second = CohortId{++after_.counters.cohort};
      if (!cohort_places_.emplace(known->second, i).second)
        return fail(ErrorCode::invalid, "cohort " + name + " is named twice; keep one of them",
                    place_of("cohorts", i));
      Cohort& cohort = after_.cohorts[known->second];
      cohort.id = known->second;
      cohort.name = name;
    }
    for (const auto& [id, at] : cohort_places_) {
      const auto& entry = wish_.cohorts[at];
      const auto parent = cohort_called(entry.parent, place_of("cohorts", at) + ".parent");
      if (!parent) return tl::unexpected(parent.error());
      Cohort& cohort = after_.cohorts.at(id);
      cohort.quota = entry.quota;
      cohort.stake = {*parent, entry.weight_milli, entry.borrow};
    }
    return {};
  }

  Result<void> lay_namespaces() {
    for (size_t i = 0; i < wish_.namespaces.size(); ++i) {
      const auto& entry = wish_.namespaces[i];
      const auto [known, fresh] = after_.namespace_names.try_emplace(entry.name, NamespaceId{});
      if (fresh) known->second = NamespaceId{++after_.counters.ns};
      if (!namespace_places_.emplace(known->second, i).second)
        return fail(ErrorCode::invalid,
                    "namespace " + entry.name + " is named twice; keep one of them",
                    place_of("namespaces", i));
      const auto cohort = cohort_called(entry.cohort, place_of("namespaces", i) + ".cohort");
      if (!cohort) return tl::unexpected(cohort.error());
      Namespace& ns = after_.namespaces[known->second];
      ns.id = known->second;
      ns.name = entry.name;
      ns.quota = entry.quota;
      ns.stake = {*cohort, entry.weight_milli, entry.borrow};
    }
    return {};
  }

  Result<void> prune() {
    if (!wish_.prune) return {};
    for (const auto& [id, ns] : state_.namespaces) {
      const bool in_use = ns.jobs > 0 || ns.workflows > 0 || ns.name == kDefaultNamespace;
      if (namespace_places_.count(id) || in_use) continue;
      if (first_queue_of(state_, id) || first_schedule_of(state_, id)) continue;
      after_.namespaces.erase(id);
      after_.namespace_names.erase(ns.name);
    }
    for (const auto& [id, cohort] : state_.cohorts) {
      if (!cohort_places_.count(id)) after_.cohorts.erase(id);
    }
    const auto check = [&](const auto& member, const char* kind, const std::string& hint,
                           const std::string& field) -> Result<void> {
      const CohortId above = member.stake.cohort;
      if (!above || after_.cohorts.count(above)) return {};
      return fail(ErrorCode::conflict,
                  "cohort " + state_.cohorts.at(above).name + " cannot be deleted: " + kind + " " +
                      member.name + " belongs to it" + hint,
                  field);
    };
    for (const auto& [id, at] : cohort_places_) {
      if (auto ok = check(after_.cohorts.at(id), "cohort", "; name both of them",
                          place_of("cohorts", at) + ".parent");
          !ok)
        return ok;
    }
    for (const auto& [id, ns] : after_.namespaces) {
      const auto at = namespace_places_.find(id);
      const bool named = at != namespace_places_.end();
      if (auto ok = check(
              ns, "namespace",
              named ? "; name both of them"
                    : ", which is kept because it has jobs or queues or is where jobs go that "
                      "name none; name it too",
              named ? place_of("namespaces", at->second) + ".cohort" : "");
          !ok)
        return ok;
    }
    return {};
  }

  std::string cohort_field(CohortId id, const char* field) const {
    const auto at = cohort_places_.find(id);
    return at == cohort_places_.end() ? "cohorts" : place_of("cohorts", at->second) + field;
  }

  // No cycles, and nothing too deep. Also finds the order from the roots down.
  Result<void> check_tree() {
    for (const auto& [id, cohort] : after_.cohorts) {
      uint32_t depth = 0;
      for (CohortId at = id; at && depth <= kCohortDepthMax; at = parent_of(at)) ++depth;
      if (depth > kCohortDepthMax) return refuse_place(id);
      top_down_.emplace(depth, id);
    }
    return {};
  }

  CohortId parent_of(CohortId id) const { return after_.cohorts.at(id).stake.cohort; }

  Result<void> refuse_place(CohortId id) const {
    CohortId at = id;
    for (size_t step = 0; at && step < after_.cohorts.size(); ++step) at = parent_of(at);
    if (!at)
      return fail(
          ErrorCode::invalid,
          "cohort " + after_.cohorts.at(id).name + " is nested deeper than 8; move it further up",
          cohort_field(id, ".parent"));
    // After so many steps it goes round in a circle; somebody in it was named, or it would have
    // been there before.
    const auto place = [&](CohortId each) {
      const auto found = cohort_places_.find(each);
      return found == cohort_places_.end() ? SIZE_MAX : found->second;
    };
    for (CohortId next = parent_of(at), end = at; next != end; next = parent_of(next)) {
      if (place(next) < place(at)) at = next;
    }
    std::string circle = after_.cohorts.at(at).name;
    for (CohortId next = parent_of(at); next != at; next = parent_of(next))
      circle += " in " + after_.cohorts.at(next).name;
    return fail(ErrorCode::conflict,
                "cohort " + after_.cohorts.at(at).name + " would be within itself (" + circle +
                    " in " + after_.cohorts.at(at).name +
                    "); cohorts form a tree, so give one of them another parent, or none",
                cohort_field(at, ".parent"));
  }

  Result<void> check_sums() {
    count_cohorts(after_);
    for (const auto& [id, cohort] : after_.cohorts) {
      const std::string what = exceeded(member_quotas(after_, id), cohort.quota);
      if (what.empty()) continue;
      return fail(ErrorCode::conflict,
                  "the quotas of the members of cohort " + cohort.name + " (" +
                      members_in_words(id) + ") together exceed its own in " + what +
                      "; lower one of them, or raise that of " + cohort.name,
                  sum_field(id));
    }
    return {};
  }

  std::string members_in_words(CohortId id) const {
    std::string words;
    size_t more = 0;
    const auto name = [&](const auto& member) {
      if (member.stake.cohort != id) return;
      if (words.size() > 120)
        ++more;
      else
        words += (words.empty() ? "" : ", ") + member.name;
    };
    for (const auto& [other, cohort] : after_.cohorts) name(cohort);
    for (const auto& [other, ns] : after_.namespaces) name(ns);
    return more == 0 ? words : words + " and " + std::to_string(more) + " more";
  }

  // The cohort's own entry, or else that of a member.
  std::string sum_field(CohortId id) const {
    if (cohort_places_.count(id)) return cohort_field(id, ".quota");
    for (const auto& [ns, at] : namespace_places_) {
      if (after_.namespaces.at(ns).stake.cohort == id) return place_of("namespaces", at) + ".quota";
    }
    for (const auto& [cohort, at] : cohort_places_) {
      if (after_.cohorts.at(cohort).stake.cohort == id) return place_of("cohorts", at) + ".quota";
    }
    return "cohorts";
  }

  // From the roots down, so that no step closes a circle; deletions last, from the leaves up.
  void draft_all(Draft& draft) const {
    if (wish_.policy && *wish_.policy != state_.policy) draft.add(PolicySet{*wish_.policy});
    for (const auto& [depth, id] : top_down_) {
      const Cohort& cohort = after_.cohorts.at(id);
      const auto known = state_.cohorts.find(id);
      const bool same = known != state_.cohorts.end() && known->second.quota == cohort.quota &&
                        known->second.stake == cohort.stake;
      if (!same) draft.add(CohortSet{id, cohort.name, cohort.quota, cohort.stake});
    }
    for (const auto& [id, at] : namespace_places_) draft_namespace(id, wish_.namespaces[at], draft);
    for (const auto& [id, ns] : state_.namespaces) {
      if (!after_.namespaces.count(id)) draft.add(NamespaceDeleted{id});
    }
    draft_deleted_cohorts(draft);
  }

  void draft_namespace(NamespaceId id, const ApplyPlatform::NamespaceTerms& entry,
                       Draft& draft) const {
    const auto known = state_.namespaces.find(id);
    const bool fresh = known == state_.namespaces.end();
    static const Namespace kNone;
    const Namespace& before = fresh ? kNone : known->second;
    const Namespace& ns = after_.namespaces.at(id);
    if (fresh) draft.add(NamespaceCreated{id, ns.name});
    if (fresh && !entry.members) draft.add(MemberSet{id, actor_.user, Role::admin});
    if (ns.stake != before.stake) draft.add(StakeSet{id, ns.stake});
    if (ns.quota != before.quota) draft.add(QuotaSet{id, ns.quota});
    if (!entry.members) return;
    std::map<UserId, Role> members;
    for (const auto& [user, role] : *entry.members) members[state_.user_named(user)->id] = role;
    for (const auto& [user, role] : members) {
      const auto had = before.members.find(user);
      if (had == before.members.end() || had->second != role) draft.add(MemberSet{id, user, role});
    }
    for (const auto& [user, role] : before.members) {
      if (!members.count(user)) draft.add(MemberRemoved{id, user});
    }
  }

  void draft_deleted_cohorts(Draft& draft) const {
    std::set<std::pair<int, CohortId>> deepest_first;
    for (const auto& [id, cohort] : state_.cohorts) {
      if (after_.cohorts.count(id)) continue;
      int depth = 0;
      for_each_cohort(state_, id, [&](const Cohort&) { --depth; });
      deepest_first.emplace(depth, id);
    }
    for (const auto& [depth, id] : deepest_first) draft.add(CohortDeleted{id});
  }

  const State& state_;
  const Actor& actor_;
  const ApplyPlatform& wish_;
  State after_;
  std::map<CohortId, size_t> cohort_places_;  // in the wish
  std::map<NamespaceId, size_t> namespace_places_;
  std::set<std::pair<uint32_t, CohortId>> top_down_;
};

}  // namespace

Result<void> decide_command(const State& state, const Actor& actor, const ApplyPlatform& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  return PlatformPlan(state, actor, command).decide(draft);
}

}  // namespace atl::core
