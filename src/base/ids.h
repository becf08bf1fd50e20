// Identities. Ids come from counters in the state, never from chance, so a replay gives the same
// ones.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/result.h"

namespace atl {

template <class Tag, class Int>
struct Id {
  Int value = 0;
  auto operator<=>(const Id&) const = default;
  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr size_t hash_value(const Id& id) { return id.value; }
};

using JobId = Id<struct JobTag, uint64_t>;
using NamespaceId = Id<struct NamespaceTag, uint32_t>;
using UserId = Id<struct UserTag, uint32_t>;
using TermsId = Id<struct TermsTag, uint32_t>;
using SiteId = Id<struct SiteTag, uint32_t>;
using TokenId = Id<struct TokenTag, uint32_t>;
using CohortId = Id<struct CohortTag, uint32_t>;
using ReservationId = Id<struct ReservationTag, uint32_t>;
using ShapeId = Id<struct ShapeTag, uint32_t>;
using NoticeId = Id<struct NoticeTag, uint64_t>;
using WorkflowId = Id<struct WorkflowTag, uint64_t>;
using ScheduleId = Id<struct ScheduleTag, uint32_t>;
using QueueId = Id<struct QueueTag, uint32_t>;
using ItemId = Id<struct ItemTag, uint64_t>;  // within its queue
using LeaseId = Id<struct LeaseTag, uint64_t>;

// A job, one task of an array, or one attempt of it: "12", "12[7]", "12[7].2"; attempts count
// from 1.
struct TaskId {
  JobId job;
  uint32_t index = 0;
  auto operator<=>(const TaskId&) const = default;
};

struct AttemptId {
  JobId job;
  uint32_t index = 0;
  uint32_t attempt = 0;
  auto operator<=>(const AttemptId&) const = default;
  TaskId task() const { return {job, index}; }
};

std::string to_string(JobId id);
std::string to_string(WorkflowId id);
// `array` decides whether the index is written: a job that is not an array has one task, index 0.
std::string to_string(TaskId id, bool array);
std::string to_string(AttemptId id, bool array = true);

// What a person names: a job and perhaps one of its tasks.
struct Selector {
  JobId job;
  bool has_index = false;
  uint32_t index = 0;
};
[[nodiscard]] Result<Selector> parse_selector(std::string_view text);

// The SHA-256 of a payload; core only carries and compares it.
struct Digest {
  std::array<uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
};
std::string to_hex(const Digest& digest);
[[nodiscard]] Result<Digest> parse_digest(std::string_view hex);

ATOLL_DESCRIBE(TaskId, job, index)
ATOLL_DESCRIBE(AttemptId, job, index, attempt)

}  // namespace atl
