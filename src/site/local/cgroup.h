// Limits and accounting by control groups, version 1 or 2, pooled: a slot is made once, its keeper
// moves in once, and every task the keeper spawns is born inside. A task pays only for limits that
// differ from the one before.
//
//   <controller mount>/<the warden's own group>/atoll-<installation>/slot-<n>
//
// The name carries the installation, so two homes never touch each other. Where groups may not be
// made, the tree is empty, has() is false and callers fall back to rlimits. The warden makes and
// removes slots; the keeper inside uses one. No locking: each object belongs to one process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace atl::site {

struct CgroupLimits {
  int64_t memory_bytes = 0;  // zero: none
  int64_t cpu_milli = 0;     // zero: none
  int64_t processes = 0;     // zero: none
  bool operator==(const CgroupLimits&) const = default;
};

// Where the groups of one installation live; a controller that cannot be used has an empty
// directory.
struct CgroupBase {
  int version = 0;  // 0: none
  std::string memory;
  std::string cpu;
  std::string cpuacct;
  std::string pids;
  std::string why;  // when the version is zero: what was tried and how it failed
  std::vector<std::string> directories() const;  // each once
};

// Finds the mounts and this process's own groups and makes the installation's directories there.
// `root` is "/" except in tests, which lay out a tree of plain files.
CgroupBase make_cgroup_base(const std::string& installation, const std::string& root = "/");
void remove_cgroup_base(const CgroupBase& base);

class CgroupSlot {
 public:
  CgroupSlot() = default;
  CgroupSlot(const CgroupBase& base, int number);
  CgroupSlot(const CgroupSlot&) = delete;
  CgroupSlot& operator=(const CgroupSlot&) = delete;
  ~CgroupSlot();

  // Makes the directories and opens the files; false when the kernel refuses, with the directories
  // removed again.
  [[nodiscard]] bool make();
  // Moves the calling process in.
  [[nodiscard]] bool enter();
  void remove();

  bool limits_memory() const { return memory_limit_ >= 0; }
  bool limits_processes() const { return pids_max_ >= 0; }

  void set_limits(const CgroupLimits& limits);
  // Forbids any fork inside, so that killing the members one by one comes to an end.
  void forbid_forks();
  // Kills every member at one stroke, which version 2 can. The caller must not be one, so it is for
  // the warden: a keeper is in its own slot. False: not here, kill the members one by one.
  [[nodiscard]] bool kill_members();

  int64_t cpu_us() const;        // since the slot was made; -1 when not accounted
  int64_t memory_bytes() const;  // anonymous memory in use now; -1 when not accounted
  int64_t new_oom_kills();       // since the last call; zero when not accounted
  // What earlier tasks left in shared memory: it counts against the next one's limit and cannot be
  // reclaimed.
  int64_t shared_bytes() const;

  // The peak counts from mark_peak() on: what all members together held at one moment, without the
  // page cache, which is not theirs alone and gives way. -1 when not accounted, as in version 2
  // before Linux 6.12 when an earlier task of the slot held more. A smaller one than `at_least`,
  // which is known otherwise, need not be exact.
  void mark_peak();
  int64_t memory_peak(int64_t at_least = 0) const;

  std::vector<pid_t> members() const;

 private:
  int open_file(const std::string& directory, const char* v1, const char* v2, int flags) const;
  void write_memory(int64_t bytes);
  void write_cpu(int64_t milli);
  void write_processes(int64_t count);

  int version_ = 0;
  std::string memory_, cpu_, cpuacct_, pids_;
  CgroupLimits limits_;
  int64_t oom_kills_ = 0;
  int64_t peak_before_ = -1;
  bool peak_marked_ = false;
  int memory_limit_ = -1, memory_stat_ = -1, memory_oom_ = -1, memory_peak_ = -1;
  int cpu_max_ = -1, cpu_usage_ = -1, pids_max_ = -1;
  std::string procs_;
};

// Ends every process inside the installation's groups and removes them: what a killed warden may
// have left.
void end_cgroup_members(const std::vector<std::string>& directories);

}  // namespace atl::site
