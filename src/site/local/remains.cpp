#include "site/local/remains.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/text.h"
#include "site/local/cgroup.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

bool is_marked(pid_t pid, const std::string& marker) {
  const std::string environ = read_file("/proc/" + std::to_string(pid) + "/environ").value_or("");
  for (const std::string_view entry : split(environ, '\0')) {
    if (entry == marker) return true;
  }
  return false;
}

int kill_marked(const std::string& marker) {
  int found = 0;
  DIR* dir = ::opendir("/proc");
  while (const dirent* entry = dir ? ::readdir(dir) : nullptr) {
    const auto pid = static_cast<pid_t>(parse_int(entry->d_name).value_or(0));
    if (pid <= 1 || pid == ::getpid() || !is_marked(pid, marker)) continue;
    ::kill(pid, SIGKILL);
    ++found;
  }
  if (dir) ::closedir(dir);
  return found;
}

constexpr const char* kFirstPidNamespace = "pid:[4026531836]";
constexpr size_t kSweptMax = 256;  // groups looked at by one start; the next ones do the rest

bool sees_all_processes() {
  char text[64];
  const ssize_t n = ::readlink("/proc/self/ns/pid", text, sizeof text);
  return n > 0 && std::string_view(text, static_cast<size_t>(n)) == kFirstPidNamespace;
}

// The installation in the name of a group, as the journal makes it (16 hex digits and an epoch);
// empty when the name is anything else.
std::string_view installation_in(std::string_view name) {
  constexpr size_t kIdAt = 6, kEpochAt = 23;
  if (!name.starts_with("atoll-") || name.size() <= kEpochAt || name[kEpochAt - 1] != '-')
    return {};
  const bool ours = name.find_first_not_of("0123456789abcdef", kIdAt) == kEpochAt - 1 &&
                    name.find_first_not_of("0123456789", kEpochAt) == std::string_view::npos;
  return ours ? name.substr(kIdAt) : std::string_view();
}

std::vector<std::string> entries(const std::string& directory) {
  std::vector<std::string> names;
  DIR* dir = ::opendir(directory.c_str());
  while (const dirent* entry = dir ? ::readdir(dir) : nullptr) names.emplace_back(entry->d_name);
  if (dir) ::closedir(dir);
  return names;
}

std::set<std::string> living_installations() {
  std::set<std::string> living;
  for (const std::string& pid : entries("/proc")) {
    if (!parse_int(pid)) continue;
    const std::string line = read_file("/proc/" + pid + "/cmdline").value_or("");
    const std::vector<std::string_view> words = split(line, '\0');
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i - 1] == "--installation") living.emplace(words[i]);
    }
  }
  return living;
}

}  // namespace

Result<int> take_lock(const std::string& path, int patience_ms) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return fail(ErrorCode::unavailable, "cannot open " + path + ": " + std::strerror(errno));
  }
  for (int waited = 0;; waited += 5) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    if (waited >= patience_ms) break;
    ::usleep(5000);
  }
  ::close(fd);
  return fail(ErrorCode::conflict, path + " is held by another process");
}

void end_keepers(const std::string& keepers) {
  const std::string text = read_file(keepers).value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() != 2) continue;
    const auto pid = static_cast<pid_t>(parse_int(words[0]).value_or(0));
    const auto start = static_cast<uint64_t>(parse_int(words[1]).value_or(0));
    if (pid > 1 && start != 0 && process_start(pid) == start) ::kill(pid, SIGKILL);
  }
}

void end_groups(const std::string& groups) {
  const std::string text = read_file(groups).value_or("");
  std::vector<std::string> directories;
  for (const std::string_view line : split(text, '\n')) {
    // Only what looks like ours: the file lies in a directory of ours, but it names things to kill.
    if (line.find("/atoll-") != std::string_view::npos) directories.emplace_back(line);
  }
  end_cgroup_members(directories);
}

void sweep_groups(const std::vector<std::string>& ours) {
  if (!sees_all_processes()) return;
  std::vector<std::pair<std::string, std::string>> found;  // installation, directory
  for (const std::string& own : ours) {
    const std::string parent = own.substr(0, own.find_last_of('/'));
    for (const std::string& name : entries(parent)) {
      const std::string path = parent + "/" + name;
      const std::string_view installation = installation_in(name);
      if (installation.empty() || path == own || found.size() >= kSweptMax) continue;
      found.emplace_back(installation, path);
    }
  }
  if (found.empty()) return;
  // After the groups: a warden is in the list of processes before it makes any.
  const std::set<std::string> living = living_installations();
  for (const auto& [installation, path] : found) {
    if (living.contains(installation)) continue;
    // The kernel refuses what has members.
    for (const std::string& name : entries(path)) {
      if (name.starts_with("slot-")) ::rmdir((path + "/" + name).c_str());
    }
    ::rmdir(path.c_str());
  }
}

void end_marked_processes(const std::string& installation) {
  const std::string marker = std::string(kMarkerVariable) + "=" + installation;
  // Again while any is found: one may have forked while we looked.
  for (int i = 0; i < 1000 && kill_marked(marker) > 0; ++i) ::usleep(2000);
}

}  // namespace atl::site
