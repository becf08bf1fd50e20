#include "api/progress_view.h"

#include <algorithm>
#include <map>

namespace atl::api {
namespace {

using Told = std::span<const std::optional<site::Progress>>;

uint64_t ended_count(const JobRow& row) {
  uint64_t ended = 0;
  for (const uint64_t count : row.tally) ended += count;
  return ended;
}

std::optional<site::Progress> mean_of(const JobRow& row, Told told) {
  const uint64_t ended = ended_count(row);
  bool any = ended > 0;
  double running = 0;
  site::Progress mean;
  for (const auto& one : told) {
    if (!one) continue;
    any = true;
    running += one->percent_milli.value_or(0);
    mean.at = std::max(mean.at, one->at);
    mean.ignored += one->ignored;
  }
  if (!any || row.size == 0) return std::nullopt;
  if (!told.empty()) running *= static_cast<double>(row.active) / static_cast<double>(told.size());
  const double sum = running + static_cast<double>(ended) * site::kPercentMilliMax;
  const double part = sum / static_cast<double>(row.size);
  mean.percent_milli = static_cast<uint32_t>(std::clamp<double>(part, 0, site::kPercentMilliMax));
  return mean;
}

void write_text_or_null(spec::JsonWriter& json, std::string_view key, const std::string& text) {
  json.key(key);
  text.empty() ? json.null() : json.text(text);
}

}  // namespace

std::optional<PlacedAttempt> placed_attempt(TaskId id, const core::Task& task) {
  const core::Placement* placement = core::placement_of(task.state);
  if (!placement) return std::nullopt;
  return PlacedAttempt{placement->site, {id.job, id.index, task.attempt}};
}

void copy_placed(JobRow& row, const core::Job& job, size_t max) {
  if (job.placed == 0) return;
  size_t looked = 0;
  for (const auto& [index, task] : job.tasks) {
    if (looked++ == max) return;
    if (const auto placed = placed_attempt({job.id, index}, task)) row.placed.push_back(*placed);
  }
}

std::vector<std::optional<site::Progress>> ask_progress(Context& context, const core::State& table,
                                                        std::span<const PlacedAttempt> placed) {
  std::map<SiteId, std::vector<size_t>> by_site;
  for (size_t i = 0; i < placed.size(); ++i) by_site[placed[i].site].push_back(i);
  std::vector<std::optional<site::Progress>> all(placed.size());
  for (const auto& [site, which] : by_site) {
    const auto driver = context.drivers.find(name_of(table, site));
    if (!driver) continue;
    std::vector<AttemptId> attempts;
    attempts.reserve(which.size());
    for (const size_t i : which) attempts.push_back(placed[i].attempt);
    auto told = driver->progress(attempts);
    for (size_t i = 0; i < which.size() && i < told.size(); ++i) all[which[i]] = std::move(told[i]);
  }
  return all;
}

void add_progress(Context& context, const core::State& table, std::span<JobRow> rows) {
  std::vector<PlacedAttempt> placed;
  for (const JobRow& row : rows) placed.insert(placed.end(), row.placed.begin(), row.placed.end());
  const auto told = ask_progress(context, table, placed);
  size_t at = 0;
  for (JobRow& row : rows) {
    const Told own = Told(told).subspan(at, row.placed.size());
    at += row.placed.size();
    if (row.state == JobState::ended) continue;
    if (row.array)
      row.progress = mean_of(row, own);
    else if (!own.empty())
      row.progress = own.front();
  }
}

void write_progress(spec::JsonWriter& json, const std::optional<site::Progress>& progress) {
  json.key("progress");
  if (!progress) {
    json.null();
    return;
  }
  json.begin_object().key("percent");
  progress->percent_milli ? json.milli(*progress->percent_milli) : json.null();
  write_text_or_null(json, "status", progress->status);
  write_text_or_null(json, "message", progress->message);
  json.key("pid");
  progress->pid ? json.number(*progress->pid) : json.null();
  json.member("at", progress->at).member("ignored", progress->ignored).end_object();
}

}  // namespace atl::api
