#include "site/local/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr int64_t kPeriodUs = 100000;
constexpr int64_t kQuotaMinUs = 1000;  // the kernel's least
constexpr int64_t kMemoryMin = 4 << 20;

bool try_write(int fd, const std::string& text) {
  return fd >= 0 && ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

// A refused limit is not an error here: the tree was probed when the warden started.
void write_fd(int fd, const std::string& text) { static_cast<void>(try_write(fd, text)); }

bool kill_group(const std::string& directory) {
  const int fd = ::open((directory + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);
  const bool killed = try_write(fd, "1");
  if (fd >= 0) ::close(fd);
  return killed;
}

void remove_directory(const std::string& path) {
  // A group whose last process has just been reaped may be busy for an instant.
  for (int i = 0; i < 50 && ::rmdir(path.c_str()) != 0 && errno == EBUSY; ++i) ::usleep(2000);
}

std::vector<pid_t> pids_in(const std::string& text) {
  std::vector<pid_t> pids;
  for (const std::string_view line : split(text, '\n')) {
    if (const std::optional<int64_t> pid = parse_int(line))
      pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

}  // namespace

CgroupSlot::CgroupSlot(const CgroupBase& base, int number) : version_(base.version) {
  const std::string name = "/slot-" + std::to_string(number);
  if (!base.memory.empty()) memory_ = base.memory + name;
  if (!base.cpu.empty()) cpu_ = base.cpu + name;
  if (!base.cpuacct.empty()) cpuacct_ = base.cpuacct + name;
  if (!base.pids.empty()) pids_ = base.pids + name;
}

CgroupSlot::~CgroupSlot() {
  for (const int fd :
       {memory_limit_, memory_stat_, memory_oom_, memory_peak_, cpu_max_, cpu_usage_, pids_max_}) {
    if (fd >= 0) ::close(fd);
  }
}

int CgroupSlot::open_file(const std::string& directory, const char* v1, const char* v2,
                          int flags) const {
  if (directory.empty()) return -1;
  return ::open((directory + "/" + (version_ == 1 ? v1 : v2)).c_str(), flags | O_CLOEXEC);
}

bool CgroupSlot::make() {
  if (version_ == 0) return false;
  for (const std::string* directory : {&memory_, &cpu_, &cpuacct_, &pids_}) {
    if (directory->empty()) continue;
    if (::mkdir(directory->c_str(), 0755) == 0 || errno == EEXIST) continue;
    remove();
    return false;
  }
  memory_limit_ = open_file(memory_, "memory.limit_in_bytes", "memory.max", O_RDWR);
  memory_stat_ = open_file(memory_, "memory.stat", "memory.stat", O_RDONLY);
  memory_oom_ = open_file(memory_, "memory.oom_control", "memory.events", O_RDONLY);
  memory_peak_ = open_file(memory_, "memory.max_usage_in_bytes", "memory.peak", O_RDWR);
  if (memory_peak_ < 0) memory_peak_ = open_file(memory_, "", "memory.peak", O_RDONLY);
  cpu_max_ = open_file(cpu_, "cpu.cfs_quota_us", "cpu.max", O_RDWR);
  cpu_usage_ = open_file(cpuacct_, "cpuacct.usage", "cpu.stat", O_RDONLY);
  pids_max_ = open_file(pids_, "pids.max", "pids.max", O_RDWR);
  const std::string& any = !pids_.empty() ? pids_ : !memory_.empty() ? memory_ : cpu_;
  procs_ = any + "/cgroup.procs";
  return true;
}

bool CgroupSlot::enter() {
  std::vector<std::string> directories = {memory_, cpu_, cpuacct_, pids_};
  std::sort(directories.begin(), directories.end());
  directories.erase(std::unique(directories.begin(), directories.end()), directories.end());
  for (const std::string& directory : directories) {
    if (directory.empty()) continue;
    const int fd = ::open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    const bool ok = fd >= 0 && ::write(fd, "0", 1) == 1;
    if (fd >= 0) ::close(fd);
    if (!ok) return false;
  }
  return true;
}

void CgroupSlot::remove() {
  for (const std::string* directory : {&memory_, &cpu_, &cpuacct_, &pids_}) {
    if (!directory->empty()) remove_directory(*directory);
  }
}

void CgroupSlot::set_limits(const CgroupLimits& limits) {
  if (limits.memory_bytes != limits_.memory_bytes) write_memory(limits.memory_bytes);
  if (limits.cpu_milli != limits_.cpu_milli) write_cpu(limits.cpu_milli);
  if (limits.processes != limits_.processes) write_processes(limits.processes);
  limits_ = limits;
}

void CgroupSlot::write_memory(int64_t bytes) {
  if (memory_limit_ < 0) return;
  // The keeper's own pages are charged here; a smaller limit would be refused or would end the
  // keeper.
  if (bytes > 0) bytes = std::max(bytes, kMemoryMin);
  if (version_ == 2) {
    write_fd(memory_limit_, bytes > 0 ? std::to_string(bytes) : "max");
    const int swap = open_file(memory_, "", "memory.swap.max", O_WRONLY);
    write_fd(swap, bytes > 0 ? "0" : "max");
    if (swap >= 0) ::close(swap);
    return;
  }
  // With swap the sum is limited too; it may never be below the memory limit, so it is lifted
  // first.
  const int both = open_file(memory_, "memory.memsw.limit_in_bytes", "", O_WRONLY);
  write_fd(both, "-1");
  write_fd(memory_limit_, bytes > 0 ? std::to_string(bytes) : "-1");
  if (bytes > 0) write_fd(both, std::to_string(bytes));
  if (both >= 0) ::close(both);
}

void CgroupSlot::write_cpu(int64_t milli) {
  const int64_t quota = std::max(kQuotaMinUs, milli * kPeriodUs / 1000);
  if (version_ == 2) {
    write_fd(cpu_max_,
             (milli > 0 ? std::to_string(quota) : "max") + " " + std::to_string(kPeriodUs));
  } else {
    write_fd(cpu_max_, milli > 0 ? std::to_string(quota) : "-1");
  }
}

void CgroupSlot::write_processes(int64_t count) {
  // The keeper itself is a member.
  write_fd(pids_max_, count > 0 ? std::to_string(count + 1) : "max");
}

void CgroupSlot::forbid_forks() {
  write_fd(pids_max_, "0");
  limits_.processes = -1;
}

bool CgroupSlot::kill_members() {
  const std::string& any = !pids_.empty() ? pids_ : memory_;
  return version_ == 2 && kill_group(any);
}

int64_t CgroupSlot::cpu_us() const {
  if (cpu_usage_ < 0) return -1;
  const std::string text = reread(cpu_usage_);
  if (version_ == 2) return number_after(text, "usage_usec");
  return parse_int(trim(text)).value_or(-1000) / 1000;
}

int64_t CgroupSlot::memory_bytes() const {
  if (memory_stat_ < 0) return -1;
  return number_after(reread(memory_stat_), version_ == 1 ? "rss" : "anon");
}

int64_t CgroupSlot::new_oom_kills() {
  if (memory_oom_ < 0) return 0;
  const int64_t now = std::max<int64_t>(0, number_after(reread(memory_oom_), "oom_kill"));
  return now - std::exchange(oom_kills_, now);
}

int64_t CgroupSlot::shared_bytes() const {
  return memory_stat_ < 0 ? -1 : number_after(reread(memory_stat_), "shmem");
}

// Marking sets the kernel's peak to what is in use now.
void CgroupSlot::mark_peak() {
  if (memory_peak_ < 0) return;
  peak_marked_ = try_write(memory_peak_, "0");
  peak_before_ = parse_int(trim(reread(memory_peak_))).value_or(-1);
}

int64_t CgroupSlot::memory_peak(int64_t at_least) const {
  if (memory_peak_ < 0 || peak_before_ < 0) return -1;
  const int64_t peak = parse_int(trim(reread(memory_peak_))).value_or(-1);
  if (peak <= peak_before_) return peak_marked_ ? 0 : -1;
  // What the group holds as cache is dear to ask, and of a small task it makes no difference.
  if (peak_marked_ && peak - peak_before_ <= at_least) return at_least;
  const std::string stat = reread(memory_stat_);
  const int64_t cache =
      number_after(stat, version_ == 1 ? "cache" : "file") - number_after(stat, "shmem");
  const int64_t held = std::max<int64_t>(0, peak - std::max<int64_t>(0, cache));
  return peak_marked_ ? std::min(held, peak - peak_before_) : held;
}

// Opened anew each time: version 1 answers an open descriptor with a list up to a second old.
std::vector<pid_t> CgroupSlot::members() const {
  return procs_.empty() ? std::vector<pid_t>{} : pids_in(read_file(procs_).value_or(""));
}

namespace {

std::vector<std::string> slots_of(const std::string& base) {
  std::vector<std::string> slots;
  DIR* dir = ::opendir(base.c_str());
  while (const dirent* entry = dir ? ::readdir(dir) : nullptr) {
    if (std::string_view(entry->d_name).starts_with("slot-")) {
      slots.push_back(base + "/" + entry->d_name);
    }
  }
  if (dir) ::closedir(dir);
  return slots;
}

void end_members(const std::string& slot) {
  for (int i = 0; i < 2000; ++i) {
    const std::vector<pid_t> pids = pids_in(read_file(slot + "/cgroup.procs").value_or(""));
    if (pids.empty()) return;
    const bool inside = std::find(pids.begin(), pids.end(), ::getpid()) != pids.end();
    if (!inside && kill_group(slot)) {
      ::usleep(1000);
      continue;
    }
    const int fd = ::open((slot + "/pids.max").c_str(), O_WRONLY | O_CLOEXEC);
    write_fd(fd, "0");
    if (fd >= 0) ::close(fd);
    for (const pid_t pid : pids) {
      if (pid != ::getpid()) ::kill(pid, SIGKILL);
    }
    ::usleep(i < 10 ? 1000 : 5000);
  }
}

}  // namespace

void end_cgroup_members(const std::vector<std::string>& directories) {
  // Groups with a process limit first: once nothing can fork, the other hierarchies hold the same
  // processes.
  std::vector<std::string> ordered = directories;
  std::partition(ordered.begin(), ordered.end(),
                 [](const std::string& path) { return path.find("/pids") != std::string::npos; });
  for (const std::string& base : ordered) {
    for (const std::string& slot : slots_of(base)) {
      end_members(slot);
      remove_directory(slot);
    }
    remove_directory(base);
  }
}

}  // namespace atl::site
