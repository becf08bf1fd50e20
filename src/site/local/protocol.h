// What driver, warden and keepers say to each other. The driver sends orders and receives notices;
// the warden passes StartTask, StopTask and ExecTask on to the keeper of the attempt and passes its
// notices back.
//
// Alternatives and members are only ever appended (base/describe.h). The server decides: it works
// with a warden of its own version or up to kProtocolVersionsBack before it, which Welcome tells.
// Any other it lets go of (warden_client.h): the warden ends its work, writes the results to its
// ledger and leaves, and only then is another started there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/payload.h"
#include "core/types.h"
#include "site/progress.h"

namespace atl::site {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr uint32_t kProtocolVersionsBack = 2;  // so many releases an upgrade may skip

// The machine's account a task runs under, looked up by the driver: the warden is static and has no
// name service.
struct Account {
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::vector<uint32_t> groups;
  std::string name;
  std::string home;
  std::string shell;
  bool operator==(const Account&) const = default;
};

// Everything a keeper needs to run one attempt; nothing in it is looked up again.
struct Launch {
  AttemptId attempt;
  bool array = false;
  bool resumed = false;
  std::string name;
  std::string ns;
  Account account;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  Duration wall;
  Duration grace;
  core::Payload payload;       // isolation is resolved: none or sandbox
  std::string job_dir;         // absolute
  bool gpus_present = false;   // the node has gpus, so a task given none must see none
  std::string gpus;            // for CUDA_VISIBLE_DEVICES, such as "0,2"
  uint32_t processes_max = 0;  // resolved
  int64_t log_bytes_max = 0;   // resolved, per stream
  std::string lang;
  std::string installation;                      // marks the task's processes (remains.h)
  uint32_t recalls = 0;                          // attempts before this one that never began
  std::map<std::string, std::string> variables;  // about its devices and its gang
  bool operator==(const Launch&) const = default;
};

struct Hello {
  uint32_t version = 0;
  std::string installation;
  bool operator==(const Hello&) const = default;
};
struct StartTask {
  AttemptId attempt;
  std::string launch;               // an encoded Launch, which the warden need not understand
  std::optional<AttemptId> behind;  // starts when that one has ended
  bool operator==(const StartTask&) const = default;
};
struct StopTask {
  AttemptId attempt;
  Duration grace;
  bool unless_begun = false;
  std::string notice;  // what its notice file shall say
  bool operator==(const StopTask&) const = default;
};
struct ForgetTasks {
  std::vector<AttemptId> attempts;
  bool operator==(const ForgetTasks&) const = default;
};
struct ExecTask {
  uint64_t id = 0;  // chosen by the driver, returned in ExecEnded
  AttemptId attempt;
  std::vector<std::string> argv;
  std::string stdin_text;
  Duration timeout;
  bool operator==(const ExecTask&) const = default;
};
// The server has taken over what Welcome and the list after it said.
struct Adopted {
  bool operator==(const Adopted&) const = default;
};
// End all work and exit.
struct Shutdown {
  bool operator==(const Shutdown&) const = default;
};
using Order = std::variant<Hello, StartTask, StopTask, ForgetTasks, ExecTask, Adopted, Shutdown>;

// The first notice on a connection; one TaskStarted or TaskEnded per attempt the warden knows
// follows, then Listed.
struct Welcome {
  uint32_t version = 0;
  int64_t pid = 0;
  bool rebooted =
      false;  // the machine started anew since the last Adopted: what is not listed is dead
  std::vector<std::string> abilities;
  bool operator==(const Welcome&) const = default;
};
struct TaskStarted {
  AttemptId attempt;
  Time started;
  bool operator==(const TaskStarted&) const = default;
};
struct TaskEnded {
  AttemptId attempt;
  core::AttemptResult result;
  bool operator==(const TaskEnded&) const = default;
};
struct Listed {
  bool operator==(const Listed&) const = default;
};
struct ExecEnded {
  uint64_t id = 0;
  std::string error;  // why it could not run; empty when it did
  int32_t exit_code = 0;
  std::string out;
  std::string err;
  bool expired = false;  // it was killed at its time-out; `error` says so
  bool operator==(const ExecEnded&) const = default;
};
// The newest progress of a running task: at most about four times a second, once more before its
// end, and behind its TaskStarted in the list. In no ledger.
struct TaskProgressed {
  AttemptId attempt;
  Progress progress;
  bool operator==(const TaskProgressed&) const = default;
};
using Notice = std::variant<Welcome, TaskStarted, TaskEnded, Listed, ExecEnded, TaskProgressed>;

ATOLL_DESCRIBE(Account, uid, gid, groups, name, home, shell)
ATOLL_DESCRIBE(Launch, attempt, array, resumed, name, ns, account, cpu_milli, memory_bytes, wall,
               grace, payload, job_dir, gpus_present, gpus, processes_max, log_bytes_max, lang,
               installation, recalls, variables)
ATOLL_DESCRIBE(Hello, version, installation)
ATOLL_DESCRIBE(StartTask, attempt, launch, behind)
ATOLL_DESCRIBE(StopTask, attempt, grace, unless_begun, notice)
ATOLL_DESCRIBE(ForgetTasks, attempts)
ATOLL_DESCRIBE(ExecTask, id, attempt, argv, stdin_text, timeout)
ATOLL_DESCRIBE(Adopted)
ATOLL_DESCRIBE(Shutdown)
ATOLL_DESCRIBE(Welcome, version, pid, rebooted, abilities)
ATOLL_DESCRIBE(TaskStarted, attempt, started)
ATOLL_DESCRIBE(TaskEnded, attempt, result)
ATOLL_DESCRIBE(Listed)
ATOLL_DESCRIBE(ExecEnded, id, error, exit_code, out, err, expired)
ATOLL_DESCRIBE(TaskProgressed, attempt, progress)

}  // namespace atl::site
