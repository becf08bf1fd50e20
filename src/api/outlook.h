// Why a job waits and when it is expected to start, worked out in a copy of the server
// (runtime/aside.h): nothing but the state is touched.
#pragma once

#include <map>
#include <set>
#include <string>

#include "api/job_row.h"
#include "core/forecast.h"
#include "core/scheduling/explain.h"
#include "spec/json_writer.h"

namespace atl::api {

// Three runs of the forecast: work takes as long as a fifth, half or most of it used to at most.
struct ExpectedStart {
  Time expected;          // zero: nobody knows
  Time earliest, latest;  // likewise
  Time not_before;        // as far as was looked without its starting; zero: it did
  bool rough = false;     // beyond that carried on at the pace seen so far
  Time last;              // of its last task, if that was asked for; zero: nobody knows
};

inline constexpr size_t kExplainedMax = 10;  // jobs of one question

// Why each of the jobs waits, of the first kExplainedMax, and when it starts.
struct Outlooks {
  std::map<JobId, core::scheduling::Explanation> why;
  std::map<JobId, ExpectedStart> starts;
};
struct LookOptions {
  std::map<JobId, uint32_t> tasks = {};  // of these jobs this task is asked about
  bool to_the_last = false;              // tells when the last task of each starts, too
};
// The state is the caller's own. It is as it was afterwards; only copies of the process change it.
Outlooks look_ahead(core::State& own, Time now, const std::set<JobId>& jobs,
                    const LookOptions& options = {});

// The answer to `explain`; `id` is "12" or "12[3]". Without a forecast if there is none, and of a
// job that has ended. `reason`: the word for it, where the explanation is not about waiting.
std::string explanation_body(const core::State& table, const std::string& id, JobState state,
                             const core::scheduling::Explanation& why, const ExpectedStart* starts,
                             const char* reason = nullptr);

// Members of an object: expected_start and alternatives.
void write_outlook(spec::JsonWriter& json, const core::scheduling::Explanation& why,
                   const ExpectedStart* starts, Time now);

}  // namespace atl::api
