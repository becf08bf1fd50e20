// A schedule: a workflow that is run again and again, when its time comes, when somebody calls for
// it by a signed request, when a file changes, or when a queue fills.
//
// The core knows neither time zones nor what a workflow's file means. It holds the next few times
// and asks for more when they are used up; when a time has come it records a firing and asks for
// the run to be made. Each firing has a number, which is taken once however often it is answered.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/workflow/workflow.h"

namespace atl::core {

enum class Trigger : uint8_t { time, webhook, file, queue };
BOOST_DESCRIBE_ENUM(Trigger, time, webhook, file, queue)

// What is done about times that passed while nobody was there to see them.
enum class Missed : uint8_t { skip, once, all };
BOOST_DESCRIBE_ENUM(Missed, skip, once, all)

enum class Cause : uint8_t { time, webhook, file, queue, person };
BOOST_DESCRIBE_ENUM(Cause, time, webhook, file, queue, person)

struct ScheduleTerms {
  Trigger trigger = Trigger::time;
  std::string timing;     // as it was written
  bool calendar = false;  // it is a calendar expression, not one of cron's
  std::string zone;
  Missed missed = Missed::skip;
  Overlap overlap = Overlap::refuse;
  std::string program;  // what it runs; its meaning lives outside
  std::string secret;   // of a webhook, sealed
  std::string path;     // of the files it waits for: the last part may be a pattern
  Duration quiet;       // how long a file has to be left alone
  std::string queue;
  uint64_t at_least = 1;  // ready items of the queue
  Duration interval;      // between two runs for the queue, at least
  bool operator==(const ScheduleTerms&) const = default;
};

enum class FiringState : uint8_t {
  opening,  // its run is being made
  opened,
  skipped,  // by one of the schedule's policies
  failed,   // no run could be made
};
BOOST_DESCRIBE_ENUM(FiringState, opening, opened, skipped, failed)

struct Firing {
  uint64_t number = 0;
  Cause cause = Cause::time;
  Time planned;  // the time it stands for; zero where there is none
  Time fired;
  FiringState state = FiringState::opening;
  WorkflowId workflow;
  std::string message;  // why there is no run
  std::string body;     // what came with it, as long as it is opening
  bool operator==(const Firing&) const = default;
};

// A file, and how it looked: anything that tells when it has changed.
struct FileMark {
  std::string path;
  std::string look;
  bool operator==(const FileMark&) const = default;
};

struct Schedule {
  ScheduleId id;
  uint32_t revision = 0;  // raised by each change: answers about an older one do not count
  NamespaceId ns;
  UserId user;  // who set it last, and whose runs they are
  std::string name;
  ScheduleTerms terms;
  Time created;
  Time changed;
  bool paused = false;
  std::vector<Time> due;          // the next times, ascending
  Time through;                   // up to when times have been dealt with
  Time asked;                     // more times behind this one have been asked for; zero: none
  bool over = false;              // there are no more times
  uint32_t late = 0;              // missed times that were made up for in a row
  uint64_t last = 0;              // the number of the last firing
  std::vector<Firing> firings;    // those that are opening, and the last few others
  std::vector<std::string> keys;  // of the deliveries that fired it, the latest last
  std::map<std::string, std::string> files;  // that were seen, with how they looked
  bool looked = false;                       // what was there before it has been seen
  // derived
  Time timer;  // under which it stands in State::schedule_timers
  bool operator==(const Schedule&) const = default;

  const Firing* firing(uint64_t number) const;
  size_t opening() const;  // how many firings are
};

// Both the lane of its runs and their origin.
std::string schedule_origin(const std::string& name);

ATOLL_DESCRIBE(ScheduleTerms, trigger, timing, calendar, zone, missed, overlap, program, secret,
               path, quiet, queue, at_least, interval)
ATOLL_DESCRIBE(FileMark, path, look)
ATOLL_DESCRIBE(Firing, number, cause, planned, fired, state, workflow, message, body)
ATOLL_DESCRIBE(Schedule, id, revision, ns, user, name, terms, created, changed, paused, due,
               through, asked, over, late, last, firings, keys, files, looked)

}  // namespace atl::core
