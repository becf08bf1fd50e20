// Long looks at the state, aside from the core's thread: the process is copied (fork), which shares
// all memory until one of the two writes to it, and the copy computes the answer on a state that is
// its own while the core goes on. docs/decisions/0012 says what else was thought of.
//
// In a copy only the calling thread goes on. Memory may be allocated there (glibc sees to that),
// but whatever another thread had locked stays locked: the work must not log, take a lock that it
// did not make, ask SQLite or convert local time, and it leaves without handlers of exit.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace atl::runtime {

// One piece of work under way. Destroying it ends the work.
class Copy {
 public:
  // What the work says on its way; false when nobody listens any more.
  using Tell = std::function<bool(const std::string& bytes)>;

  // Begins the work, at best within a few milliseconds; `unavailable` when there is no process to
  // be had. The work has ended, or is ended, by the deadline.
  [[nodiscard]] static Result<std::unique_ptr<Copy>> begin(
      const std::function<void(const Tell& tell)>& work, Duration deadline);
  ~Copy();
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  // Waits for all that the work says, once. `timeout` when it took too long, `unavailable` when it
  // came to nothing.
  [[nodiscard]] Result<std::string> answer();
  // The same, of work whose beginning is worth something: what it has said by its deadline or its
  // end. It is waited for when this is destroyed.
  std::string heard();

  pid_t pid() const { return pid_; }

 private:
  Copy(pid_t pid, int fd, int64_t deadline_us) : pid_(pid), fd_(fd), deadline_us_(deadline_us) {}
  bool read_all(std::string& bytes);
  int reap(bool kill);

  pid_t pid_;
  int fd_;
  const int64_t deadline_us_;  // of the steady clock
};

struct AsideOptions {
  size_t at_once = 4;  // each may hold a core, and what the server writes meanwhile is held twice
  Duration deadline = seconds(2);
};

// A bounded number of copies at once. From any thread; outlives its copies.
class Aside {
 public:
  explicit Aside(AsideOptions options = {}) : options_(options) {}

  using Work = std::function<std::string()>;
  // Call it on the thread that owns what the work looks at. `exhausted` when too many are under
  // way.
  [[nodiscard]] Result<std::shared_ptr<Copy>> begin(const Work& work);

 private:
  const AsideOptions options_;
  const std::shared_ptr<std::atomic<size_t>> under_way_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace atl::runtime
