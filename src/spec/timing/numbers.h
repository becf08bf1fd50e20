// One field of a timing: a list of numbers, ranges and steps.
#pragma once

#include <bitset>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::spec {

// The names may be cut after three letters, which all of them are told apart by; upper or lower.
inline constexpr const char* kMonthNames[] = {"january",   "february", "march",    "april",
                                              "may",       "june",     "july",     "august",
                                              "september", "october",  "november", "december"};
inline constexpr const char* kDayNames[] = {"monday", "tuesday",  "wednesday", "thursday",
                                            "friday", "saturday", "sunday"};

struct NumbersForm {
  const char* what;  // "minute", for errors
  int low = 0;
  int high = 0;
  std::string_view range;  // what stands between the ends of a range: "-" or ".."
  std::span<const char* const> names = {};
  int first_name = 0;  // the number of the first of them
};

using Numbers = std::bitset<256>;

// "*", "5", "1-5", "*/15", "0-30/10", "MON,WED"; a step behind a single number goes to the end.
[[nodiscard]] Result<Numbers> parse_numbers(std::string_view text, const NumbersForm& form);

// The keyword's expression, or the text itself.
struct Shorthand {
  std::string_view word;
  std::string_view means;
};
std::string_view expand(std::string_view text, std::span<const Shorthand> shorthands);
bool same_word(std::string_view one, std::string_view other);

}  // namespace atl::spec
