#include "cli/selectors.h"

#include <algorithm>

#include "base/ids.h"
#include "base/text.h"

namespace atl::cli {
namespace {

Result<std::string> newest_job(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  auto jobs = (*api)->list("/jobs" + query({{"user", "me"}, {"limit", "1"}}), 1);
  if (!jobs) return tl::unexpected(jobs.error());
  if (jobs->empty()) return fail(ErrorCode::not_found, "there is no last job: you have none yet");
  return jobs->front().text("id");
}

Result<std::vector<std::string>> live_jobs(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  auto jobs =
      (*api)->list("/jobs" + query({{"user", "me"}, {"state", kLiveStates}, {"limit", "1000"}}));
  if (!jobs) return tl::unexpected(jobs.error());
  std::vector<std::string> ids;
  for (const Json& job : *jobs) ids.push_back(job.text("id"));
  return ids;
}

}  // namespace

Result<Wanted> parse_wanted(std::string_view word) {
  if (word == "all") return Wanted{Wanted::Kind::all, {}, {}};
  const auto refuse = [&] {
    return fail(
        ErrorCode::invalid,
        quote(word) + " is not a job: write an id such as 12, a task such as 12[7], or last");
  };
  std::string_view name = word;
  std::string attempt;
  if (const std::size_t dot = word.find('.'); dot != std::string_view::npos) {
    const auto number = parse_int(word.substr(dot + 1));
    if (!number || *number <= 0 || *number > UINT32_MAX) return refuse();
    attempt = std::to_string(*number);
    name = word.substr(0, dot);
  }
  // `last` stands for a number, so that it is read by the same rules.
  const bool last = name == "last" || name.starts_with("last[");
  const auto selector = parse_selector(last ? "1" + std::string(name.substr(4)) : name);
  if (!selector) return refuse();
  std::string id = last ? "" : std::to_string(selector->job.value);
  if (selector->has_index) id += "[" + std::to_string(selector->index) + "]";
  return Wanted{last ? Wanted::Kind::last : Wanted::Kind::one, std::move(id), std::move(attempt)};
}

std::string job_path(const std::string& id) { return "/jobs/" + encode(id); }

Result<NamedAttempt> one_attempt(Session& session, const std::string& word) {
  auto wanted = parse_wanted(word);
  if (!wanted) return tl::unexpected(wanted.error());
  if (wanted->kind == Wanted::Kind::all) {
    return fail(ErrorCode::invalid, "this verb is for one job: name it by its id, or as last");
  }
  if (wanted->kind == Wanted::Kind::one) return NamedAttempt{wanted->id, wanted->attempt};
  auto newest = newest_job(session);
  if (!newest) return tl::unexpected(newest.error());
  return NamedAttempt{*newest + wanted->id, wanted->attempt};
}

Result<std::string> one_job(Session& session, const std::string& word) {
  const auto wanted = parse_wanted(word);
  if (wanted && !wanted->attempt.empty()) {
    return fail(ErrorCode::invalid, quote(word) +
                                        " names one attempt, and this verb is for the job or task "
                                        "itself: write " +
                                        word.substr(0, word.find('.')));
  }
  auto one = one_attempt(session, word);
  if (!one) return tl::unexpected(one.error());
  return std::move(one->id);
}

Result<std::vector<std::string>> many_jobs(Session& session,
                                           const std::vector<std::string>& words) {
  std::vector<std::string> ids;
  for (const std::string& word : words) {
    const auto wanted = parse_wanted(word);
    if (!wanted) return tl::unexpected(wanted.error());
    std::vector<std::string> more;
    if (wanted->kind == Wanted::Kind::all) {
      auto live = live_jobs(session);
      if (!live) return live;
      more = std::move(*live);
    } else {
      auto one = one_job(session, word);
      if (!one) return tl::unexpected(one.error());
      more = {std::move(*one)};
    }
    for (std::string& id : more) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
    }
  }
  return ids;
}

bool names_all(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "all") != words.end();
}

}  // namespace atl::cli
