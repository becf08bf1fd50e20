#include "site/local/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>

#include "base/text.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr int64_t kPatienceUs = 30000000;

pid_t parent_of(pid_t pid) {
  const std::optional<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat || stat->rfind(')') == std::string::npos) return 0;
  const std::vector<std::string_view> fields =
      split(std::string_view(*stat).substr(stat->rfind(')') + 2), ' ');
  return fields.size() > 1 ? static_cast<pid_t>(parse_int(fields[1]).value_or(0)) : 0;
}

// Stops what is not yet stopped until a look at the tree shows nothing new, so that nothing can
// fork away.
void stop_tree() {
  std::vector<pid_t> seen;
  for (int round = 0; round < 100; ++round) {
    const std::vector<pid_t> now = tree_members({});
    bool news = false;
    for (const pid_t pid : now) {
      if (std::find(seen.begin(), seen.end(), pid) != seen.end()) continue;
      ::kill(pid, SIGSTOP);
      seen.push_back(pid);
      news = true;
    }
    if (!news) return;
  }
}

// True when no child is left.
bool reap(const Reaped& reaped) {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
    if (pid > 0)
      reaped(pid, status, usage);
    else
      return pid < 0 && errno == ECHILD;
  }
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  DIR* dir = ::opendir("/proc");
  while (const dirent* entry = dir ? ::readdir(dir) : nullptr) {
    const std::optional<int64_t> pid = parse_int(entry->d_name);
    if (pid) children.emplace(parent_of(static_cast<pid_t>(*pid)), static_cast<pid_t>(*pid));
  }
  if (dir) ::closedir(dir);
  std::vector<pid_t> tree = {root};
  for (size_t i = 0; i < tree.size(); ++i) {
    const auto [first, last] = children.equal_range(tree[i]);
    for (auto it = first; it != last; ++it) tree.push_back(it->second);
  }
  tree.erase(tree.begin());
  return tree;
}

std::vector<pid_t> tree_members(const CgroupSlot& slot) {
  const pid_t self = ::getpid();
  std::vector<pid_t> pids = slot.members();
  if (pids.empty()) return descendants(self);
  std::erase(pids, self);
  return pids;
}

bool kill_tree(CgroupSlot& slot, const Reaped& reaped) {
  if (reap(reaped)) return true;
  const int64_t deadline = monotonic_us() + kPatienceUs;
  if (slot.limits_processes()) slot.forbid_forks();
  for (int round = 0;; ++round) {
    if (!slot.limits_processes()) stop_tree();
    for (const pid_t pid : tree_members(slot)) ::kill(pid, SIGKILL);
    for (int i = 0; i < 20; ++i) {
      if (reap(reaped)) return true;
      ::usleep(round == 0 ? 100 : 1000);
    }
    if (monotonic_us() > deadline) return false;
  }
}

}  // namespace atl::site
