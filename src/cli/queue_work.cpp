// queue work: runs a command once per item until the queue is dry.
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/queue_path.h"
#include "cli/queue_worker.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

constexpr std::int64_t kParallelMax = 256;  // threads, each with a process

struct WorkFlags {
  QueueName queue;
  std::string parallel = "1";
  std::string visibility;
  std::string retry_delay = "1s";
  bool follow = false;
  std::vector<std::string> command;
};

Result<WorkOrder> order_of(Session& session, const WorkFlags& flags) {
  if (flags.command.empty())
    return fail(ErrorCode::invalid,
                "say what to run: atoll queue work " + flags.queue.name + " -- COMMAND…");
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  const auto queue = (*session.api())->get(*path);
  if (!queue) return tl::unexpected(queue.error());
  const auto holds =
      parse_duration(flags.visibility.empty() ? queue->text("visibility") : flags.visibility);
  if (!holds || *holds < seconds(1))
    return fail(ErrorCode::invalid, "--visibility: write 1s or more, such as 5m");
  if (const auto delay = parse_duration(flags.retry_delay); !delay)
    return fail(ErrorCode::invalid, "--retry-delay: " + delay.error().message);
  WorkOrder order{.target = (*session.api())->target(),
                  .path = *path,
                  .command = flags.command,
                  .visibility = flags.visibility,
                  .lease_holds = *holds,
                  .retry_delay = flags.retry_delay,
                  .attempts = (*queue)["attempts"].integer(),
                  .follow = flags.follow};
  return order;
}

std::string summary(const WorkTally& tally) {
  std::string line = "done " + std::to_string(tally.done);
  if (tally.given_back > 0) line += ", given back " + std::to_string(tally.given_back);
  if (tally.dead > 0) line += ", dead " + std::to_string(tally.dead);
  if (tally.lost > 0) line += ", lost " + std::to_string(tally.lost) + " (their leases ran out)";
  return line;
}

// Runs the workers and shows how far they are; the first error of any of them.
Result<void> run_workers(Session& session, const WorkOrder& order, WorkTally& tally,
                         std::int64_t count) {
  std::vector<Result<void>> results(static_cast<std::size_t>(count));
  std::atomic<std::int64_t> running{count};
  std::vector<std::thread> threads;
  for (Result<void>& result : results) {
    threads.emplace_back([&] {
      result = work(order, tally);
      if (!result) tally.stop = true;
      --running;
    });
  }
  {
    StatusLine status(session.terminal);
    const auto begun = std::chrono::steady_clock::now();
    while (running > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (std::chrono::steady_clock::now() - begun < std::chrono::seconds(2)) continue;
      status.show(summary(tally) + ", left " + std::to_string(tally.left));
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const Result<void>& result : results) {
    if (!result) return result;
  }
  return {};
}

void tell_summary(Session& session, const WorkTally& tally) {
  if (session.for_people()) return session.say(summary(tally));
  const auto answer = Json::parse("{\"done\":" + std::to_string(tally.done) +
                                  ",\"given_back\":" + std::to_string(tally.given_back) +
                                  ",\"dead\":" + std::to_string(tally.dead) +
                                  ",\"lost\":" + std::to_string(tally.lost) + "}");
  print_one(session, *answer, "done", [] { return std::string(); });
}

Result<int> work_queue(Session& session, const WorkFlags& flags) {
  const auto parallel = parse_int(flags.parallel);
  if (!parallel || *parallel < 1 || *parallel > kParallelMax)
    return fail(ErrorCode::invalid, "--parallel: " + quote(flags.parallel) +
                                        " is not a number from 1 to " +
                                        std::to_string(kParallelMax));
  const auto order = order_of(session, flags);
  if (!order) return tl::unexpected(order.error());
  WorkTally tally;
  std::atomic<bool> interrupted{false};
  Result<void> worked;
  {
    const Interrupts interrupts([&](Interrupts&) {
      if (interrupted) return kExitInterrupt;
      tally.stop = interrupted = true;
      session.say("waiting for what runs to end; Ctrl-C again leaves it to the leases");
      return Interrupts::kGoOn;
    });
    worked = run_workers(session, *order, tally, *parallel);
  }
  if (!worked) return tl::unexpected(worked.error());
  tell_summary(session, tally);
  if (interrupted) return kExitInterrupt;
  return tally.dead > 0 ? kExitFailure : kExitOk;
}

}  // namespace

void add_queue_work_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<WorkFlags>();
  CLI::App* verb =
      verbs.add(noun, "work", "Run a command once per item until the queue is dry",
                "atoll queue work frames -- ./render.sh        the item on standard input\n"
                "atoll queue work frames --parallel 4 -- sh -c 'convert \"$ATOLL_ITEM\" out.png'\n"
                "atoll queue work frames --follow -- ./render.sh",
                [flags](Session& session) { return work_queue(session, *flags); });
  add_queue_options(verb, flags->queue);
  verb->add_option("-p,--parallel", flags->parallel, "So many items at once (1)")->type_name("N");
  verb->add_option("--visibility", flags->visibility, "How long a lease holds (the queue's)")
      ->type_name("TIME");
  verb->add_option("--retry-delay", flags->retry_delay, "Before a failed item is tried again (1s)")
      ->type_name("TIME");
  verb->add_flag("--follow", flags->follow, "Wait for more until the queue is closed");
  verbs.set_tail(verb, {.before = 1, .words = &flags->command}, "-- COMMAND…");
  Verbs::set_note(
      verb,
      "Exit code 0 of the command means done; any other gives the item back, and after the last\n"
      "attempt it is a dead letter. The lease is extended while the command runs. The body is on\n"
      "its standard input and, unless it is binary or large, in ATOLL_ITEM; its number is in\n"
      "ATOLL_ITEM_ID. Exit code 1 when an item died.");
}

}  // namespace atl::cli
