// run: what was submitted is followed to its end.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/console.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/job_view.h"
#include "cli/log_stream.h"
#include "cli/selectors.h"
#include "cli/submit.h"
#include "cli/waiting.h"

namespace atl::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kShowAfter = std::chrono::seconds(2);
constexpr auto kSecondInterrupt = std::chrono::seconds(2);

// Detaches; a second Ctrl-C cancels the job. On a thread of its own, so with a connection of its
// own.
int on_interrupt(Interrupts& interrupts, Console& console, const Target& target,
                 const std::string& id) {
  console.note("\ndetached; the job goes on. Ctrl-C again within 2 s cancels it\n  atoll logs -f " +
               id + "    shows its output\n  atoll cancel " + id + "     stops it");
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

// One of the two streams, until the job has ended.
Result<Json> follow_stream(const Target& target, Console& console, const std::string& id,
                           bool out) {
  auto api = Api::open(target);
  if (!api) return tl::unexpected(api.error());
  LogSink sink;
  sink.bytes = [&](std::string_view bytes) {
    console.write(out ? STDOUT_FILENO : STDERR_FILENO, bytes);
  };
  sink.cut = [&](std::int64_t from, std::int64_t to) {
    console.note("atoll: " + std::to_string(to - from) + " bytes of output are no longer kept");
  };
  sink.stop = [&] { return console.silent(); };
  if (out) {
    sink.attempt = [&](std::int64_t number) {
      console.note("atoll: attempt " + std::to_string(number));
    };
  }
  // From the first attempt on, so that a reconnect between two of them loses nothing.
  return follow_log(*api, {.id = id, .stream = out ? "stdout" : "stderr", .attempt = "1"}, sink);
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

// Looks at the job while nothing else is to be seen of it.
Result<std::optional<Json>> watch_job(Api& api, Console& console, const std::string& id, bool array,
                                      const std::function<bool()>& done) {
  ArrayProgress progress;
  const auto begun = Clock::now();
  const Pace pace{.first = std::chrono::milliseconds(array ? 20 : 250),
                  .last = std::chrono::milliseconds(500)};
  return wait_for_end(
      api, id, {},
      [&](const Json& job) {
        if (Clock::now() - begun > kShowAfter) console.status(status_of(job, progress));
        return !done();
      },
      pace);
}

struct BothStreams {
  Result<Json> out = Json();
  Result<Json> err = Json();
  std::atomic<bool> done{false};
};

Result<Json> follow_output(Api& api, Console& console, const std::string& id) {
  BothStreams streams;
  std::thread err([&] { streams.err = follow_stream(api.target(), console, id, false); });
  std::thread out([&] {
    streams.out = follow_stream(api.target(), console, id, true);
    streams.done = true;
  });
  // Only a person wants to know why nothing happens.
  std::thread watcher([&] {
    auto own = Api::open(api.target());
    for (int i = 0; i < 20 && !streams.done; ++i) std::this_thread::sleep_for(kShowAfter / 20);
    if (own && !streams.done) {
      static_cast<void>(watch_job(*own, console, id, false, [&] { return streams.done.load(); }));
    }
  });
  out.join();
  err.join();
  watcher.join();
  if (!streams.out) return streams.out;
  if (!streams.err) return streams.err;
  return api.get(job_path(id));
}

}  // namespace

Result<int> follow_to_end(Session& session, const std::string& id, bool array) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  Console console(session.terminal);
  const Interrupts interrupts([&, target = (*api)->target()](Interrupts& signals) {
    return on_interrupt(signals, console, target, id);
  });
  if (!array) {
    const auto job = follow_output(**api, console, id);
    if (!job) return tl::unexpected(job.error());
    return tell_end(console, *job);
  }
  console.note("atoll: job " + id + " is an array; `atoll logs " + id +
               "[INDEX]` shows the output of a task");
  const auto ended = watch_job(**api, console, id, true, [] { return false; });
  if (!ended) return tl::unexpected(ended.error());
  console.status("");
  return tell_end(console, **ended);
}

}  // namespace atl::cli
