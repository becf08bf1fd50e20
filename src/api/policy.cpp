// Tiers, and how fast the past is forgotten.
#include "api/context.h"
#include "api/handlers.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

constexpr size_t kJobsPerSlice = 5'000;

constexpr const char* kMeanings[] = {
    "somebody sits in front of it: first in line, and nothing below counts against it",
    "must stay up: after interactive work",
    "ordinary jobs, and what a job is that says nothing: in order of fair share",
    "whatever is left over: yields to all other work, after a notice and its grace"};

// Counted over all live jobs, a slice of them per turn of the loop.
struct TierCount {
  CallPtr call;
  core::Policy policy;
  std::array<uint64_t, std::size(core::kTiers)> waiting{};
  std::array<uint64_t, std::size(core::kTiers)> running{};
};

void respond_policy(const TierCount& count) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("half_life", spec::exact_duration(count.policy.half_life));
  json.member("ageing", spec::exact_duration(count.policy.ageing)).key("tiers").begin_array();
  for (const core::Tier tier : core::kTiers) {
    const auto at = static_cast<size_t>(tier);
    json.begin_object().member("name", enum_name(tier)).member("meaning", kMeanings[at]);
    json.member("yields", tier == core::Tier::opportunistic);
    json.member("running", count.running[at]).member("waiting", count.waiting[at]).end_object();
  }
  json.end_array().end_object();
  count.call->respond_json(std::move(body));
}

void count_tiers(const std::shared_ptr<TierCount>& count, JobId after) {
  count->call->context.runtime.read([count, after](const core::State& state) {
    auto it = state.jobs.upper_bound(after);
    for (size_t looked = 0; it != state.jobs.end(); ++it) {
      if (looked++ == kJobsPerSlice) return count_tiers(count, std::prev(it)->first);
      const core::Job& job = it->second;
      const auto tier = static_cast<size_t>(state.terms_of(job).tier);
      count->running[tier] += job.placed;
      count->waiting[tier] += job.waiting.size() + job.tasks.size() - job.placed;
    }
    count->policy = state.policy;
    run_on(count->call->context.quick, count->call, [count] { respond_policy(*count); });
  });
}

}  // namespace

void show_policy(const CallPtr& call) {
  auto count = std::make_shared<TierCount>();
  count->call = call;
  count_tiers(count, JobId{});
}

void change_policy(const CallPtr& call) {
  const auto wish = body_of<spec::PolicyWish>(call);
  if (!wish) return;
  command(call, core::SetPolicy{wish->half_life, wish->ageing}, {},
          [call](const runtime::Accepted&) { show_policy(call); });
}

}  // namespace atl::api
