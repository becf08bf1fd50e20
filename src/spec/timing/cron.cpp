// Five fields, as in cron(5).
#include "base/text.h"
#include "spec/timing/numbers.h"
#include "spec/timing/timing.h"

namespace atl::spec {
namespace {

constexpr Shorthand kCronWords[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

constexpr NumbersForm kCronFields[] = {
    {"minute", 0, 59, "-"},
    {"hour", 0, 23, "-"},
    {"day of the month", 1, 31, "-"},
    {"month", 1, 12, "-", kMonthNames, 1},
};
// Sunday is 0 and 7; a range such as FRI-SUN is told by the names' numbers.
constexpr NumbersForm kCronWeekday{"day of the week", 0, 7, "-", kDayNames, 1};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < text.size()) {
    const size_t first = text.find_first_not_of(" \t", at);
    if (first == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_of(" \t", first), text.size());
    words.push_back(text.substr(first, end - first));
    at = end;
  }
  return words;
}

uint8_t weekdays_of(const Numbers& numbers) {
  uint8_t days = 0;
  for (int day = 1; day <= 7; ++day)
    days |= static_cast<uint8_t>(numbers[static_cast<size_t>(day)] << (day - 1));
  if (numbers[0]) days |= 1 << 6;
  return days;
}

}  // namespace

Result<Timing> parse_cron(std::string_view text, const std::string& zone) {
  if (auto ok = check_zone(zone); !ok) return tl::unexpected(ok.error());
  const std::string_view written = expand(trim(text), kCronWords);
  const auto words = words_of(written);
  if (written == "@reboot")
    return fail(ErrorCode::invalid, "@reboot is no time; use one of @hourly, @daily, @weekly …");
  if (words.size() != 5)
    return fail(ErrorCode::invalid,
                quote(text) + " has " + std::to_string(words.size()) +
                    " fields; write five: minute, hour, day of the month, month, day of the week, "
                    "such as \"0 6 * * MON-FRI\", or a word such as @daily");
  Numbers fields[4];
  for (size_t i = 0; i < 4; ++i) {
    auto read = parse_numbers(words[i], kCronFields[i]);
    if (!read) return tl::unexpected(read.error());
    fields[i] = *read;
  }
  const auto weekdays = parse_numbers(words[4], kCronWeekday);
  if (!weekdays) return tl::unexpected(weekdays.error());
  Timing timing;
  timing.minutes = fields[0].to_ullong();
  timing.hours = static_cast<uint32_t>(fields[1].to_ullong());
  timing.days = static_cast<uint32_t>(fields[2].to_ullong());
  timing.months = static_cast<uint16_t>(fields[3].to_ullong());
  timing.weekdays = weekdays_of(*weekdays);
  timing.either_day = words[2][0] != '*' && words[4][0] != '*';
  timing.zone = zone;
  if (next_times(timing, Time{1}, 1).empty())
    return fail(ErrorCode::invalid, quote(text) + " names a day that no month has");
  return timing;
}

}  // namespace atl::spec
