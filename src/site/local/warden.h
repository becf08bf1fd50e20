// The warden: the parent of all local work. Started by the server, it outlives it; it holds what
// was accepted and how it ended until the server has made that durable.
//
// One thread around epoll. A turn of the loop reads what came, writes the ledger once, hands
// accepted tasks to keepers and sends everything out, so a thousand messages cost as few system
// calls as one. Keepers (keeper.h) are forked here, which is why there are no threads.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "site/local/cgroup.h"
#include "site/local/frame.h"
#include "site/local/ledger.h"
#include "site/local/protocol.h"
#include "site/local/task_line.h"

namespace atl::site {

struct WardenOptions {
  std::string directory;     // HOME/site/local
  std::string installation;  // part of the names of control groups
  Duration idle_exit =
      seconds(60);      // without server and work for so long: exit; the ledger keeps the results
  bool cgroups = true;  // false: rlimits only, as where groups are not permitted
};

class Warden {
 public:
  explicit Warden(WardenOptions options);
  ~Warden();

  // Takes the locks, ends what an old warden left, opens the ledger and the socket.
  // conflict: another warden serves this directory.
  [[nodiscard]] Result<void> open();
  // Until told to shut down, or idle; leaves no process and no group behind.
  void run();

 private:
  struct Slot {
    pid_t pid = -1;
    Link link;
    std::optional<AttemptId> attempt;
    std::optional<Time> started;  // as its keeper told
    std::optional<Progress> progress;
    int64_t idle_since = 0;
    bool wants_write = false;
  };
  using Slots = std::map<int, Slot>;

  // Beginning and end (warden_life.cpp).
  [[nodiscard]] Result<void> end_remains();
  Result<void> listen();
  void watch(int fd, uint64_t tag);
  void close_down();

  // The loop.
  void turn();
  void settle();
  void start_accepted();
  void accept_server();
  void serve();
  void hear_signals();
  void drop_server();
  void flush_server();
  void flush_keeper(int number, Slot& slot);
  bool idle_for_long() const;

  // Orders of the server.
  void on_order(const Hello& order);
  void on_order(StartTask& order);
  void on_order(const StopTask& order);
  void on_order(const ForgetTasks& order);
  void on_order(const ExecTask& order);
  void on_order(const Adopted&);
  void on_order(const Shutdown&);
  void tell(const Notice& notice);
  void tell_end(AttemptId attempt, const core::AttemptResult& result, bool urgent);

  // Keepers (warden_keepers.cpp).
  void dispatch(StartTask order);
  bool live(AttemptId attempt) const;
  bool start_next(AttemptId ended);
  bool leave_line(const StopTask& order);
  void deliver_stop(const StopTask& order);
  int idle_keeper();
  int make_keeper();
  [[noreturn]] void become_keeper(int number, int socket);
  void hear_keeper(int number);
  void on_notice(int number, const TaskStarted& notice);
  void on_notice(int number, const TaskEnded& notice);
  void on_notice(int number, const ExecEnded& notice);
  void on_notice(int number, TaskProgressed& notice);
  void tell_progress(int number);
  void lose_keeper(int number);
  void bury_keeper(int number, Slot& slot);
  void end_strays();
  void retire_idle(int64_t now);
  void end_attempt(AttemptId attempt, const core::AttemptResult& result);

  const WardenOptions options_;
  int lock_ = -1, keepers_lock_ = -1, listener_ = -1, epoll_ = -1, signals_ = -1;
  CgroupBase groups_;
  Ledger ledger_;
  Link server_;
  bool greeted_ = false;
  bool server_wants_write_ = false;
  int64_t flush_by_ = 0;  // what was told may wait so long for more; zero: it is urgent
  bool done_ = false;
  int64_t quiet_since_ = 0;
  uint64_t files_before_ = 0, files_max_ = 0;  // RLIMIT_NOFILE as tasks get it

  Slots slots_;
  std::set<int> idle_;
  std::map<AttemptId, int> running_;
  std::set<int> touched_;          // slots with something to send
  std::set<int> progressed_;       // slots whose progress the server was not told
  std::vector<StartTask> starts_;  // accepted in this turn
  TaskLine line_;                  // in no ledger until they start
  std::vector<StopTask> stops_;    // of this turn, after the starts
};

}  // namespace atl::site
