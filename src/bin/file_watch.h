// Looks at the files that schedules wait for and reports those that have appeared or changed and
// were then left alone for a while. Only names and what stat() says are looked at, never contents;
// only below directories that the administrator lists; and only files that the schedule's owner may
// read.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime.h"

namespace atl::bin {

// What is asked of one schedule.
struct WatchOrder {
  ScheduleId id;
  uint32_t revision = 0;
  std::string path;
  Duration quiet;
  std::optional<uint32_t> uid;               // of its owner's account, if they have one
  std::map<std::string, std::string> known;  // files that were reported, with their looks
  bool looked = false;
};

// One look after another, by a clock that is passed in.
class FileLooks {
 public:
  explicit FileLooks(std::vector<std::string> directories) : directories_(std::move(directories)) {}
  // What there is to report, if anything. Blocking.
  std::optional<core::FilesLooked> look(const WatchOrder& order, Time now);
  // Drops what is remembered of schedules that are gone.
  void keep_only(const std::vector<WatchOrder>& orders);

 private:
  struct Change {
    std::string look;
    Time since;
  };
  const std::vector<std::string> directories_;
  std::map<ScheduleId, std::map<std::string, Change>> changes_;  // that are not quiet yet
};

class FileWatch {
 public:
  FileWatch(runtime::Runtime& runtime, std::vector<std::string> directories);
  ~FileWatch() { stop(); }
  void stop();

 private:
  void run();
  // The schedules that wait for files, as the state has them; empty when it stops meanwhile.
  std::vector<WatchOrder> orders();

  runtime::Runtime& runtime_;
  FileLooks looks_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace atl::bin
