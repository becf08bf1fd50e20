#include "site/slurm/job_record.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "site/slurm/slurm_json.h"

namespace atl::site {
namespace {

// "3:0", or the wait status that 22.05 prints: 768.
void read_exit(std::string_view text, JobRecord& record) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const int64_t status = parse_int(text).value_or(0);
    record.exit_code = static_cast<int>((status >> 8) & 0xff);
    record.signal = static_cast<int>(status & 0x7f);
    return;
  }
  const auto bounded = [](std::string_view number) {
    return static_cast<int>(std::clamp<int64_t>(parse_int(number).value_or(0), 0, 255));
  };
  record.exit_code = bounded(text.substr(0, colon));
  record.signal = bounded(text.substr(colon + 1));
}

Time read_seconds(std::string_view text) {
  const int64_t since = parse_int(text).value_or(0);
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max() / 2'000'000;
  return since > 0 && since < kLast ? Time{since * 1'000'000} : Time{};
}

std::string word_or_nothing(std::string_view text) {
  const bool nothing = text == "None" || text == "(null)" || text == "N/A" ||
                       text == "None assigned" || text == "Unknown";
  return nothing ? std::string() : std::string(text);
}

// sacct says "CANCELLED by 1000".
void read_state(std::string_view text, JobRecord& record) {
  const size_t space = text.find(' ');
  record.state = text.substr(0, space);
  if (space == std::string_view::npos) return;
  const std::string_view rest = text.substr(space + 1);
  if (rest.starts_with("by ")) record.cancelled_by = trim(rest.substr(3));
}

constexpr size_t kAccountedCells = 8;  // of a line of sacct; squeue tells restarts as well

std::optional<JobRecord> read_line(std::string_view line) {
  const std::vector<std::string_view> cells = split(line, '|');
  if (cells.size() < kAccountedCells) return std::nullopt;
  const bool queued = cells.size() > kAccountedCells;
  const std::optional<int64_t> id = parse_int(trim(cells[0]));
  if (!id || *id <= 0) return std::nullopt;
  JobRecord record{.id = static_cast<uint64_t>(*id),
                   .name = std::string(trim(cells[queued ? 8 : 7]))};
  read_state(trim(cells[1]), record);
  record.reason = word_or_nothing(trim(cells[2]));
  read_exit(trim(cells[3]), record);
  record.started = read_seconds(trim(cells[4]));
  record.ended = read_seconds(trim(cells[5]));
  record.nodes = word_or_nothing(trim(cells[6]));
  if (queued)
    record.restarts = static_cast<uint32_t>(
        std::clamp<int64_t>(parse_int(trim(cells[7])).value_or(0), 0, 1'000'000));
  return record;
}

}  // namespace

SlurmVersion parse_slurm_version(std::string_view said) {
  const size_t at = said.find_first_of("0123456789");
  if (at == std::string_view::npos) return {};
  const std::vector<std::string_view> parts = split(trim(said.substr(at)), '.');
  if (parts.size() < 2) return {};
  const int64_t major = parse_int(parts[0]).value_or(0), minor = parse_int(parts[1]).value_or(0);
  if (major < 0 || major > 9999 || minor < 0 || minor > 99) return {};
  return {static_cast<int>(major), static_cast<int>(minor)};
}

Result<std::vector<JobRecord>> parse_jobs(std::string_view bytes) {
  if (trim(bytes).starts_with("{")) return parse_jobs_json(trim(bytes));
  std::vector<JobRecord> records;
  for (const std::string_view line : split(bytes, '\n')) {
    if (std::optional<JobRecord> record = read_line(line)) records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace atl::site
