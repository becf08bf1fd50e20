// A job as lists show it: small, copied on the core's thread, written as JSON off it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/scheduling/explain.h"
#include "core/state.h"
#include "journal/journal.h"
#include "site/progress.h"
#include "spec/json_writer.h"

namespace atl::api {

enum class JobState : uint8_t { waiting, starting, running, stopping, ended };
BOOST_DESCRIBE_ENUM(JobState, waiting, starting, running, stopping, ended)
inline constexpr const char* kStateWords[] = {"waiting", "starting", "running", "stopping",
                                              "ended"};
inline constexpr const char* kOutcomeWords[] = {"succeeded", "failed", "cancelled",
                                                "timed_out", "lost",   "skipped"};

// Of the whole job: the most active state among its tasks.
JobState state_of(const core::Job& job);
JobState state_of(const core::TaskState& task);
uint64_t waiting_tasks(const core::Job& job);  // not placed and not ended

struct PlacedAttempt {
  SiteId site;
  AttemptId attempt;
};

struct JobRow {
  JobId id;
  NamespaceId ns;
  UserId user;
  JobState state = JobState::waiting;
  const char* reason = nullptr;  // while waiting
  std::optional<core::Outcome> outcome;
  std::string name;
  std::string message;  // of an ended job
  bool array = false;
  bool held = false;
  bool unreachable = false;
  int32_t priority = 0;
  core::Tier tier = core::Tier::batch;
  Duration wall, grace;
  uint32_t gang = 0;
  uint32_t parallel_max = 0;
  core::Resources resources;
  Time submitted, started, ended;
  SiteId site;
  std::string node;
  uint64_t size = 1, waiting = 0, active = 0;
  core::Tally tally{};
  core::Labels labels;
  std::vector<PlacedAttempt> placed;  // whose progress is its own (progress_view.h)
  std::optional<site::Progress> progress;
};

// Why jobs wait, asked once per namespace and terms: neighbours in a list mostly share them.
struct ReasonCache {
  std::map<std::pair<NamespaceId, TermsId>, const char*> known;
  // Of the state as it is: to be reset before the core's thread is given back.
  std::optional<core::scheduling::Glance> glance;
};

JobRow live_row(const core::State& state, const core::Job& job, ReasonCache& reasons, Time now);
JobRow ended_row(const journal::EndedJob& ended);

// The members without the braces, so that a longer view can go on. `table` gives the names.
void write_row(spec::JsonWriter& json, const core::State& table, const JobRow& row);

}  // namespace atl::api
