// logs: what a job wrote.
#include <unistd.h>

#include <ostream>
#include <thread>

#include "cli/console.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/log_stream.h"
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

LogWish wish_of(const LogsFlags& flags, const std::string& id, const Source& source) {
  return {.id = id, .stream = source.stream, .attempt = flags.attempt, .offset = flags.offset};
}

Result<void> print_log(Api& api, Console& console, const LogsFlags& flags, LogWish wish, int fd) {
  std::int64_t tail = flags.tail;
  while (true) {
    const auto page = read_log(api, wish, tail);
    if (!page) return tl::unexpected(page.error());
    console.write(fd, page->bytes);
    if (page->bytes.empty() || page->next_offset >= page->size) return {};
    wish.offset = page->next_offset;
    wish.attempt = page->attempt;
    tail = -1;
  }
}

// The last lines first; the stream then goes on exactly behind them.
Result<LogWish> begin_with_tail(Api& api, Console& console, const LogsFlags& flags, LogWish wish,
                                int fd) {
  if (flags.tail < 0) return wish;
  const auto page = read_log(api, wish, flags.tail);
  if (!page && page.error().code == ErrorCode::not_found) return wish;  // it has not started yet
  if (!page) return tl::unexpected(page.error());
  console.write(fd, page->bytes);
  wish.after = page->attempt + "." + std::to_string(page->next_offset);
  return wish;
}

Result<Json> follow_one(const Target& target, Console& console, const LogsFlags& flags,
                        const std::string& id, const Source& source) {
  auto api = Api::open(target);
  if (!api) return tl::unexpected(api.error());
  auto wish = begin_with_tail(*api, console, flags, wish_of(flags, id, source), source.fd);
  if (!wish) return tl::unexpected(wish.error());
  LogSink sink;
  sink.bytes = [&](std::string_view bytes) { console.write(source.fd, bytes); };
  sink.cut = [&](std::int64_t from, std::int64_t to) {
    console.note("atoll: " + std::to_string(to - from) + " bytes are no longer kept");
  };
  sink.stop = [&] { return console.silent(); };
  return follow_log(*api, std::move(*wish), sink);
}

Result<int> follow(Session& session, Api& api, const LogsFlags& flags, const std::string& id) {
  Console console(session.terminal);
  const Interrupts interrupts([&console](Interrupts&) {
    console.silence();
    return kExitInterrupt;
  });
  const auto sources = sources_of(flags);
  std::vector<Result<Json>> ends(sources.size(), Result<Json>(Json()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    threads.emplace_back(
        [&, i] { ends[i] = follow_one(api.target(), console, flags, id, sources[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& end : ends) {
    if (!end) return tl::unexpected(end.error());
  }
  const auto job = api.get(job_path(id));
  return job ? job_exit_code(*job) : job_exit_code(*ends.front());
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
  if (flags.follow) return follow(session, **api, flags, id);
  Console console(session.terminal);
  for (const Source& source : sources_of(flags)) {
    auto printed = print_log(**api, console, flags, wish_of(flags, id, source), source.fd);
    if (!printed) return tl::unexpected(printed.error());
  }
  return kExitOk;
}

}  // namespace

void add_logs_verb(Verbs& verbs) {
  auto flags = std::make_shared<LogsFlags>();
  CLI::App* verb = verbs.add(nullptr, "logs",
                             "Show what a job wrote: its output, and its errors on standard error",
                             "atoll logs 12\n"
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
