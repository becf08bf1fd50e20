// One look at everything: the queue, accounting for what left it, and the run directories.
#include <algorithm>

#include "site/remote/framing.h"
#include "site/slurm/job_name.h"
#include "site/slurm/limits.h"
#include "site/slurm/slurm_driver.h"
#include "site/slurm/verdict.h"

namespace atl::site {
namespace {

// Each program waits for many seconds before it gives up on a controller that is away: the ones
// behind the first are not called then.
const std::string kElseAway = " || { away=1; false; }";
const std::string kUnlessAway = "test -z \"$away\" && ";

RunSeen run_seen(const std::map<AttemptId, RunStatus>& runs, AttemptId attempt) {
  const auto at = runs.find(attempt);
  if (at == runs.end()) return {};
  const RunStatus& run = at->second;
  RunSeen seen{.begun = run.stage == RunStage::running || run.stage == RunStage::ended,
               .started = run.started};
  if (run.stage == RunStage::ended) seen.result = run.result;
  return seen;
}

}  // namespace

bool SlurmDriver::probe() {
  const Sections sections(new_mark());
  const bool json = version_ >= kSoundJson;
  const Result<Said> said =
      ask(slurm_prelude(options_) + sections.run("version", "sinfo --version") +
          sections.run("nodes", nodes_command(json) + kElseAway) +
          sections.run("partitions", kUnlessAway + kPartitionsCommand));
  if (!said) {
    went_away(said.error().message);
    return false;
  }
  auto answers = sections.read(said->out);
  const SlurmVersion version = parse_slurm_version(answers["version"].out);
  const bool again = answers["nodes"].exit_code == 0 && (version >= kSoundJson) != json;
  if (again) version_ = version;
  if (again) return probe();  // now in its own words
  const Result<std::vector<SlurmNode>> nodes = parse_nodes(answers["nodes"].out);
  const Result<std::vector<SlurmPartition>> partitions =
      parse_partitions(answers["partitions"].out);
  if (answers["nodes"].exit_code != 0 || answers["partitions"].exit_code != 0 || !nodes ||
      !partitions) {
    went_away(answers["version"].exit_code == 127
                  ? "Slurm's commands are not there: set `bin` of the site to their folder"
                  : "scontrol failed: " + said_words(said->err));
    return false;
  }
  learn(*nodes, *partitions);
  return true;
}

void SlurmDriver::learn(const std::vector<SlurmNode>& nodes,
                        const std::vector<SlurmPartition>& partitions) {
  partitions_.clear();
  for (const SlurmPartition& partition : partitions) {
    partitions_[partition.name] = partition;
    if (partition.is_default) default_partition_ = partition.name;
  }
  std::set<std::string> used;
  const std::string& own = options_.choice.partition;
  used.insert(own.empty() ? default_partition_ : own);
  for (const auto& [name, entry] : options_.accelerators) used.insert(entry.partition);
  used.erase("");
  const core::SiteReport report = report_cluster(nodes, used);
  const Time now = clock_.now();
  next_probe_ = now + (now < registering_until_ ? kProbeSoon : kProbeEvery);
  if (probed_ && report == reported_) return;
  reported_ = report;
  probed_ = true;
  tell(core::SiteProbed{options_.site, report});
}

void SlurmDriver::poll() {
  const Time asked = clock_.now();
  const Result<void> queue = ask_queue();
  const Result<RunsSeen> runs = look_at_runs();
  if (!runs) {
    went_away(runs.error().message);
    return;
  }
  if (!queue) {
    went_away(queue.error().message);
    follow_results(*runs);
    return;
  }
  came_back();
  if (!adopted_) reconcile_first(*runs);
  follow_all(*runs, asked);
  cancel_strays();
}

// One squeue for all, and sacct for those that left it and for those whose submission nobody
// answered.
Result<void> SlurmDriver::ask_queue() {
  const Sections sections(new_mark());
  const bool json = use_json();
  std::string text =
      slurm_prelude(options_) + sections.run("queue", queue_command(json) + kElseAway);
  if (!to_account_.empty())
    text += sections.run(
        "accounting",
        kUnlessAway + accounting_command({to_account_.begin(), to_account_.end()}, json));
  std::vector<std::string> names;
  for (const auto& [attempt, live] : live_) {
    if (live.tried && names.size() < kAccountedMax) names.push_back(name_of(attempt));
  }
  if (!names.empty())
    text += sections.run("names", kUnlessAway + accounting_by_name_command(names, json));
  const Result<Said> said = ask(text);
  if (!said) return tl::unexpected(said.error());
  auto answers = sections.read(said->out);
  const bool answered = answers.contains("queue") && answers["queue"].exit_code == 0;
  if (!answered || !parse_jobs(answers["queue"].out))
    return fail(ErrorCode::unavailable, "squeue failed: " + said_words(said->err));
  records_.clear();
  to_account_.clear();
  for (const char* name : {"queue", "accounting", "names"}) take_records(answers[name].out);
  return {};
}

// The queue is taken first: accounting may be behind it.
void SlurmDriver::take_records(const std::string& out) {
  const Result<std::vector<JobRecord>> jobs = parse_jobs(out);
  if (!jobs) return;
  for (const JobRecord& job : *jobs) {
    if (const auto attempt = attempt_of_name(options_.installation, job.name))
      records_[*attempt].try_emplace(job.id, job);
  }
}

Result<SlurmDriver::RunsSeen> SlurmDriver::look_at_runs() {
  Result<HostStatus> status = runs_.poll(0);
  if (!status) return tl::unexpected(status.error());
  RunsSeen runs;
  const Result<HostPlace> place = runs_.place();
  const std::lock_guard lock(mutex_);
  if (place) root_ = place->root;
  for (RunStatus& run : status->runs) {
    if (run.progress && live_.contains(run.attempt)) progress_[run.attempt] = *run.progress;
    runs[run.attempt] = std::move(run);
  }
  return runs;
}

// Of several jobs of one name the known one counts, else the one that is not over, else the first.
const JobRecord* SlurmDriver::record_of(AttemptId attempt, const Live& live) const {
  const auto at = records_.find(attempt);
  if (at == records_.end()) return nullptr;
  if (const auto mine = at->second.find(live.job); mine != at->second.end()) return &mine->second;
  if (live.job != 0) return nullptr;
  for (const auto& [id, record] : at->second) {
    if (phase_of(record.state) != Phase::over) return &record;
  }
  return &at->second.begin()->second;
}

void SlurmDriver::follow_all(const RunsSeen& runs, Time asked) {
  for (const AttemptId attempt : live_attempts()) {
    Live& live = live_.at(attempt);
    const JobRecord* record = record_of(attempt, live);
    if (live.job == 0 && record) accepted(attempt, record->id);
    const RunSeen run = run_seen(runs, attempt);
    if (live.job == 0 && !run.begun) {
      if (live.tried && asked > live.tried_at + kResubmitAfter) submission_failed(attempt);
      continue;
    }
    cancel_doubles(attempt, live.job);
    Consequence consequence =
        follow(live.followed, {.record = record, .run = run, .now = clock_.now()});
    if (consequence.ended && !run.result) {
      resultless_.insert(attempt);
      fence_.push_back({.attempt = attempt});
    }
    apply_consequence(attempt, std::move(consequence));
  }
}

// While Slurm is away the run directories still tell what ended, but not why a signal came.
void SlurmDriver::follow_results(const RunsSeen& runs) {
  for (const AttemptId attempt : live_attempts()) {
    const RunSeen run = run_seen(runs, attempt);
    if (!run.result) continue;
    if (!needs_reason(*run.result) || live_.at(attempt).stop) end(attempt, *run.result);
  }
}

void SlurmDriver::apply_consequence(AttemptId attempt, Consequence consequence) {
  const uint64_t job = live_.at(attempt).job;
  if (consequence.started) tell(core::AttemptStarted{attempt, *consequence.started});
  if (consequence.ask_accounting && job != 0 && to_account_.size() < kAccountedMax)
    to_account_.insert(job);
  if (consequence.cancel) to_cancel_.insert(job);
  if (consequence.ended) end(attempt, std::move(*consequence.ended));
}

// A submission whose answer was lost may have been accepted twice.
void SlurmDriver::cancel_doubles(AttemptId attempt, uint64_t job) {
  const auto at = records_.find(attempt);
  if (at == records_.end() || job == 0) return;
  for (const auto& [id, record] : at->second) {
    if (id != job && phase_of(record.state) != Phase::over) to_cancel_.insert(id);
  }
}

// Jobs of ours that nobody waits for. One that still waits would only find out that it may not
// begin; one that runs may be doing what a template wants done behind the task.
void SlurmDriver::cancel_strays() {
  std::map<uint64_t, Time> strays;
  for (const auto& [attempt, jobs] : records_) {
    if (live_.contains(attempt)) continue;
    for (const auto& [id, record] : jobs) {
      const Phase phase = phase_of(record.state);
      if (phase == Phase::over) continue;
      const auto known = strays_.find(id);
      const Time since = known == strays_.end() ? clock_.now() : known->second;
      strays[id] = since;
      if (phase == Phase::waiting || clock_.now() - since >= kStrayPatience) to_cancel_.insert(id);
    }
  }
  strays_ = std::move(strays);
}

// Slurm shows a job for a while after its result was forgotten, which is no news.
bool SlurmDriver::known(AttemptId attempt, const RunsSeen& runs) const {
  const auto jobs = records_.find(attempt);
  const bool queued = jobs != records_.end();
  if (runs.contains(attempt)) return queued || run_seen(runs, attempt).begun;
  return queued && std::any_of(jobs->second.begin(), jobs->second.end(), [](const auto& job) {
           return phase_of(job.second.state) != Phase::over;
         });
}

// What the state holds as live and Slurm or a run directory knows is followed from now on. Of what
// is known nowhere nothing is said: it may be started again. What is known and not expected goes.
void SlurmDriver::reconcile_first(const RunsSeen& runs) {
  adopted_ = true;
  for (const AttemptId attempt : expected_) {
    if (!known(attempt, runs)) continue;
    if (told_away_) tell(core::AttemptUnreachable{attempt, false});
    Live& live = live_[attempt];
    live.tried = !records_.contains(attempt);  // accounting is asked by its name
    live.tried_at = clock_.now();
  }
  const std::set<AttemptId> expected(expected_.begin(), expected_.end());
  expected_.clear();
  std::vector<AttemptId> unwanted;
  for (const auto& [attempt, run] : runs) {
    if (!expected.contains(attempt)) unwanted.push_back(attempt);
  }
  for (const auto& [attempt, jobs] : records_) {
    if (expected.contains(attempt)) continue;
    for (const auto& [id, record] : jobs) {
      if (phase_of(record.state) != Phase::over) to_cancel_.insert(id);
    }
  }
  if (!unwanted.empty()) discard(unwanted);
}

// Ends them and takes them out of sight at once, so that no later driver finds them.
void SlurmDriver::discard(const std::vector<AttemptId>& attempts) {
  std::vector<StopOrder> stops;
  for (const AttemptId attempt : attempts) stops.push_back({.attempt = attempt});
  static_cast<void>(runs_.stop(stops));
  cancel_due();
  for (const AttemptId attempt : attempts)
    static_cast<void>(runs_.end(attempt, "nobody expected it any more"));
  static_cast<void>(runs_.forget(attempts));
}

void SlurmDriver::stop_due() {
  std::vector<StopOrder> orders;
  std::vector<uint64_t> jobs;
  for (auto& [attempt, live] : live_) {
    if (!live.stop || live.job == 0) continue;
    if (clock_.now() > live.kill_at + kStopPatience) to_cancel_.insert(live.job);
    if (live.stop_told) continue;
    orders.push_back(*live.stop);
    jobs.push_back(live.job);
  }
  if (orders.empty() || away_since_) return;
  if (const auto told = runs_.stop(orders); !told) return went_away(told.error().message);
  const Result<Said> said = ask(slurm_prelude(options_) + cancel_waiting_command(jobs) + "\n" +
                                terminate_command(jobs) + "\nexit 0\n");
  if (!said) return went_away(said.error().message);
  for (const StopOrder& order : orders) live_.at(order.attempt).stop_told = true;
}

// What Slurm gave up may run on, on a node that it does not hear. Told through the run directory,
// it ends, should it hear that.
void SlurmDriver::fence_due() {
  if (!fence_.empty()) static_cast<void>(runs_.stop(fence_));
  fence_.clear();
}

void SlurmDriver::cancel_due() {
  if (to_cancel_.empty() || away_since_) return;
  const std::vector<uint64_t> jobs(to_cancel_.begin(), to_cancel_.end());
  if (ask(slurm_prelude(options_) + cancel_command(jobs) + "\nexit 0\n")) to_cancel_.clear();
}

}  // namespace atl::site
