// logs: what a job wrote.
#include <unistd.h>

#include <ostream>

#include "cli/console.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/log_view.h"
#include "cli/selectors.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

struct LogsFlags {
  std::string id;
  bool follow = false;
  bool out = false;
  bool err = false;
  std::int64_t tail = -1;
  std::int64_t offset = 0;
  std::string attempt;
};

struct Source {
  const char* stream;
  int fd;  // of ours
};

std::vector<Source> sources_of(const LogsFlags& flags) {
  // A stream that was asked for by name is the data.
  if (flags.err && !flags.out) return {{"stderr", STDOUT_FILENO}};
  if (flags.out && !flags.err) return {{"stdout", STDOUT_FILENO}};
  return {{"stdout", STDOUT_FILENO}, {"stderr", STDERR_FILENO}};
}

// `named` is whether each line says which task wrote it.
std::vector<LogView> views_of(const Session& session, const LogsFlags& flags, const std::string& id,
                              bool named) {
  std::vector<LogView> views;
  for (const Source& source : sources_of(flags)) {
    const bool out = source.fd == STDOUT_FILENO;
    views.push_back({.wish = {.id = id,
                              .stream = source.stream,
                              .attempt = flags.attempt,
                              .offset = flags.offset,
                              .after = {}},
                     .fd = source.fd,
                     .tail = flags.tail,
                     .prefix = named ? task_prefix(id, out ? session.terminal.color
                                                           : session.terminal.color_err)
                                     : ""});
  }
  return views;
}

Result<int> follow(Session& session, Api& api, const LogsFlags& flags, const std::string& id,
                   bool array) {
  Console console(session.terminal);
  const Interrupts interrupts([&console](Interrupts&) {
    console.silence();
    return kExitInterrupt;
  });
  const auto end = array ? follow_array(api, console, id,
                                        [&](const std::string& task) {
                                          return views_of(session, flags, task, true);
                                        })
                         : follow_task(api.target(), console, views_of(session, flags, id, false));
  if (!end) return tl::unexpected(end.error());
  const auto job = api.get(job_path(id));
  return job_exit_code(job ? *job : *end);
}

Result<int> print(Session& session, Api& api, const LogsFlags& flags, const std::string& id) {
  Console console(session.terminal);
  for (const LogView& view : views_of(session, flags, id, false)) {
    auto printed = print_log(api, console, view);
    if (!printed) return tl::unexpected(printed.error());
  }
  return kExitOk;
}

Result<int> logs(Session& session, LogsFlags flags) {
  const auto named = one_attempt(session, flags.id);
  if (!named) return tl::unexpected(named.error());
  const std::string id = named->id;
  if (!named->attempt.empty() && !flags.attempt.empty() && flags.attempt != named->attempt) {
    return fail(ErrorCode::invalid,
                flags.id + " and --attempt " + flags.attempt + " name two attempts: leave one out");
  }
  if (!named->attempt.empty()) flags.attempt = named->attempt;
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  // A task is not asked whether it is an array.
  const auto job = id.ends_with(']') ? Result<Json>(Json()) : (*api)->get(job_path(id));
  if (!job) return tl::unexpected(job.error());
  const bool array = (*job)["array"].truth();
  if (flags.follow) return follow(session, **api, flags, id, array);
  if (!array) return print(session, **api, flags, id);
  Console console(session.terminal);
  auto printed = print_array(**api, console, *job, [&](const std::string& task) {
    return views_of(session, flags, task, true);
  });
  if (!printed) return tl::unexpected(printed.error());
  return kExitOk;
}

}  // namespace

void add_logs_verb(Verbs& verbs) {
  auto flags = std::make_shared<LogsFlags>();
  CLI::App* verb = verbs.add(nullptr, "logs",
                             "Show what a job wrote: its output, and its errors on standard error",
                             "atoll logs 12\n"
                             "atoll logs -f 13                an array: each line behind its task\n"
                             "atoll logs -f last              follow; returns the job's exit code\n"
                             "atoll logs --stderr --tail 20 12[7]\n"
                             "atoll logs 12[7].1              what its first attempt wrote",
                             [flags](Session& session) { return logs(session, *flags); });
  verb->add_option("ID", flags->id, "12, 12[7], last, or an attempt such as 12.1")->required();
  verb->add_flag("-f,--follow", flags->follow, "Stay until the job has ended");
  verb->add_flag("--stdout", flags->out, "Standard output alone");
  verb->add_flag("--stderr", flags->err, "Standard error alone, as this one's output");
  verb->add_option("--tail", flags->tail, "Begin with the last N lines")->type_name("N");
  verb->add_option("--since-offset", flags->offset, "Begin at that byte of each stream")
      ->type_name("N");
  verb->add_option("--attempt", flags->attempt, "Of that attempt (the last)")->type_name("N");
}

}  // namespace atl::cli
