#include "site/local/remains.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

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

void end_marked_processes(const std::string& installation) {
  const std::string marker = std::string(kMarkerVariable) + "=" + installation;
  // Again while any is found: one may have forked while we looked.
  for (int i = 0; i < 1000 && kill_marked(marker) > 0; ++i) ::usleep(2000);
}

}  // namespace atl::site
