// The Standard Workload Format: 18 numbers a line, -1 where nobody knows, and a header of comments.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "core/limits.h"
#include "simulate/trace_reader.h"

namespace atl::simulate {
namespace {

enum Field {
  job_number,
  submit_time,
  wait_time,
  run_time,
  allocated_processors,
  average_cpu_time,
  used_memory,
  requested_processors,
  requested_time,
  requested_memory,
  status,
  user_id,
  group_id,
  executable,
  queue,
  partition,
  preceding_job,
  think_time,
  field_count
};

constexpr const char* kFieldNames[field_count] = {"job number",
                                                  "submit time",
                                                  "wait time",
                                                  "run time",
                                                  "allocated processors",
                                                  "CPU time used",
                                                  "used memory",
                                                  "requested processors",
                                                  "requested time",
                                                  "requested memory",
                                                  "status",
                                                  "user",
                                                  "group",
                                                  "executable",
                                                  "queue",
                                                  "partition",
                                                  "preceding job",
                                                  "think time"};

constexpr int64_t kSecondsMax = int64_t{100} * 366 * 86'400;  // longer than any trace there is
constexpr int64_t kProcessorsMax = 4'000'000;                 // in milli-units they fit 32 bits
constexpr int64_t kKibMax = core::kMemoryBytesMax / 1024;

tl::unexpected<Error> broken(std::string why) { return fail(ErrorCode::invalid, std::move(why)); }

std::string field_name(int field) {
  return "field " + std::to_string(field + 1) + " (" + kFieldNames[field] + ")";
}

// The next word of the line, which is taken off it.
std::string_view take_word(std::string_view& rest) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  const auto begin = std::find_if_not(rest.begin(), rest.end(), blank);
  const auto end = std::find_if(begin, rest.end(), blank);
  const std::string_view word(begin, end);
  rest = std::string_view(end, rest.end());
  return word;
}

// A whole number; some archives write fractions, of which the whole part counts.
bool read_number(std::string_view word, int64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{}) return false;
  const std::string_view rest(end, word.data() + word.size());
  return rest.empty() || (rest[0] == '.' && std::all_of(rest.begin() + 1, rest.end(), [](char c) {
                            return c >= '0' && c <= '9';
                          }));
}

Result<void> check_most(const int64_t (&fields)[field_count], int field, int64_t most) {
  if (fields[field] <= most) return {};
  return broken(field_name(field) + " is " + std::to_string(fields[field]) +
                "; it may be at most " + std::to_string(most));
}

}  // namespace

Result<void> SwfReader::line(std::string_view text) {
  if (text.starts_with(';')) {
    comment(text.substr(1));
    return {};
  }
  int64_t fields[field_count];
  std::string_view rest = text;
  for (int i = 0; i < field_count; ++i) {
    const std::string_view word = take_word(rest);
    if (word.empty())
      return broken("it has " + std::to_string(i) +
                    " fields; a line has 18 numbers, with -1 for what is unknown");
    if (!read_number(word, fields[i]))
      return broken(field_name(i) + " is " + quote(word) +
                    "; write a whole number, or -1 when it is unknown");
  }
  if (!trim(rest).empty())
    return broken("it has more than 18 fields: " + quote(trim(rest)) + " is left over");
  return job(fields);
}

// "MaxNodes: 128", wherever it stands.
void SwfReader::comment(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = trim(text.substr(0, colon));
  std::string_view rest = text.substr(colon + 1);
  int64_t value = 0;
  if (!read_number(take_word(rest), value) || value <= 0) return;
  if (key == "UnixStartTime" && value < kSecondsMax) trace_.begin = {value * 1'000'000};
  if (value > kProcessorsMax) return;
  if (key == "MaxNodes") trace_.nodes = static_cast<uint32_t>(value);
  if (key == "MaxProcs") trace_.processors = static_cast<uint32_t>(value);
}

Result<void> SwfReader::job(const int64_t (&fields)[field_count]) {
  if (fields[submit_time] < 0)
    return broken(field_name(submit_time) + " is " + std::to_string(fields[submit_time]) +
                  "; write the seconds since the trace began");
  for (const int field : {submit_time, run_time, requested_time}) {
    if (auto ok = check_most(fields, field, kSecondsMax); !ok) return ok;
  }
  const Field asked =
      fields[requested_processors] > 0 ? requested_processors : allocated_processors;
  const bool cancelled = fields[status] == 5 || fields[asked] <= 0;
  if (fields[run_time] < 0 || (fields[run_time] == 0 && cancelled)) {
    ++trace_.without_run;
    return {};
  }
  if (fields[asked] <= 0)
    return broken(field_name(allocated_processors) + " and " + field_name(requested_processors) +
                  " are both unknown; write at least 1 in one of them");
  if (auto ok = check_most(fields, asked, kProcessorsMax); !ok) return ok;
  if (auto ok = check_most(fields, requested_memory, kKibMax / fields[asked]); !ok) return ok;

  TraceJob job;
  job.submit = seconds(fields[submit_time]);
  job.run = std::min(seconds(fields[run_time]), core::kWallMax);
  if (fields[requested_time] > 0)
    job.wall = std::clamp(seconds(fields[requested_time]), job.run, core::kWallMax);
  job.cpu_milli = static_cast<uint32_t>(fields[asked] * 1000);
  if (fields[requested_memory] > 0)
    job.memory_bytes = fields[requested_memory] * 1024 * fields[asked];
  trace_.queues.insert(fields[queue]);
  const auto tier = options_.tiers.find(fields[queue]);
  if (tier != options_.tiers.end()) job.tier = tier->second;
  const auto known = users_by_number_.try_emplace(fields[user_id]);
  if (known.second)
    known.first->second =
        user(fields[user_id] < 0 ? "nobody" : "u" + std::to_string(fields[user_id]));
  job.user = known.first->second;
  const auto group = groups_by_number_.try_emplace(fields[group_id]);
  if (group.second) {
    const auto made = ns(fields[group_id] < 0 ? "default" : "g" + std::to_string(fields[group_id]));
    if (!made) return tl::unexpected(made.error());
    group.first->second = *made;
  }
  job.ns = group.first->second;
  return add(job);
}

}  // namespace atl::simulate
