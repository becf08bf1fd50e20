// How orders become jobs of Slurm: the run directories are made, then sbatch is called for several
// of them in one exchange. An answer that is lost is looked for by the job's name before anything
// is tried again, and should there be two jobs in the end, only one of them begins: the wrapper's
// directory is made once.
#include <algorithm>

#include "site/remote/framing.h"
#include "site/slurm/batch_script.h"
#include "site/slurm/limits.h"
#include "site/slurm/slurm_driver.h"
#include "site/slurm/verdict.h"

namespace atl::site {

void SlurmDriver::submit_due() {
  std::vector<AttemptId> due;
  for (const auto& [attempt, live] : live_) {
    if (!live.order || live.job != 0 || live.tried || live.next_try > clock_.now()) continue;
    due.push_back(attempt);
  }
  for (size_t from = 0; from < due.size() && !away_since_; from += kSubmissionsMax) {
    const size_t to = std::min(due.size(), from + kSubmissionsMax);
    submit_some(
        place_orders({due.begin() + static_cast<long>(from), due.begin() + static_cast<long>(to)}));
  }
}

// Makes the run directories, and gives back for whom. Slurm sets the devices, the wrapper the rest.
std::vector<AttemptId> SlurmDriver::place_orders(const std::vector<AttemptId>& attempts) {
  std::vector<RunOrder> orders;
  for (const AttemptId attempt : attempts) {
    RunOrder order{.start = *live_.at(attempt).order, .devices = false};
    order.start.placement.devices.clear();
    orders.push_back(std::move(order));
  }
  RunDirectory::Refused refused;
  if (const Result<void> placed = runs_.start(orders, false, refused); !placed) {
    went_away(placed.error().message);
    return {};
  }
  std::vector<AttemptId> placed;
  for (const AttemptId attempt : attempts) {
    const auto at = refused.find(attempt);
    if (at == refused.end())
      placed.push_back(attempt);
    else
      end(attempt, {.cause = core::EndCause::start_error, .message = at->second.message});
  }
  return placed;
}

// The lines of shell that write the batch script and hand it over.
Result<std::string> SlurmDriver::submission(AttemptId attempt, const Sections& sections) {
  Live& live = live_.at(attempt);
  const std::string partition = choose(options_, live.order->resources).partition;
  const auto limits = partitions_.find(partition.empty() ? default_partition_ : partition);
  Result<BatchRequest> request = request_for(
      *live.order, options_, limits == partitions_.end() ? Duration{} : limits->second.time_max);
  if (!request) return tl::unexpected(request.error());
  request->name = name_of(attempt);
  live.followed.signal_before = seconds(request->signal_before);
  const Result<std::string> run = runs_.foreground_command(attempt);
  if (!run) return tl::unexpected(run.error());
  const Result<std::string> script = batch_script(template_, *request, *run);
  if (!script) return tl::unexpected(script.error());
  const Result<HostPlace> place = runs_.place();
  if (!place) return tl::unexpected(place.error());
  const std::string directory = place->root + "/attempts/" + run_id(attempt);
  const std::string mark = new_mark();
  return "cat >" + shell_quote(directory + "/batch") + " <<'" + mark + "'\n" + *script + "\n" +
         mark + "\n" +
         sections.run(name_of(attempt),
                      submit_command(shell_quote(directory), sbatch_arguments(*request, directory)),
                      true);
}

void SlurmDriver::submit_some(const std::vector<AttemptId>& attempts) {
  const Sections sections(new_mark());
  std::string text;
  std::vector<AttemptId> handed;
  for (const AttemptId attempt : attempts) {
    const Result<std::string> lines = submission(attempt, sections);
    if (!lines) {
      end(attempt, {.cause = core::EndCause::start_error, .message = lines.error().message});
      continue;
    }
    text += *lines;
    handed.push_back(attempt);
    Live& live = live_.at(attempt);
    live.tried = true;
    live.tried_at = clock_.now();
    ++live.tries;
  }
  if (handed.empty()) return;
  const Result<Said> said = ask(slurm_prelude(options_) + text);
  if (!said) {
    went_away(said.error().message);
    return;
  }
  const auto answers = sections.read(said->out);
  for (const AttemptId attempt : handed) {
    const auto answer = answers.find(name_of(attempt));
    if (answer != answers.end())
      heard_submission(attempt, answer->second.exit_code, answer->second.out);
  }
}

void SlurmDriver::heard_submission(AttemptId attempt, int exit_code, const std::string& said) {
  if (const std::optional<uint64_t> job = submitted_job(said); exit_code == 0 && job) {
    accepted(attempt, *job);
    return;
  }
  const SubmitFailure failure = submit_failure(said);
  live_.at(attempt).last_error = failure.message;
  if (failure.kind == Refusal::refused) {
    resultless_.insert(attempt);
    end(attempt, {.cause = core::EndCause::start_error, .message = failure.message});
  }
}

void SlurmDriver::accepted(AttemptId attempt, uint64_t job) {
  Live& live = live_.at(attempt);
  live.job = job;
  live.tried = false;
  live.order.reset();
}

// The queue and accounting were asked, later than sbatch: nobody has it. So it was not accepted,
// and may be handed over again.
void SlurmDriver::submission_failed(AttemptId attempt) {
  Live& live = live_.at(attempt);
  if (live.stop) {
    resultless_.insert(attempt);
    end(attempt, {.cause = core::EndCause::stopped, .exit_code = 143, .signal = 15});
    return;
  }
  if (live.tries >= kSubmitTriesMax) {
    resultless_.insert(attempt);
    end(attempt, {.cause = core::EndCause::start_error,
                  .message = "it was handed to Slurm " + std::to_string(live.tries) +
                             " times and never accepted: " + live.last_error});
    return;
  }
  live.tried = false;
  if (!live.order) {  // found at the start, by its run directory alone
    live_.erase(attempt);
    return;
  }
  if (live.tries > 0)
    live.next_try = clock_.now() + options_.poll * (int64_t{1} << std::min(live.tries, 4));
}

}  // namespace atl::site
