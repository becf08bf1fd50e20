#include "journal/rows.h"

#include <algorithm>

#include "base/wire.h"
#include "core/queue/lease.h"

namespace atl::journal {
namespace {

template <class T>
Result<T> decode_row(std::string_view body, const char* what) {
  auto row = wire::decode<T>(body);
  if (!row) {
    return fail(ErrorCode::internal, std::string("a row of ") + what +
                                         " is damaged; run `atoll doctor`, then restore a backup");
  }
  return row;
}

}  // namespace

void encode_row(const core::ArchiveJob& job, std::string& out) {
  out.clear();
  wire::put_fields(out, job);
}

void encode_row(const core::ArchiveAttempt& attempt, std::string& out) {
  out.clear();
  wire::put_fields(out, attempt);
}

Result<EndedJob> decode_job_row(std::string_view body) {
  return decode_row<EndedJob>(body, "ended_jobs");
}

Result<EndedAttempt> decode_attempt_row(std::string_view body) {
  return decode_row<EndedAttempt>(body, "attempts");
}

bool matches(const EndedFilter& filter, const EndedJob& ended) {
  const core::Job& job = ended.job;
  if (filter.ns && *filter.ns != job.ns) return false;
  if (!filter.visible.empty() &&
      std::ranges::find(filter.visible, job.ns) == filter.visible.end()) {
    return false;
  }
  if (filter.user && *filter.user != job.user) return false;
  if (filter.outcome && *filter.outcome != ended.outcome) return false;
  if (filter.ended_after && ended.ended <= filter.ended_after) return false;
  if (job.name.find(filter.name) == std::string::npos) return false;
  return std::ranges::all_of(filter.labels, [&](const core::Label& label) {
    return std::ranges::find(job.labels, label) != job.labels.end();
  });
}

bool may_match_labels(const EndedFilter& filter, std::string_view body) {
  return std::ranges::all_of(filter.labels, [&](const core::Label& label) {
    std::string bytes;
    wire::put(bytes, label);
    return body.find(bytes) != std::string_view::npos;
  });
}

core::Events asked_for(const core::Events& events) {
  core::Events kept;
  for (const core::Event& event : events) {
    const bool work = std::holds_alternative<core::JobSubmitted>(event.body) ||
                      std::holds_alternative<core::WorkflowSubmitted>(event.body) ||
                      std::holds_alternative<core::StepsAdded>(event.body);
    if (event.by && !work && !core::queue::daily_work(event.body)) kept.push_back(event);
  }
  return kept;
}

}  // namespace atl::journal
