// wait: until jobs have ended; the exit code is theirs.
#include <ostream>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/output.h"
#include "cli/selectors.h"
#include "cli/verbs.h"
#include "cli/waiting.h"

namespace atl::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kShowAfter = std::chrono::seconds(2);

struct WaitFlags {
  std::vector<std::string> ids;
  std::string timeout;
};

Result<Deadline> deadline_of(const std::string& timeout) {
  if (timeout.empty()) return Deadline();
  const auto span = parse_duration(timeout);
  if (!span) return tl::unexpected(span.error());
  return Deadline(Clock::now() + std::chrono::microseconds(span->us));
}

void tell(Session& session, const std::string& id, const Json& job) {
  const std::string word = state_word(job);
  const std::string message = end_message(job);
  session.err << printable(id) << " "
              << paint(printable(word), state_color(word), session.terminal.color_err)
              << (message.empty() ? "" : ": " + printable(message)) << "\n"
              << std::flush;
}

// Nothing when the time was up.
Result<std::optional<Json>> wait_for_one(Session& session, Api& api, const std::string& id,
                                         const Deadline& deadline) {
  StatusLine status(session.terminal);
  ArrayProgress progress;
  const auto begun = Clock::now();
  auto ended = wait_for_end(api, id, deadline, [&](const Json& job) {
    if (Clock::now() - begun > kShowAfter) status.show(status_of(job, progress));
    return true;
  });
  status.clear();
  return ended;
}

Result<int> wait(Session& session, const WaitFlags& flags) {
  const auto deadline = deadline_of(flags.timeout);
  if (!deadline) return tl::unexpected(deadline.error());
  auto ids = many_jobs(session, flags.ids);
  if (!ids) return tl::unexpected(ids.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const bool lines = session.globals.format == Format::jsonl;  // as they come
  std::vector<Json> jobs;
  int code = kExitOk;
  for (const std::string& id : *ids) {
    const auto ended = wait_for_one(session, **api, id, *deadline);
    if (!ended) return tl::unexpected(ended.error());
    if (!*ended) {
      session.say(id + " has not ended after " + flags.timeout);
      code = kExitTimeout;
      break;
    }
    if (session.for_people()) tell(session, id, **ended);
    if (lines && !session.names_only()) session.out << (*ended)->compact() << "\n" << std::flush;
    jobs.push_back(**ended);
    if (code == kExitOk) code = job_exit_code(**ended);
  }
  if (!session.for_people() && !session.names_only() && !lines)
    print_answers(session, jobs, flags.ids.size() > 1 || names_all(flags.ids), "id");
  return code;
}

}  // namespace

void add_wait_verb(Verbs& verbs) {
  auto flags = std::make_shared<WaitFlags>();
  CLI::App* verb =
      verbs.add(nullptr, "wait", "Wait until jobs have ended, and return their exit code",
                "atoll wait 12 13\natoll wait all --timeout 2h",
                [flags](Session& session) { return wait(session, *flags); });
  verb->add_option("ID", flags->ids, "12, 12[7], last, or all of yours that have not ended")
      ->required();
  verb->add_option("--timeout", flags->timeout, "Give up after that long, with exit code 124")
      ->type_name("DURATION");
}

}  // namespace atl::cli
