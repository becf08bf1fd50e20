#include "site/remote/run_directory.h"

#include <functional>

#include "base/text.h"
#include "site/progress_line.h"
#include "site/remote/wrapper_text.h"

namespace atl::site {
namespace {

constexpr int kNoWrapper = 96;  // what our own script says when it is not there yet
constexpr int kRefused = 3;     // of wrapper.sh: nothing can be written
constexpr int kNotThere = 4;    // of its verb `logs`
constexpr Duration kLogTimeout = seconds(20);

// Named by its content: one that runs is never written over.
std::string wrapper_name() {
  char name[40];
  std::snprintf(name, sizeof name, "wrapper-%016zx.sh",
                std::hash<std::string_view>{}(std::string_view(kWrapperText)));
  return name;
}

// The first `n` words of a line, and what is behind them.
std::vector<std::string_view> words_of(std::string_view line, size_t n, std::string_view& rest) {
  std::vector<std::string_view> words;
  while (words.size() < n && !line.empty()) {
    const size_t at = line.find(' ');
    words.push_back(line.substr(0, at));
    line = at == std::string_view::npos ? std::string_view() : line.substr(at + 1);
  }
  rest = line;
  return words;
}

int64_t number_of(std::string_view word) { return parse_int(word).value_or(0); }

std::optional<core::EndCause> cause_of(std::string_view word) {
  for (const core::EndCause cause :
       {core::EndCause::exited, core::EndCause::signalled, core::EndCause::wall_time,
        core::EndCause::stopped, core::EndCause::memory, core::EndCause::start_error,
        core::EndCause::lost}) {
    if (word == enum_name(cause)) return cause;
  }
  return std::nullopt;
}

bool parse_end(std::string_view line, RunStatus& run) {
  std::string_view message;
  const std::vector<std::string_view> words = words_of(line, 11, message);
  if (words.size() < 11) return false;
  const std::optional<core::EndCause> cause = cause_of(words[0]);
  if (!cause) return false;
  core::AttemptResult& result = run.result;
  result.cause = *cause;
  result.exit_code = static_cast<int32_t>(number_of(words[1]));
  result.signal = static_cast<int32_t>(number_of(words[2]));
  result.usage.started = {number_of(words[3])};
  result.usage.ended = {number_of(words[4])};
  result.usage.cpu = {number_of(words[5])};
  result.usage.memory_peak_bytes = number_of(words[6]);
  result.stdout_bytes = number_of(words[7]);
  result.stderr_bytes = number_of(words[8]);
  result.checkpointed = words[9] == "1";
  run.left_files = words[10] == "1";
  result.message = valid_utf8(message) ? std::string(message) : quote(message);
  run.started = result.usage.started;
  run.stage = RunStage::ended;
  return true;
}

void parse_progress(std::string_view line, RunStatus& run) {
  std::string_view text;
  const std::vector<std::string_view> words = words_of(line, 1, text);
  Progress progress;
  ProgressScanner scanner;
  scanner.feed(text, progress);
  scanner.finish(progress);
  if (!progress.percent_milli && progress.status.empty()) return;
  if (!words.empty()) progress.at = {number_of(words[0])};
  run.progress = progress;
}

std::optional<core::Device> parse_gpu(std::string_view line) {
  const std::vector<std::string_view> parts = split(line, ',');
  if (parts.size() < 3) return std::nullopt;
  std::string model;
  for (const char c : trim(parts[1])) {
    if (c >= 'A' && c <= 'Z')
      model += static_cast<char>(c - 'A' + 'a');
    else
      model += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
  }
  return core::Device{.unit = "gpu" + std::string(trim(parts[0])),
                      .kind = "gpu",
                      .model = model,
                      .memory_bytes = number_of(trim(parts[2])) << 20};
}

HostFacts parse_facts(std::string_view text) {
  HostFacts facts;
  for (const std::string_view line : split(text, '\n')) {
    std::string_view value;
    const std::vector<std::string_view> key = words_of(line, 1, value);
    if (key.empty()) continue;
    if (key[0] == "host") facts.host = value;
    if (key[0] == "root") facts.place.root = value;
    if (key[0] == "home") facts.place.home = value;
    if (key[0] == "user") facts.place.user = value;
    if (key[0] == "N") facts.uptime_cs = number_of(value.substr(0, value.find(' ')));
    if (key[0] == "cores") facts.cores = number_of(value);
    if (key[0] == "memory_kb") facts.memory_bytes = number_of(value) << 10;
    if (key[0] == "scratch_kb") facts.scratch_bytes = number_of(value) << 10;
    if (key[0] == "has" && value == "sha256sum") facts.sha256sum = true;
    if (key[0] != "gpu") continue;
    if (std::optional<core::Device> gpu = parse_gpu(value)) facts.devices.push_back(*gpu);
  }
  facts.place.gpus_present = !facts.devices.empty();
  return facts;
}

std::string id_lines(std::span<const AttemptId> attempts) {
  std::string lines;
  for (const AttemptId attempt : attempts) lines += run_id(attempt) + "\n";
  return lines;
}

}  // namespace

Result<HostStatus> parse_host_status(std::string_view text) {
  HostStatus status;
  std::map<AttemptId, size_t> at;
  bool dated = false;
  for (const std::string_view line : split(text, '\n')) {
    std::string_view rest;
    const std::vector<std::string_view> words = words_of(line, 2, rest);
    if (words.size() < 2) continue;
    if (words[0] == "N") {
      status.uptime_cs = number_of(words[1]);
      dated = true;
      continue;
    }
    const std::optional<AttemptId> attempt = parse_run_id(words[1]);
    if (!attempt) continue;
    if (words[0] == "G") {
      if (const auto found = at.find(*attempt); found != at.end())
        parse_progress(rest, status.runs[found->second]);
      continue;
    }
    RunStatus run{.attempt = *attempt};
    if (words[0] == "E" && !parse_end(rest, run))
      return fail(ErrorCode::internal,
                  "the end of " + run_id(*attempt) + " cannot be read: " + quote(rest));
    if (words[0] == "R") {
      run.stage = RunStage::running;
      run.started = {number_of(rest)};
    }
    if (words[0] == "B") run.stage = RunStage::beginning;
    at[*attempt] = status.runs.size();
    status.runs.push_back(std::move(run));
  }
  if (!dated) return fail(ErrorCode::internal, "the host's answer has no time in it");
  return status;
}

RunDirectory::RunDirectory(Shell& shell, RunDirectoryOptions options)
    : shell_(shell),
      options_(std::move(options)),
      root_word_(options_.root.empty() ? "\"$HOME\"/.atoll/" + shell_quote(options_.installation)
                                       : shell_quote(options_.root)),
      wrapper_word_(root_word_ + "/" + wrapper_name()) {}

Error RunDirectory::refusal(const Said& said, const std::string& doing) const {
  const std::string why(trim(said.err.empty() ? said.out : said.err));
  if (said.exit_code == kRefused)
    return {ErrorCode::exhausted,
            "nothing can be written to " + (options_.root.empty() ? "~/.atoll" : options_.root) +
                " on " + shell_.name() + " (" + why.substr(0, 200) +
                "): make room there, or name another directory for the site",
            {}};
  return {ErrorCode::internal,
          shell_.name() + " could not " + doing + " (code " + std::to_string(said.exit_code) +
              "): " + why.substr(0, 200),
          {}};
}

// The text is put beside its place and moved there, and a cut one is never moved: its last line has
// to be there.
Result<Said> RunDirectory::install_and_probe() {
  const std::string text(kWrapperText);
  const std::string script =
      "umask 077; mkdir -p " + root_word_ + " || exit 3\n" + "t=" + wrapper_word_ + ".$$\n" +
      "cat >\"$t\" || { rm -f \"$t\"; exit 3; }\n" + "[ $(wc -c <\"$t\") -eq " +
      std::to_string(text.size()) + " ] || { rm -f \"$t\"; exit 3; }\n" + "mv -f \"$t\" " +
      wrapper_word_ + " && exec sh " + wrapper_word_ + " probe " + root_word_;
  return shell_.run({.script = script, .input = text});
}

Result<Said> RunDirectory::ask(const std::string& verb, const std::string& arguments,
                               std::string input, Duration timeout, size_t out_max) {
  ShellCommand command{.script = "[ -e " + wrapper_word_ + " ] || exit " +
                                 std::to_string(kNoWrapper) + "\nexec sh " + wrapper_word_ + " " +
                                 verb + " " + root_word_ + " " + arguments,
                       .input = std::move(input),
                       .timeout = timeout,
                       .out_max = out_max};
  Result<Said> said = shell_.run(command);
  if (!said || said->exit_code != kNoWrapper) return said;
  Result<Said> installed = install_and_probe();
  if (!installed) return installed;
  if (installed->exit_code != 0) return tl::unexpected(refusal(*installed, "take the wrapper"));
  return shell_.run(command);
}

Result<HostFacts> RunDirectory::probe() {
  Result<Said> said = ask("probe", "", "");
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code != 0) return tl::unexpected(refusal(*said, "be looked at"));
  HostFacts facts = parse_facts(said->out);
  if (facts.place.root.empty() || facts.cores <= 0)
    return fail(ErrorCode::internal,
                shell_.name() + " answered what is not understood: " + quote(said->out));
  const std::lock_guard lock(mutex_);
  place_ = facts.place;
  return facts;
}

Result<HostPlace> RunDirectory::place() {
  {
    const std::lock_guard lock(mutex_);
    if (place_) return *place_;
  }
  Result<HostFacts> facts = probe();
  if (!facts) return tl::unexpected(facts.error());
  return facts->place;
}

Result<std::string> RunDirectory::foreground_command(AttemptId attempt) {
  Result<HostPlace> where = place();
  if (!where) return tl::unexpected(where.error());
  return "sh " + shell_quote(where->root + "/" + wrapper_name()) + " run " +
         shell_quote(where->root) + " " + run_id(attempt);
}

Result<void> RunDirectory::start(std::span<const RunOrder> orders, bool begin, Refused& refused) {
  Result<HostPlace> where = place();
  if (!where) return tl::unexpected(where.error());
  TarWriter archive;
  size_t count = 0;
  for (const RunOrder& order : orders) {
    Result<std::vector<TarFile>> files = run_files(order, *where);
    if (!files) {
      refused[order.start.attempt] = files.error();
      continue;
    }
    for (const TarFile& file : *files) archive.add(file);
    ++count;
  }
  if (count == 0) return {};
  Result<Said> said =
      ask("place", std::to_string(count) + (begin ? " 1" : " ''"), archive.finish(), seconds(120));
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code != 0) return tl::unexpected(refusal(*said, "take the orders"));
  return {};
}

Result<HostStatus> RunDirectory::poll(int64_t renew_cs) {
  Result<Said> said = ask("poll", std::to_string(renew_cs), "");
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code != 0) return tl::unexpected(refusal(*said, "say what it runs"));
  return parse_host_status(said->out);
}

Result<int64_t> RunDirectory::renew(int64_t renew_cs) {
  Result<Said> said = ask("renew", std::to_string(renew_cs), "");
  if (!said) return tl::unexpected(said.error());
  Result<HostStatus> status = parse_host_status(said->out);
  if (!status) return tl::unexpected(status.error());
  return status->uptime_cs;
}

Result<std::vector<AttemptId>> RunDirectory::stop(std::span<const StopOrder> orders) {
  std::string lines;
  for (const StopOrder& order : orders)
    lines += run_id(order.attempt) + " " + std::to_string(order.grace.us / 10'000) + " " +
             stop_notice(order) + "\n";
  Result<Said> said = ask("stop", "", std::move(lines));
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code != 0) return tl::unexpected(refusal(*said, "stop attempts"));
  std::vector<AttemptId> unknown;
  for (const std::string_view line : split(said->out, '\n')) {
    if (!line.starts_with("U ")) continue;
    if (const auto attempt = parse_run_id(line.substr(2))) unknown.push_back(*attempt);
  }
  return unknown;
}

Result<void> RunDirectory::end(AttemptId attempt, const std::string& message) {
  Result<Said> said = ask("end", run_id(attempt) + " " + shell_quote(message), "");
  if (!said) return tl::unexpected(said.error());
  return {};
}

Result<void> RunDirectory::forget(std::span<const AttemptId> attempts) {
  Result<Said> said = ask("forget", "", id_lines(attempts));
  if (!said) return tl::unexpected(said.error());
  return {};
}

Result<void> RunDirectory::purge(JobId job) {
  Result<Said> said = ask("purge", std::to_string(job.value), "", seconds(600));
  if (!said) return tl::unexpected(said.error());
  return {};
}

Result<LogChunk> RunDirectory::logs(AttemptId attempt, LogStream stream, int64_t offset,
                                    size_t max) {
  const std::string arguments = run_id(attempt) + (stream == LogStream::out ? " out " : " err ") +
                                std::to_string(std::max<int64_t>(0, offset)) + " " +
                                std::to_string(max);
  Result<Said> said = ask("logs", arguments, "", kLogTimeout, max + 64);
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code == kNotThere)
    return fail(ErrorCode::not_found, shell_.name() + " has no log of " + to_string(attempt));
  const size_t line = said->out.find('\n');
  if (said->exit_code != 0 || line == std::string::npos)
    return tl::unexpected(refusal(*said, "read a log"));
  LogChunk chunk{.offset = offset, .bytes = said->out.substr(line + 1)};
  chunk.size = number_of(std::string_view(said->out).substr(0, line));
  return chunk;
}

Result<ExecResult> RunDirectory::exec(const ExecRequest& request) {
  std::string script = "ROOT=" + root_word_ + "\ncd \"$ROOT/attempts/" + run_id(request.attempt) +
                       "\" 2>/dev/null && [ -e run/child ] && [ ! -e ended ] || exit 96\n" +
                       "run=$PWD\n. ./task\nexport ATOLL_RUN=\"$run/.\"\n" +
                       "cd \"${dir:-$HOME}\" || exit 96\nexec";
  for (const std::string& word : request.argv) script += " " + shell_quote(word);
  Result<Said> said =
      shell_.run({.script = script, .input = request.stdin_text, .timeout = request.timeout});
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code == kNoWrapper)
    return fail(ErrorCode::conflict, to_string(request.attempt) + " does not run");
  return ExecResult{said->exit_code, std::move(said->out), std::move(said->err)};
}

}  // namespace atl::site
