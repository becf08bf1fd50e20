#include "simulate/trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

#include "base/describe.h"
#include "base/text.h"
#include "simulate/trace_reader.h"

namespace atl::simulate {
namespace {

constexpr const char* kSkipHint = " (--skip-broken leaves such lines out)";
constexpr Time kSomeMonday{1'767'571'200'000'000};  // 2026-01-05, for traces that name no date

bool is_history(std::string_view line) { return line.starts_with('{'); }

std::unique_ptr<TraceReader> reader_for(std::string_view line, Trace& trace,
                                        const ReadOptions& options) {
  if (is_history(line)) return std::make_unique<HistoryReader>(trace, options);
  return std::make_unique<SwfReader>(trace, options);
}

// What is no trace at all, whatever its lines are.
Result<void> check_opening(std::string_view line) {
  if (line.starts_with("\x1f\x8b"))
    return fail(ErrorCode::invalid,
                "it is compressed; write `zcat FILE | atoll simulate --trace -`");
  if (line.starts_with('['))
    return fail(ErrorCode::invalid,
                "it is one JSON document; a trace has an object on each line, as -o jsonl writes "
                "them");
  return {};
}

tl::unexpected<Error> refuse_line(const std::string& name, uint64_t number,
                                  const std::string& why) {
  return fail(ErrorCode::invalid, name + ":" + std::to_string(number) + ": " + why);
}

Result<void> read_lines(std::istream& stream, Trace& trace, const ReadOptions& options) {
  std::unique_ptr<TraceReader> reader;
  std::string text;
  for (uint64_t number = 1; std::getline(stream, text); ++number) {
    const std::string_view line = trim(text);
    if (line.empty()) continue;
    if (!reader) {
      if (auto ok = check_opening(line); !ok)
        return fail(ErrorCode::invalid, trace.name + ": " + ok.error().message);
      reader = reader_for(line, trace, options);
    }
    const Result<void> read =
        line.size() > kTraceLineMax
            ? fail(ErrorCode::invalid, "the line is longer than 256 MiB; is this a trace?")
            : reader->line(line);
    if (read) continue;
    if (read.error().code == ErrorCode::too_large)
      return refuse_line(trace.name, number, read.error().message);
    if (!options.skip_broken)
      return refuse_line(trace.name, number, read.error().message + kSkipHint);
    if (trace.broken++ == 0)
      trace.first_broken = refuse_line(trace.name, number, read.error().message).value().message;
  }
  if (stream.bad()) return fail(ErrorCode::unavailable, "cannot read " + trace.name);
  if (reader) reader->finish();
  return {};
}

// "0, 1, 2", and no more than people read.
std::string listed(const std::vector<int64_t>& queues) {
  constexpr size_t kMost = 20;
  std::string text;
  for (size_t i = 0; i < queues.size() && i < kMost; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(queues[i]);
  return queues.size() > kMost ? text + " …" : text;
}

std::string why_empty(const Trace& trace) {
  if (trace.without_run + trace.broken == 0)
    return "there is no job in it; `atoll simulate generate` writes a trace";
  return "no job in it has run; jobs without a run time: " + std::to_string(trace.without_run) +
         ", broken lines: " + std::to_string(trace.broken) +
         (trace.broken > 0 ? ", the first: " + trace.first_broken : "");
}

}  // namespace

uint64_t Trace::tasks() const {
  uint64_t all = 0;
  for (const TraceJob& job : jobs) all += job.tasks;
  return all;
}

Duration Trace::span() const {
  return jobs.empty() ? Duration{} : jobs.back().submit - jobs.front().submit;
}

void sort_jobs(std::vector<TraceJob>& jobs) {
  const auto earlier = [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; };
  if (std::is_sorted(jobs.begin(), jobs.end(), earlier)) return;
  std::vector<std::pair<Duration, uint32_t>> order;
  for (const TraceJob& job : jobs)
    order.emplace_back(job.submit, static_cast<uint32_t>(order.size()));
  std::sort(order.begin(), order.end());
  std::vector<TraceJob> sorted;
  sorted.reserve(jobs.size());
  for (const auto& [submit, at] : order) sorted.push_back(jobs[at]);
  jobs = std::move(sorted);
}

uint32_t TraceReader::index(std::map<std::string, uint32_t>& known, std::vector<std::string>& names,
                            const std::string& name) {
  const auto [it, added] = known.try_emplace(name, static_cast<uint32_t>(names.size()));
  if (added) names.push_back(name);
  return it->second;
}

Result<uint16_t> TraceReader::ns(const std::string& name) {
  const uint32_t at = index(namespaces_, trace_.namespaces, name);
  if (at <= UINT16_MAX) return static_cast<uint16_t>(at);
  return fail(ErrorCode::too_large, "more than 65536 namespaces; leave the group unknown (-1)");
}

Result<uint16_t> TraceReader::wishes(const Wishes& wishes) {
  const auto [it, added] = wishes_.try_emplace(wishes, static_cast<uint32_t>(trace_.wishes.size()));
  if (it->second > UINT16_MAX)
    return fail(ErrorCode::too_large,
                "more than 65536 different lists of devices, priorities and gangs");
  if (added) trace_.wishes.push_back(wishes);
  return static_cast<uint16_t>(it->second);
}

Result<void> TraceReader::add(const TraceJob& job) {
  tasks_ += job.tasks;
  if (tasks_ > kTraceTasksMax)
    return fail(ErrorCode::too_large,
                "more than 100000000 tasks; cut the trace, such as with `head`");
  trace_.jobs.push_back(job);
  return {};
}

Result<Trace> read_trace(std::istream& stream, const std::string& name,
                         const ReadOptions& options) {
  Trace trace;
  trace.name = name;
  if (auto read = read_lines(stream, trace, options); !read) return tl::unexpected(read.error());
  if (trace.jobs.empty()) return fail(ErrorCode::invalid, name + ": " + why_empty(trace));
  if (!trace.begin) trace.begin = kSomeMonday;
  sort_jobs(trace.jobs);
  return trace;
}

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  if (path == "-") return read_trace(std::cin, "standard input", options);
  std::ifstream stream(path, std::ios::binary);
  if (!stream || stream.peek() == std::ifstream::traits_type::eof()) {
    if (!stream.is_open())
      return fail(ErrorCode::not_found, "cannot read " + path + ": " + std::strerror(errno));
    if (stream.bad()) return fail(ErrorCode::invalid, path + " is a directory: name a file");
    stream.clear();
  }
  return read_trace(stream, path, options);
}

Result<std::map<int64_t, core::Tier>> parse_tiers(const std::string& text) {
  std::map<int64_t, core::Tier> tiers;
  const std::string instead = "; write QUEUE=TIER, such as 0=interactive,3=opportunistic";
  for (const std::string_view part : split(text, ',')) {
    const size_t equals = part.find('=');
    const auto queue = parse_int(part.substr(0, equals));
    if (equals == std::string_view::npos || !queue)
      return fail(ErrorCode::invalid, quote(part) + " names no queue" + instead);
    core::Tier tier{};
    if (!enum_from_name(part.substr(equals + 1), tier))
      return fail(ErrorCode::invalid,
                  quote(part.substr(equals + 1)) +
                      " is no tier: interactive, service, batch and opportunistic are" + instead);
    if (!tiers.emplace(*queue, tier).second)
      return fail(ErrorCode::invalid, "queue " + std::to_string(*queue) + " is there twice");
  }
  return tiers;
}

std::string tiers_without_jobs(const Trace& trace, const std::map<int64_t, core::Tier>& tiers) {
  if (!tiers.empty() && !trace.spreads)
    return "--tiers changes nothing: the lines of this trace name their tiers themselves";
  std::vector<int64_t> idle;
  for (const auto& [queue, tier] : tiers) {
    if (!trace.queues.count(queue)) idle.push_back(queue);
  }
  if (idle.empty()) return "";
  return "--tiers: no job of the trace is in queue " + listed(idle) + "; its queues are " +
         listed({trace.queues.begin(), trace.queues.end()});
}

}  // namespace atl::simulate
