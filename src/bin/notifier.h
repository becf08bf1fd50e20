// Sends the notes that jobs asked for: a POST to a webhook, or a message to the configured mail
// command. Each is tried a few times; what became of it goes back to the core as a report, so that
// a restart neither forgets nor repeats a note that was delivered and reported.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "core/input.h"
#include "core/state.h"

namespace atl::bin {

class Notifier {
 public:
  Notifier(std::string mail_command, std::function<void(core::Report)> report);
  ~Notifier();

  // From the runtime's thread. A notice already under way is not queued twice.
  void send(const core::Notice& notice);
  void stop();

 private:
  void run();
  core::NoticeReported deliver(const core::Notice& notice);

  const std::string mail_command_;
  const std::function<void(core::Report)> report_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<core::Notice> queue_;
  std::set<NoticeId> under_way_;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace atl::bin
