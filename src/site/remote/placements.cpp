#include "site/remote/placements.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "base/text.h"
#include "site/local/files.h"
#include "site/remote/run_order.h"

namespace atl::site {
namespace {

constexpr size_t kJobsHeld = 10'000;

}  // namespace

Placements::Placements(std::string directory) : directory_(std::move(directory)) {
  static_cast<void>(make_directories(directory_, 0700));
}

std::string Placements::path(JobId job) const {
  return directory_ + "/" + std::to_string(job.value);
}

void Placements::append(JobId job, const std::string& line) {
  const int fd = ::open(path(job).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  static_cast<void>(write_all(fd, line + "\n"));
  ::close(fd);
}

// Lines: `put ID LEASE_US HOST`, `started ID`, `forgotten ID`; a torn one says nothing.
Placements::Job& Placements::load(JobId job) {
  if (const auto at = jobs_.find(job); at != jobs_.end()) return at->second;
  if (jobs_.size() >= kJobsHeld) jobs_.erase(jobs_.begin());
  Job& found = jobs_[job];
  const std::optional<std::string> text = read_file(path(job));
  if (!text) return found;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    const auto attempt = words.size() > 1 ? parse_run_id(words[1]) : std::nullopt;
    if (!attempt) continue;
    if (words[0] == "put" && words.size() == 4)
      found[*attempt] = {.host = std::string(words[3]), .lease = {parse_int(words[2]).value_or(0)}};
    if (words[0] == "started") found[*attempt].started = true;
    if (words[0] == "forgotten") found[*attempt].forgotten = true;
  }
  return found;
}

void Placements::put(AttemptId attempt, const std::string& host, Duration lease) {
  const std::lock_guard lock(mutex_);
  Job& job = load(attempt.job);
  if (const auto at = job.find(attempt); at != job.end() && at->second.host == host) return;
  job[attempt] = {.host = host, .lease = lease};
  append(attempt.job, "put " + run_id(attempt) + " " + std::to_string(lease.us) + " " + host);
}

void Placements::started(AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  Placed& placed = load(attempt.job)[attempt];
  if (placed.started) return;
  placed.started = true;
  append(attempt.job, "started " + run_id(attempt));
}

void Placements::forgotten(AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  Placed& placed = load(attempt.job)[attempt];
  if (placed.forgotten) return;
  placed.forgotten = true;
  append(attempt.job, "forgotten " + run_id(attempt));
}

std::optional<Placed> Placements::find(AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  const Job& job = load(attempt.job);
  const auto at = job.find(attempt);
  if (at == job.end() || at->second.host.empty()) return std::nullopt;
  return at->second;
}

std::vector<std::string> Placements::hosts(JobId job) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> found;
  for (const auto& [attempt, placed] : load(job)) {
    if (!placed.host.empty()) found.insert(placed.host);
  }
  return {found.begin(), found.end()};
}

void Placements::remove(JobId job) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(job);
  ::unlink(path(job).c_str());
}

}  // namespace atl::site
