// Who shares with whom, by what weight, and when.
#include <algorithm>

#include "base/amount.h"
#include "base/text.h"
#include "core/calendar.h"
#include "core/cohorts.h"
#include "core/decide.h"
#include "core/limits.h"

namespace atl::core {
namespace {

Result<void> check_weight(uint32_t weight_milli) {
  if (weight_milli >= kWeightMilliMin && weight_milli <= kWeightMilliMax) return {};
  return fail(ErrorCode::invalid,
              "the weight is " + format_milli(weight_milli) +
                  "; it must be between 0.001 and 1000000 (1 is usual; a namespace that shall get "
                  "nothing is given a quota of 0)",
              "weight");
}

Result<CohortId> named_cohort(const State& state, const std::string& name,
                              const std::string& field) {
  if (name.empty()) return CohortId{};
  if (const Cohort* cohort = state.cohort_named(name)) return cohort->id;
  std::vector<std::string> known;
  for (const auto& [other, id] : state.cohort_names) known.push_back(other);
  const auto meant = did_you_mean(name, known);
  return fail(
      ErrorCode::not_found,
      "there is no cohort " + quote(name) +
          (meant ? "; did you mean " + *meant + "?" : "; `atoll cohort set " + name + "` makes it"),
      field);
}

Result<void> check_place(const State& state, CohortId self, CohortId parent) {
  uint32_t depth = 1;
  bool cycle = false;
  for_each_cohort(state, parent, [&](const Cohort& above) {
    ++depth;
    cycle |= above.id == self;
  });
  if (parent == self)
    return fail(ErrorCode::conflict,
                "cohort " + state.cohorts.at(self).name +
                    " cannot belong to itself; cohorts form a tree, so name another, or none",
                "parent");
  if (cycle)
    return fail(ErrorCode::conflict,
                "cohort " + state.cohorts.at(parent).name +
                    " is below this one; cohorts form a tree, so name one that is not below it",
                "parent");
  if (depth > kCohortDepthMax)
    return fail(ErrorCode::invalid, "cohorts may be nested 8 deep", "parent");
  return {};
}

}  // namespace

Result<void> check_quota(const Quota& quota) {
  const bool negative =
      (quota.cpu_milli && *quota.cpu_milli < 0) || (quota.memory_bytes && *quota.memory_bytes < 0);
  if (negative) return fail(ErrorCode::invalid, "a quota cannot be negative", "quota");
  if (quota.memory_bytes && *quota.memory_bytes > 0 && *quota.memory_bytes < kMemoryQuotaMin)
    return fail(ErrorCode::invalid,
                "memory is " + std::to_string(*quota.memory_bytes) +
                    " bytes, which hold no task; write an amount with its unit, such as 64Gi, or 0",
                "quota.memory");
  for (const auto& [key, count] : quota.devices) {
    for (const std::string_view part : split(key, ':')) {
      if (auto ok = check_identifier(part, "quota.devices"); !ok) return ok;
    }
    if (count > kDeviceCountMax)
      return fail(ErrorCode::invalid,
                  key + " is more than " + std::to_string(kDeviceCountMax) +
                      ", which is the most; leave it out for no limit",
                  "quota.devices");
  }
  return {};
}

Result<void> draft_within_cohorts(const State& state, EventBody change, Draft& draft) {
  State after;  // only what the sums are made of
  after.namespaces = state.namespaces;
  after.cohorts = state.cohorts;
  apply(after, {state.now, {}, change});
  for (const auto& [id, cohort] : after.cohorts) {
    const std::string what = exceeded(member_quotas(after, id), cohort.quota);
    if (what.empty()) continue;
    return fail(ErrorCode::conflict,
                "the quotas of the members of cohort " + cohort.name +
                    " would together exceed its own in " + what +
                    "; lower one of them, or raise that of the cohort first",
                "quota");
  }
  draft.add(std::move(change));
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const SetCohort& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  if (auto ok = check_identifier(command.name, "name"); !ok) return ok;
  const Cohort* known = state.cohort_named(command.name);
  CohortSet set{known ? known->id : CohortId{state.counters.cohort + 1}, command.name, {}, {}};
  if (known) {
    set.quota = known->quota;
    set.stake = known->stake;
  }
  if (command.parent) {
    const auto parent = named_cohort(state, *command.parent, "parent");
    if (!parent) return tl::unexpected(parent.error());
    if (auto ok = check_place(state, set.id, *parent); !ok) return ok;
    set.stake.cohort = *parent;
  }
  if (command.weight_milli) set.stake.weight_milli = *command.weight_milli;
  if (auto ok = check_weight(set.stake.weight_milli); !ok) return ok;
  if (command.quota) set.quota = *command.quota;
  if (command.borrow) set.stake.borrow = *command.borrow;
  for (const Quota* quota : {&set.quota, &set.stake.borrow}) {
    if (auto ok = check_quota(*quota); !ok) return ok;
    if (quota->queued)
      return fail(ErrorCode::invalid,
                  "queued jobs are limited by namespace: write it in the quota of one "
                  "(atoll ns quota NAME --queued N)",
                  "quota");
  }
  if (known && known->quota == set.quota && known->stake == set.stake) return {};
  return draft_within_cohorts(state, set, draft);
}

Result<void> decide_command(const State& state, const Actor& actor, const DeleteCohort& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const auto cohort = named_cohort(state, command.name, "name");
  if (!cohort) return tl::unexpected(cohort.error());
  if (!member_quotas(state, *cohort).empty())
    return fail(ErrorCode::conflict,
                "cohort " + command.name + " still has members; move them out first", "name");
  draft.add(CohortDeleted{*cohort});
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor, const SetStake& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  const Namespace* ns = state.namespace_named(command.ns);
  if (!ns)
    return fail(ErrorCode::not_found, "there is no namespace " + quote(command.ns), "namespace");
  StakeSet set{ns->id, ns->stake};
  if (command.cohort) {
    const auto cohort = named_cohort(state, *command.cohort, "cohort");
    if (!cohort) return tl::unexpected(cohort.error());
    set.stake.cohort = *cohort;
  }
  if (command.weight_milli) set.stake.weight_milli = *command.weight_milli;
  if (auto ok = check_weight(set.stake.weight_milli); !ok) return ok;
  if (command.borrow) set.stake.borrow = *command.borrow;
  if (auto ok = check_quota(set.stake.borrow); !ok) return ok;
  if (command.borrow && command.borrow->queued)
    return fail(ErrorCode::invalid,
                "queued jobs cannot be borrowed: write cpu, memory, running or devices, and the "
                "limit of queued jobs in the quota (atoll ns quota NAME --queued N)",
                "borrow");
  if (set.stake == ns->stake) return {};
  return draft_within_cohorts(state, set, draft);
}

Result<void> decide_command(const State& state, const Actor& actor, const SetPolicy& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  PolicySet set{state.policy};
  if (command.half_life) set.policy.half_life = *command.half_life;
  if (command.ageing) set.policy.ageing = *command.ageing;
  const auto check = [](const char* field, Duration value, Duration low,
                        Duration high) -> Result<void> {
    if (value >= low && value <= high) return {};
    return fail(ErrorCode::invalid,
                std::string(field) + " is " + format_duration(value) + "; it must be between " +
                    format_duration(low) + " and " + format_duration(high),
                field);
  };
  if (auto ok = check("half_life", set.policy.half_life, kHalfLifeMin, kHalfLifeMax); !ok)
    return ok;
  if (auto ok = check("ageing", set.policy.ageing, kAgeingMin, kAgeingMax); !ok) return ok;
  if (set.policy != state.policy) draft.add(set);
  return {};
}

Result<void> check_calendar_entry(const CalendarEntry& entry) {
  if (auto ok = check_identifier(entry.name, "name"); !ok) return ok;
  if ((entry.days & 0b1111111) == 0 || entry.days > 0b1111111)
    return fail(ErrorCode::invalid, "an entry needs at least one day of the week, such as mon-fri",
                "days");
  if (entry.from >= 24 * 60 || entry.until > 24 * 60)
    return fail(ErrorCode::invalid, "times must be between 00:00 and 24:00", "from");
  if (entry.from == entry.until)
    return fail(
        ErrorCode::invalid,
        "the entry begins and ends at the same time; for the whole day leave both out, and the "
        "end of a day is 24:00",
        "until");
  if (entry.share_milli && (*entry.share_milli < 0 || *entry.share_milli > 1000))
    return fail(ErrorCode::invalid, "the share must be between 0 and 1, such as 0.5", "share");
  if (auto ok = check_quota(entry.limit); !ok) return ok;
  if (entry.limit.queued)
    return fail(ErrorCode::invalid,
                "queued jobs are limited by namespace, and not by the hour: write cpu, memory, "
                "running or devices",
                "limit");
  if (!entry.share_milli && entry.limit == Quota{})
    return fail(ErrorCode::invalid,
                "the entry limits nothing: give it a share such as 0.5, or a limit such as cpu=16",
                "share");
  return {};
}

void put_entry(Calendar& calendar, const CalendarEntry& entry) {
  auto& entries = calendar.entries;
  std::erase_if(entries, [&](const CalendarEntry& each) { return each.name == entry.name; });
  const auto later = [&](const CalendarEntry& each) { return each.name > entry.name; };
  entries.insert(std::find_if(entries.begin(), entries.end(), later), entry);
}

Result<void> check_calendar(const Calendar& calendar, Tier tier, const std::string& field) {
  if (calendar.entries.size() > kCalendarEntriesMax)
    return fail(ErrorCode::exhausted, "a calendar may have at most 100 entries", field);
  if (!never_opens(calendar, tier)) return {};
  return fail(ErrorCode::conflict,
              std::string("with this entry the calendar would never open for ") + enum_name(tier) +
                  "; leave some hours of the week, or a share above 0",
              field);
}

Result<void> decide_command(const State& state, const Actor& actor, const SetCalendarEntry& command,
                            Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  if (auto ok = check_calendar_entry(command.entry); !ok) return ok;
  CalendarSet set{state.calendar};
  put_entry(set.calendar, command.entry);
  if (auto ok = check_calendar(set.calendar, command.entry.tier, "share"); !ok) return ok;
  if (set.calendar != state.calendar) draft.add(std::move(set));
  return {};
}

Result<void> decide_command(const State& state, const Actor& actor,
                            const DeleteCalendarEntry& command, Draft& draft) {
  if (auto ok = require_platform_admin(state, actor); !ok) return ok;
  CalendarSet set{state.calendar};
  if (std::erase_if(set.calendar.entries,
                    [&](const CalendarEntry& each) { return each.name == command.name; }) == 0)
    return fail(
        ErrorCode::not_found,
        "the calendar has no entry " + quote(command.name) + "; `atoll calendar` shows them",
        "name");
  draft.add(std::move(set));
  return {};
}

}  // namespace atl::core
