// run: what was submitted is followed to its end.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/log_view.h"
#include "cli/selectors.h"
#include "cli/submit.h"
#include "cli/waiting.h"

namespace atl::cli {
namespace {

constexpr auto kShowAfter = std::chrono::seconds(2);
constexpr auto kSecondInterrupt = std::chrono::seconds(2);

// From the first attempt on, so that a reconnect between two of them loses nothing.
std::vector<LogView> both_streams(const Session& session, const std::string& id, bool array) {
  const auto prefix = [&](bool color) { return array ? task_prefix(id, color) : ""; };
  LogView out{.wish = {.id = id, .stream = "stdout", .attempt = "1", .after = {}},
              .fd = STDOUT_FILENO,
              .tell_attempts = true,
              .prefix = prefix(session.terminal.color)};
  LogView err = out;
  err.wish.stream = "stderr";
  err.fd = STDERR_FILENO;
  err.tell_attempts = false;
  err.prefix = prefix(session.terminal.color_err);
  return {std::move(out), std::move(err)};
}

// How it ended, in a sentence when it did not end well.
Result<int> tell_end(Console& console, const Json& job) {
  const std::string outcome = job.text("outcome");
  const std::string message = end_message(job);
  // The exit code says it all when it is the job's own, and not that of a signal or a limit.
  const bool own_code = outcome == "failed" && !job["array"].truth() && job.has("exit_code") &&
                        job["signal"].integer() == 0 &&
                        (message.empty() || message.starts_with("exit code "));
  if (outcome != "succeeded" && !own_code) {
    const std::string progress = show_progress(job);
    console.note("atoll: job " + job.text("id") + " " + outcome +
                 (message.empty() ? "" : ": " + message) +
                 (progress.empty() ? "" : " (" + progress + " tasks)"));
  }
  return job_exit_code(job);
}

// Its bar, and of an array how many tasks are where.
std::string bar_of(const Json& job, ArrayProgress& progress) {
  const std::string bar = show_bar(job);
  if (bar.empty()) return {};
  const std::string counts =
      job["tasks"].is_object() ? "  " + progress.line(job, std::chrono::steady_clock::now()) : "";
  return job.text("id") + ": " + bar + counts;
}

// Looks at the job while it runs, for a line about it below its output: why nothing is to be seen
// of it, or how far it says it is.
void watch_job(Api& api, Console& console, const std::string& id, Ending& done) {
  ArrayProgress progress;
  const auto look = [&](const Json& job) {
    if (done.told()) return false;
    const std::string bar = bar_of(job, progress);
    if (bar.empty()) console.status(status_of(job, progress));
    console.bar(bar);
    return true;
  };
  const Pace pace{.first = std::chrono::milliseconds(250),
                  .last = std::chrono::milliseconds(500),
                  .ending = &done};
  static_cast<void>(wait_for_end(api, id, {}, look, pace));
}

Result<Json> follow_output(Session& session, Api& api, Console& console, const std::string& id,
                           bool array) {
  Ending done;
  // Only a person wants to know why nothing happens.
  std::thread watcher([&] {
    if (done.within(kShowAfter)) return;
    if (auto own = Api::open(api.target())) watch_job(*own, console, id, done);
  });
  auto followed =
      array
          ? follow_array(api, console, id,
                         [&](const std::string& task) { return both_streams(session, task, true); })
          : follow_task(api.target(), console, both_streams(session, id, false));
  done.tell();
  watcher.join();
  console.status("");
  console.bar("");
  if (!followed || array) return followed;
  return api.get(job_path(id));
}

}  // namespace

int detach(Interrupts& interrupts, Console& console, const Target& target, const std::string& id,
           Attached attached) {
  const std::string again = attached == Attached::output
                                ? "  atoll logs -f " + id + "    shows its output"
                                : "  atoll wait " + id + "       waits for it again";
  console.note("\ndetached; the job goes on. Ctrl-C again within 2 s cancels it\n" + again +
               "\n  atoll cancel " + id + "     stops it");
  console.silence();
  if (!interrupts.again(kSecondInterrupt)) return kExitInterrupt;
  auto api = Api::open(target);
  const auto cancelled =
      api ? api->post(job_path(id) + "/cancel", "{}") : Result<Json>(tl::unexpected(api.error()));
  const std::string said =
      cancelled ? "cancelled " + id + "\n"
                : "atoll: cannot cancel " + id + ": " + cancelled.error().message + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, said.data(), said.size());
  return kExitInterrupt;
}

Result<int> follow_to_end(Session& session, const std::string& id, bool array) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  Console console(session.terminal);
  const Interrupts interrupts([&, target = (*api)->target()](Interrupts& signals) {
    return detach(signals, console, target, id, Attached::output);
  });
  const auto job = follow_output(session, **api, console, id, array);
  if (!job) return tl::unexpected(job.error());
  return tell_end(console, *job);
}

}  // namespace atl::cli
