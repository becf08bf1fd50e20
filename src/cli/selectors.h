// How jobs are named on the command line: 12, 12[7], 12[7].2, last, last[7], all.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/session.h"

namespace atl::cli {

// The states of a job that has not ended, as the API's filter takes them.
inline constexpr const char* kLiveStates = "waiting,starting,running,stopping";

struct Wanted {
  enum class Kind { one, last, all };
  Kind kind = Kind::one;
  std::string id;  // of `one`, as the API takes it; of `last` what follows it: "[7]", or nothing
  std::string attempt;  // "2" of 12[7].2; empty when none is named
};

// `invalid` says how it is written.
[[nodiscard]] Result<Wanted> parse_wanted(std::string_view word);

// The path of a job in the API, without its root: "/jobs/12%5B7%5D".
std::string job_path(const std::string& id);

// One job; `last` is the newest one of who asks. An attempt is refused: see one_attempt.
[[nodiscard]] Result<std::string> one_job(Session& session, const std::string& word);

struct NamedAttempt {
  std::string id;       // of the job or task
  std::string attempt;  // empty: none was named
};
// For verbs that can look at one attempt by itself.
[[nodiscard]] Result<NamedAttempt> one_attempt(Session& session, const std::string& word);

// Several; `all` are those of who asks that have not ended. Each once, in the order named.
[[nodiscard]] Result<std::vector<std::string>> many_jobs(Session& session,
                                                         const std::vector<std::string>& words);

bool names_all(const std::vector<std::string>& words);

}  // namespace atl::cli
