#include "sim/checkers/idempotency.h"

namespace atl::sim {

void Idempotency::name(const Key& key, JobId job) {
  const auto [known, first] = jobs_.emplace(key, job);
  if (!first && known->second != job) {
    broke("key " + key.second + " made job " + to_string(known->second) + " and job " +
          to_string(job));
  }
}

void Idempotency::told(const Told& told) {
  const auto* submit = std::get_if<core::SubmitJobs>(&told.request.command);
  if (!submit || !told.answer) return;
  if (told.answer->jobs.size() != submit->jobs.size())
    return broke("an answer names another number of jobs");
  for (size_t i = 0; i < submit->jobs.size(); ++i) {
    if (!submit->jobs[i].key.empty())
      name({told.request.actor.user, submit->jobs[i].key}, told.answer->jobs[i]);
  }
}

void Idempotency::recorded(uint64_t, const core::Event& event, const core::State&) {
  const auto* submitted = std::get_if<core::JobSubmitted>(&event.body);
  if (submitted && !submitted->key.empty()) name({submitted->user, submitted->key}, submitted->id);
}

}  // namespace atl::sim
