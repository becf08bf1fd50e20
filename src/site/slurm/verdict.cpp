#include "site/slurm/verdict.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "site/slurm/limits.h"

namespace atl::site {
namespace {

struct Meaning {
  std::string_view words;  // of Slurm
  std::string_view says;   // ours
};

// Reasons of a waiting job that no time and no free node will change. Others, such as Resources,
// Priority, PartitionDown, ReqNodeNotAvail or a limit of jobs at once, go away by themselves.
constexpr std::array kHopeless = {
    Meaning{"PartitionTimeLimit",
            "its wall-time is longer than the partition allows: ask for less time, or name "
            "another partition"},
    Meaning{"PartitionNodeLimit",
            "it asks for more nodes than the partition allows: ask for fewer, or name another "
            "partition"},
    Meaning{"PartitionConfig",
            "the partition's limits never allow it: ask for less time, fewer CPUs, less memory or "
            "other devices, or name another partition"},
    Meaning{"BadConstraints",
            "no node has what it asks for: check CPUs, memory, gres and constraint against "
            "`scontrol show nodes`"},
    Meaning{"InvalidAccount",
            "its account is not one of Slurm's: set `account` of the site to one that `sacctmgr "
            "show associations` lists"},
    Meaning{"InvalidQOS",
            "its qos is not one of Slurm's: set `qos` of the site to one that "
            "`sacctmgr show qos` lists"},
    Meaning{"AssocMaxWallDurationPerJobLimit",
            "its wall-time is longer than its account may use: ask for less time"},
    Meaning{"QOSMaxWallDurationPerJobLimit",
            "its wall-time is longer than its qos allows: ask for less time or another qos"},
    Meaning{"AssocMaxCpuPerJobLimit", "it asks for more CPUs than its account may use at once"},
    Meaning{"AssocMaxNodePerJobLimit", "it asks for more nodes than its account may use at once"},
    Meaning{"QOSMaxCpuPerJobLimit", "it asks for more CPUs than its qos allows"},
    Meaning{"QOSMaxNodePerJobLimit", "it asks for more nodes than its qos allows"},
    Meaning{"DependencyNeverSatisfied", "it depends on a job of Slurm that did not succeed"},
    Meaning{"ReservationDeleted",
            "its reservation was deleted: set `reservation` of the site anew"},
};

constexpr std::array kRefusals = {
    Meaning{"invalid partition",
            "Slurm has no such partition: set `partition` of the site to one "
            "that `sinfo` lists"},
    Meaning{"Invalid account or account/partition",
            "Slurm does not let this account use that partition: set `account` of the site to one "
            "that `sacctmgr show associations` lists for the user"},
    Meaning{"Invalid account",
            "Slurm has no such account: set `account` of the site to one that "
            "`sacctmgr show associations` lists"},
    Meaning{"Invalid qos",
            "Slurm has no such qos: set `qos` of the site to one that `sacctmgr show "
            "qos` lists"},
    Meaning{
        "Invalid feature specification",
        "no node has that feature: set `constraint` of the site to one that `sinfo -o %f` lists"},
    Meaning{"Requested reservation is invalid",
            "Slurm has no such reservation: set `reservation` of the site to one that `scontrol "
            "show reservation` lists"},
    Meaning{"Access denied to requested reservation",
            "its account may not use that reservation: ask the cluster's administrator"},
    Meaning{"Requested time limit is invalid",
            "its wall-time is longer than the partition allows: ask for less time, or name another "
            "partition"},
    Meaning{"time limit exceeds",
            "its wall-time is longer than the partition allows: ask for less "
            "time, or name another partition"},
    Meaning{"Memory specification can not be satisfied",
            "no node of the partition has so much memory: ask for less, or name another partition"},
    Meaning{"CPU count per node can not be satisfied",
            "no node of the partition has so many CPUs: ask for fewer, or name another partition"},
    Meaning{"Requested node configuration is not available",
            "no node has what it asks for: check CPUs, memory, gres and constraint against "
            "`scontrol show nodes`"},
    Meaning{"Node count specification invalid", "it asks for more nodes than there are"},
    Meaning{"Invalid generic resource",
            "Slurm has no such gres: check `gres` of the site against `sinfo -o %G`"},
    Meaning{"Invalid gres",
            "Slurm has no such gres: check `gres` of the site against `sinfo -o %G`"},
    Meaning{"User's group not permitted", "its account may not use that partition: name another"},
    Meaning{"Invalid wckey", "Slurm wants another wckey: give it in the site's template"},
    Meaning{"unrecognized option", "sbatch does not know an option of the site's template"},
    Meaning{"invalid option", "sbatch does not know an option of the site's template"},
    Meaning{"Batch script contains DOS line breaks", "the site's template has DOS line ends"},
    Meaning{"Pathname of a file, directory or other parameter too long",
            "the script is longer than Slurm takes"},
};

bool has_words(std::string_view text, std::string_view words) {
  const auto same = [](char a, char b) {
    return ::tolower(static_cast<unsigned char>(a)) == ::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), words.begin(), words.end(), same) != text.end();
}

bool any_of(std::string_view state, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), state) != words.end();
}

std::string on_nodes(const JobRecord& record) {
  return record.nodes.empty() ? std::string() : " on " + record.nodes;
}

std::string who_cancelled(const JobRecord& record) {
  return record.cancelled_by.empty() ? "somebody" : "account " + record.cancelled_by;
}

core::AttemptResult ended_as(core::EndCause cause, std::string message) {
  return {.cause = cause, .message = std::move(message)};
}

std::string job_words(const JobRecord& record) {
  return "Slurm job " + std::to_string(record.id) + on_nodes(record);
}

core::AttemptResult failed_verdict(const JobRecord& record) {
  if (const std::optional<std::string> never = never_starts(record); never && record.nodes.empty())
    return ended_as(core::EndCause::start_error, *never);
  if (record.signal != 0 && !record.nodes.empty()) {
    core::AttemptResult result =
        ended_as(core::EndCause::signalled,
                 job_words(record) + " was killed by signal " + std::to_string(record.signal));
    result.signal = record.signal;
    return result;
  }
  if (!record.started || record.reason == "JobLaunchFailure" ||
      record.reason == "RaisedSignal:53") {
    return ended_as(core::EndCause::start_error,
                    job_words(record) + " could not be started (" + record.reason +
                        "): see the log of slurmd; the run directory must be on a file system that "
                        "the nodes share");
  }
  core::AttemptResult result = ended_as(core::EndCause::exited, job_words(record) + " failed");
  result.exit_code = record.exit_code != 0 ? record.exit_code : 1;
  return result;
}

core::AttemptResult cancelled_verdict(const JobRecord& record) {
  core::AttemptResult result =
      ended_as(core::EndCause::signalled, job_words(record) + " was cancelled in Slurm by " +
                                              who_cancelled(record) + ", not by Atoll");
  result.signal = 15;
  return result;
}

core::AttemptResult judge_record(const JobRecord& record) {
  const std::string& state = record.state;
  if (state == "COMPLETED") return {};
  if (any_of(state, {"TIMEOUT", "DEADLINE"}))
    return ended_as(core::EndCause::wall_time, job_words(record) + " ran into its time limit");
  if (state == "OUT_OF_MEMORY")
    return ended_as(core::EndCause::memory,
                    job_words(record) + " used more memory than it asked for");
  if (any_of(state, {"NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL"}))
    return ended_as(core::EndCause::lost, "node " + record.nodes + " failed under Slurm job " +
                                              std::to_string(record.id));
  if (any_of(state, {"PREEMPTED", "REVOKED"}))
    return ended_as(core::EndCause::lost,
                    job_words(record) + " was preempted by other work of the cluster");
  if (state == "CANCELLED") return cancelled_verdict(record);
  if (state == "FAILED") return failed_verdict(record);
  return ended_as(core::EndCause::lost, job_words(record) +
                                            " ended in a state that Atoll does not "
                                            "know: " +
                                            said_words(state));
}

}  // namespace

Phase phase_of(std::string_view state) {
  if (any_of(state, {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
                     "SPECIAL_EXIT", "RESV_DEL_HOLD", "POWER_UP_NODE"}))
    return Phase::waiting;
  if (any_of(state, {"RUNNING", "SUSPENDED", "COMPLETING", "STAGE_OUT", "STOPPED", "RESIZING",
                     "SIGNALING"}))
    return Phase::running;
  return Phase::over;
}

core::AttemptResult verdict_of(const JobRecord& record) {
  core::AttemptResult result = judge_record(record);
  result.usage.started = record.started;
  result.usage.ended = std::max(record.ended, record.started);
  return result;
}

bool needs_reason(const core::AttemptResult& result) {
  return result.cause == core::EndCause::signalled || result.cause == core::EndCause::stopped ||
         result.cause == core::EndCause::lost;
}

void explain_end(const JobRecord& record, bool stop_asked, core::AttemptResult& result) {
  if (!needs_reason(result)) return;
  if (stop_asked) {
    result.cause = core::EndCause::stopped;
    return;
  }
  if (record.state == "COMPLETED" || record.state == "FAILED") return;
  const core::AttemptResult better = judge_record(record);
  result.cause = better.cause;
  result.message = better.message;
  if (better.signal != 0 && result.signal == 0) result.signal = better.signal;
}

std::optional<std::string> never_starts(const JobRecord& record) {
  for (const Meaning& meaning : kHopeless) {
    if (record.reason != meaning.words) continue;
    return "Slurm will not start it (" + record.reason + "): " + std::string(meaning.says);
  }
  return std::nullopt;
}

SubmitFailure submit_failure(std::string_view said) {
  for (const Meaning& meaning : kRefusals) {
    if (!has_words(said, meaning.words)) continue;
    return {Refusal::refused, std::string(meaning.says) + " (sbatch: " + said_words(said) + ")"};
  }
  return {Refusal::later, "sbatch failed: " + said_words(said)};
}

std::string said_words(std::string_view said) {
  std::string words;
  for (const char c : trim(said)) {
    if (words.size() >= kSaidMax) break;
    const bool shown = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (shown && !(c == ' ' && words.ends_with(' '))) words += c;
    if (c == '\n') words += "; ";
  }
  return valid_utf8(words) ? words : std::string("unreadable bytes");
}

}  // namespace atl::site
