#include "site/slurm/job_name.h"

#include <limits>

#include "base/text.h"

namespace atl::site {
namespace {

std::string prefix_of(std::string_view installation) {
  return "atoll-" + std::string(installation) + "-";
}

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string slurm_job_name(std::string_view installation, AttemptId attempt) {
  return prefix_of(installation) + std::to_string(attempt.job.value) + "." +
         std::to_string(attempt.index) + "." + std::to_string(attempt.attempt);
}

std::optional<AttemptId> attempt_of_name(std::string_view installation, std::string_view name) {
  const std::string prefix = prefix_of(installation);
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::vector<std::string_view> parts = split(name.substr(prefix.size()), '.');
  if (parts.size() != 3) return std::nullopt;
  constexpr int64_t kIndexMax = std::numeric_limits<uint32_t>::max();
  for (const std::string_view part : parts) {
    if (!digits_only(part) || !parse_int(part)) return std::nullopt;
  }
  const int64_t index = *parse_int(parts[1]), attempt = *parse_int(parts[2]);
  if (index > kIndexMax || attempt > kIndexMax) return std::nullopt;
  return AttemptId{JobId{static_cast<uint64_t>(*parse_int(parts[0]))}, static_cast<uint32_t>(index),
                   static_cast<uint32_t>(attempt)};
}

}  // namespace atl::site
