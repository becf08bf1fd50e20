// What somebody had in use, averaged over the past: a moment counts half as much after each
// half-life. Such an average has the unit of what it averages ("3.5 cores, lately"), needs no list
// of the past, and is fixed-point, so that a replay gives the same numbers.
#pragma once

#include <string>

#include "base/describe.h"
#include "base/flat.h"
#include "base/time.h"

namespace atl::core {

struct Amounts {
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  FlatMap<std::string, int64_t> devices_milli;  // by kind
  bool operator==(const Amounts&) const = default;
};
void add(Amounts& to, const Amounts& more, int64_t times = 1);
int64_t amount_of(const Amounts& amounts, const std::string& kind);

inline constexpr int64_t kMeterScale = 1
                                       << 16;  // of the average, so that little is lost by rounding

struct Meter {
  Time at;        // up to when `past` is reckoned
  Amounts past;   // the average, times kMeterScale
  Time seen;      // up to when `spent` is reckoned: too little after `at` to be worth an average
  Amounts spent;  // between the two, in amounts times microseconds
  // derived
  Amounts now;  // in use since `seen`
  bool operator==(const Meter&) const = default;
};

// The average at a later time, times kMeterScale, if what is in use now is in use until then.
Amounts average_at(const Meter& meter, Time now, Duration half_life);

// The same by resource, without making a list of them.
class Averaging {
 public:
  Averaging(const Meter& meter, Time now, Duration half_life);
  int64_t cpu_milli() const;
  int64_t memory_mib() const;
  int64_t device_milli(const std::string& kind) const;

 private:
  int64_t mean(int64_t spent, int64_t in_use) const;

  const Meter& meter_;
  int64_t left_ = 0;              // of the past
  int64_t since_ = 0, rest_ = 0;  // microseconds; zero: the meter is up to date
};

// To be called before what is in use changes.
void advance(Meter& meter, Time now, Duration half_life);

ATOLL_DESCRIBE(Amounts, cpu_milli, memory_mib, devices_milli)
ATOLL_DESCRIBE(Meter, at, past, seen, spent)

}  // namespace atl::core
