// What people ask of schedules, and what the outside tells of their times and files. What it tells
// of their runs is in core/input.h, for it holds a whole submission.
#pragma once

#include <string>
#include <vector>

#include "core/schedule/schedule.h"

namespace atl::core {

// Makes a schedule, or changes the one of its name.
struct SetSchedule {
  std::string ns;
  std::string name;
  ScheduleTerms terms;
  std::vector<Time> due;  // of one that starts by time: the next ones
  bool paused = false;
  bool replace = false;
  uint32_t revision = 0;  // what the terms were made from; zero: from nothing
};
struct PauseSchedule {
  std::string ns;
  std::string name;
  bool paused = true;
};
struct DeleteSchedule {
  std::string ns;
  std::string name;
};
// A person wants a run now, or a delivery has come whose signature is right.
struct FireSchedule {
  std::string ns;
  std::string name;
  Cause cause = Cause::person;
  std::vector<std::string> keys;  // one that is known makes it a repetition
  std::string body;
};

// The times that were asked for.
struct ScheduleTimes {
  ScheduleId id;
  uint32_t revision = 0;
  Time after;
  std::vector<Time> times;  // ascending; none: it never comes again
};
// Files that a schedule waits for: those that look other than they did, and those that are gone.
struct FilesLooked {
  ScheduleId id;
  uint32_t revision = 0;
  std::vector<FileMark> changed;
  std::vector<std::string> gone;
};

}  // namespace atl::core
