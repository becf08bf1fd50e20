// The bodies of history rows, shared by the SQLite journal and its twin in memory. An Archive
// effect is encoded as it is and read back as the Ended struct of the same fields.
#pragma once

#include <string>
#include <string_view>

#include "journal/journal.h"

namespace atl::core {

ATOLL_DESCRIBE(ArchiveJob, job, terms, outcome, message, ended)
ATOLL_DESCRIBE(ArchiveAttempt, attempt, array, retried, outcome, placement, placed, result)

}  // namespace atl::core

namespace atl::journal {

ATOLL_DESCRIBE(EndedJob, job, terms, outcome, message, ended)
ATOLL_DESCRIBE(EndedAttempt, attempt, array, retried, outcome, placement, placed, result)

// Replace `out`, whose memory is reused.
void encode_row(const core::ArchiveJob& job, std::string& out);
void encode_row(const core::ArchiveAttempt& attempt, std::string& out);

[[nodiscard]] Result<EndedJob> decode_job_row(std::string_view body);
Result<EndedAttempt> decode_attempt_row(std::string_view body);

// Where the body of an item is kept: those of a queue side by side, in the order they were put.
// The core bounds both numbers so that they fit.
constexpr int64_t body_key(QueueId queue, ItemId item) {
  return static_cast<int64_t>((uint64_t{queue.value} << 40) | item.value);
}

bool matches(const EndedFilter& filter, const EndedJob& job);

// Whether the row's bytes contain every label of the filter: cheap, and false only when matches()
// is.
bool may_match_labels(const EndedFilter& filter, std::string_view body);

}  // namespace atl::journal
