// A keeper: the process between the warden and one task at a time. It lives in its slot's control
// group, so that a task is born there; it is a child subreaper, so that nothing of the task's tree
// gets away; and it is bound to the warden by a socket: when that closes, it kills the tree and
// exits, so that no orphan outlives a killed warden.
//
// The warden forks it and calls run(), which never returns to the warden's code. Single-threaded.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "site/local/cgroup.h"
#include "site/local/directory_pool.h"
#include "site/local/exec_run.h"
#include "site/local/frame.h"
#include "site/local/log_store.h"
#include "site/local/task.h"

namespace atl::site {

struct KeeperOptions {
  int slot = 0;
  std::string logs;  // root of the log store
};

class Keeper {
 public:
  Keeper(int socket, CgroupSlot& slot, const KeeperOptions& options);

  // Serves until the warden closes the socket or the slot should be replaced; the exit code of the
  // process.
  int run();

 private:
  bool serve_once();
  bool receive();
  void start(const StartTask& order);
  void stop(const StopTask& order);
  void exec(const ExecTask& order);
  void wait_for_something();
  void reap();
  void reaped(pid_t pid, int status, const rusage& usage);
  void tick();
  void tell_progress(int64_t now);
  void finish();
  bool worn() const;
  void abandon();

  Link warden_;
  CgroupSlot& slot_;
  DirectoryPool directories_;
  LogWriter logs_;
  const std::vector<EnergyZone> zones_;
  std::unique_ptr<Task> task_;
  std::list<ExecRun> execs_;
  int64_t announce_us_ = 0;  // when the task's start is told, unless it has ended by then
  bool readable_ = false;    // the warden's socket, at the last wait
  bool talking_ = false;     // the task's pipes, at the last wait
  bool retire_ = false;
};

}  // namespace atl::site
