// Live output: streams the log of one task as it grows, attempt after attempt, and ends with how
// the task ended.
//
// One thread keeps the time; looking at the state happens on the runtime's thread and reading files
// on the pool's. A reader is in one place at a time, so its fields need no lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/event.h"
#include "core/state.h"
#include "http/exchange.h"
#include "journal/journal.h"
#include "site/driver.h"

namespace atl::api {

struct Context;

class LogFollower {
 public:
  explicit LogFollower(Context& context);
  ~LogFollower();

  struct Wish {
    TaskId task;
    bool array = false;
    site::LogStream stream = site::LogStream::out;
    uint32_t attempt = 0;  // zero: the one that runs, or the next one that starts
    int64_t offset = 0;
  };
  void follow(std::shared_ptr<http::Stream> stream, const Wish& wish);

  // On the runtime's thread: wakes those whose job moved.
  void on_commit(const core::Events& events);

  // Calls `work` every 15 seconds from now on, for heartbeats.
  void every_interval(std::function<void()> work);

  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Reader;
  using ReaderPtr = std::shared_ptr<Reader>;

  void run();
  void look(const ReaderPtr& reader);
  void read(const ReaderPtr& reader);
  bool read_attempt(Reader& reader, bool over);
  bool settle(Reader& reader);
  std::optional<core::Outcome> outcome_of(const Reader& reader, const journal::EndedAttempt* last);
  void finish(Reader& reader);
  void schedule(const ReaderPtr& reader, Clock::duration pause);
  void forget(const ReaderPtr& reader);

  Context& context_;
  std::function<void()> interval_work_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::multimap<Clock::time_point, ReaderPtr> due_;
  std::multimap<JobId, ReaderPtr> by_job_;
  bool stopping_ = false;
  std::thread thread_;
};

// The job that an event is about; zero when it is about none.
JobId job_of(const core::EventBody& body);

}  // namespace atl::api
