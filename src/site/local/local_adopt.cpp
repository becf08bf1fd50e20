// How the driver and a warden agree on what exists, at the first connection and after each later
// one.
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "base/wire.h"
#include "site/local/devices.h"
#include "site/local/files.h"
#include "site/local/local_driver.h"

namespace atl::site {

void LocalDriver::on_notice(Welcome& notice) {
  if (Result<void> fits = check_warden(notice, options_.protocol); !fits) {
    return refuse(fits.error().message);
  }
  welcome_ = std::move(notice);
  warden_pid_ = welcome_.pid;
}

void LocalDriver::on_notice(TaskStarted& notice) {
  if (listing_) {
    listed_[notice.attempt] = std::nullopt;
    listed_starts_[notice.attempt] = notice.started;
    return;
  }
  const auto at = live_.find(notice.attempt);
  if (at == live_.end() || at->second.started || at->second.unwanted) return;
  at->second.started = true;
  at->second.launch.clear();
  tell(core::AttemptStarted{notice.attempt, notice.started});
}

void LocalDriver::on_notice(TaskEnded& notice) {
  if (listing_)
    listed_[notice.attempt] = std::move(notice.result);
  else
    report_end(notice.attempt, std::move(notice.result));
}

void LocalDriver::on_notice(Listed&) {
  listing_ = false;
  away_since_ = 0;
  if (adopted_)
    reconcile_again();
  else
    reconcile_first();
  warden_.send(Order(Adopted{}));
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(progress_, [&](const auto& entry) {
      const auto at = live_.find(entry.first);
      return at == live_.end() || at->second.unwanted;
    });
  }
  listed_.clear();
  listed_starts_.clear();
}

// The server's view against the warden's, both ways.
void LocalDriver::reconcile_first() {
  adopted_ = true;
  tell(core::SiteProbed{options_.site, report(welcome_.abilities)});
  for (const AttemptId attempt : expected_) {
    const auto at = listed_.find(attempt);
    if (at == listed_.end()) {
      if (welcome_.rebooted) {
        report_end(attempt, core::EndCause::lost, "the machine was restarted while it ran");
      }
      continue;
    }
    if (at->second) {
      report_end(attempt, std::move(*at->second));
    } else {
      live_[attempt] = {.sent = true, .started = true};
      tell(core::AttemptStarted{attempt, listed_starts_[attempt]});
    }
    listed_.erase(at);
  }
  expected_.clear();
  std::vector<AttemptId> unknown;
  for (const auto& [attempt, result] : listed_) {
    if (result)
      unknown.push_back(attempt);
    else
      stop_unwanted(attempt);
  }
  if (!unknown.empty()) warden_.send(Order(ForgetTasks{std::move(unknown)}));
}

// The driver's own memory against the warden's. Ended attempts it no longer holds were reported
// before and wait for the server to make them durable.
void LocalDriver::reconcile_again() {
  // Another warden may be able to do other things.
  tell(core::SiteProbed{options_.site, report(welcome_.abilities)});
  std::vector<std::pair<AttemptId, core::AttemptResult>> ended;
  std::vector<AttemptId> lost;
  std::set<AttemptId> unsent;
  for (auto& [attempt, live] : live_) {
    const auto at = listed_.find(attempt);
    if (at != listed_.end() && at->second) {
      ended.emplace_back(attempt, std::move(*at->second));
    } else if (at != listed_.end()) {
      if (!live.started && !live.unwanted)
        tell(core::AttemptStarted{attempt, listed_starts_[attempt]});
      live.started = true;
    } else if (!live.launch.empty()) {
      unsent.insert(attempt);
    } else {
      lost.push_back(attempt);
    }
  }
  send_starts(std::move(unsent));
  for (const auto& [attempt, live] : live_) {
    if (live.stop) warden_.send(Order(*live.stop));
  }
  for (auto& [attempt, result] : ended) report_end(attempt, std::move(result));
  for (const AttemptId attempt : lost) {
    report_end(attempt, core::EndCause::lost, "the warden no longer knows it");
  }
  for (const auto& [attempt, result] : listed_) {
    if (!result && !live_.contains(attempt)) stop_unwanted(attempt);
  }
}

// Each after the one it is behind, so that the warden knows that one when it comes.
void LocalDriver::send_starts(std::set<AttemptId> attempts) {
  while (!attempts.empty()) {
    for (auto at = attempts.begin(); at != attempts.end();) {
      Live& live = live_.at(*at);
      if (live.behind && attempts.contains(*live.behind)) {
        ++at;
        continue;
      }
      send_start(*at, live);
      at = attempts.erase(at);
    }
  }
}

Result<Launch> LocalDriver::resolve(StartOrder& order) {
  // The ledger may have lost its last lines with the power, so an attempt from before the boot is
  // not begun anew.
  if (order.repeated && order.placed < boot_time()) {
    return fail(ErrorCode::unavailable, "the machine was restarted while it ran");
  }
  const uint32_t self = ::geteuid();
  if (self != 0 && order.uid.value_or(self) != self) {
    return fail(ErrorCode::forbidden,
                "this server runs as the user id " + std::to_string(self) +
                    " and cannot run work as " + std::to_string(*order.uid) +
                    ": run the server as root, or submit to a server of that account");
  }
  if (self == 0 && !order.uid) {
    return fail(ErrorCode::forbidden, quote(order.user) +
                                          " has no account on this machine to run work as: " +
                                          "`atoll user account " + order.user + " UID` names one");
  }
  Result<Account> account = accounts_.find(order.uid.value_or(self));
  if (!account) return tl::unexpected(account.error());
  Launch launch{.attempt = order.attempt,
                .array = order.array,
                .resumed = order.resumed,
                .name = std::move(order.name),
                .ns = std::move(order.ns),
                .account = std::move(*account),
                .cpu_milli = order.resources.cpu_milli,
                .memory_bytes = order.resources.memory_bytes,
                .wall = order.wall,
                .grace = order.grace,
                .payload = std::move(order.payload),
                .job_dir = job_directory(order.attempt.job),
                .installation = options_.installation,
                .recalls = order.recalls};
  core::Payload& payload = launch.payload;
  if (payload.isolation == core::Isolation::automatic) payload.isolation = isolation_;
  launch.processes_max = payload.processes_max > 0 ? payload.processes_max : options_.processes_max;
  launch.log_bytes_max = payload.log_bytes_max > 0 ? payload.log_bytes_max : options_.log_bytes_max;
  for (const core::Device& device : devices_) launch.gpus_present |= device.kind == "gpu";
  launch.gpus = visible_gpus(order.placement.devices);
  launch.variables = parts_environment(order.placement.devices);
  if (order.gang > 0) {
    launch.variables["ATOLL_GANG_SIZE"] = std::to_string(order.gang);
    launch.variables["ATOLL_GANG_RANK"] = std::to_string(order.attempt.index);
    launch.variables["ATOLL_GANG_LEADER"] = order.leader;
  }
  if (const char* lang = std::getenv("LANG")) launch.lang = lang;
  return launch;
}

}  // namespace atl::site
