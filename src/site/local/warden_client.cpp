#include "site/local/warden_client.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

extern char** environ;

namespace atl::site {

std::string default_warden_program() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, n > 0 ? static_cast<size_t>(n) : 0);
  return self.substr(0, self.find_last_of('/') + 1) + "atoll-warden";
}

Result<int> connect_warden(const std::string& directory) {
  const std::string path = directory + "/warden.sock";
  sockaddr_un address = {.sun_family = AF_UNIX};
  if (path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::invalid,
                "the path " + path + " is too long for a socket: use a shorter home");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
    return fd;
  const std::string why = std::strerror(errno);
  if (fd >= 0) ::close(fd);
  return fail(ErrorCode::unavailable, "no warden listens on " + path + ": " + why);
}

Result<void> check_warden(const Welcome& warden, uint32_t ours) {
  const uint32_t oldest = ours > kProtocolVersionsBack ? ours - kProtocolVersionsBack : 1;
  if (warden.version >= oldest && warden.version <= ours) return {};
  const bool newer = warden.version > ours;
  return fail(ErrorCode::conflict,
              "the warden of this machine's work (process " + std::to_string(warden.pid) +
                  ") is too " + (newer ? "new" : "old") + " for this server: it speaks protocol " +
                  std::to_string(warden.version) + ", the server " + std::to_string(oldest) +
                  " to " + std::to_string(ours) + ". Its work goes on. Start " +
                  (newer ? "the newer Atoll" : "the Atoll it belongs to") +
                  " to follow it, or wait: the warden leaves when its work has ended, and this "
                  "server then takes over with the results");
}

Result<void> start_warden(const WardenCommand& command) {
  std::vector<std::string> words = {command.program,
                                    "--directory",
                                    command.directory,
                                    "--installation",
                                    command.installation,
                                    "--idle-exit",
                                    std::to_string(command.idle_exit.us / 1000000)};
  if (!command.cgroups) words.push_back("--no-cgroups");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, command.program.c_str(), nullptr, nullptr, argv.data(), environ);
  if (error != 0) {
    return fail(ErrorCode::unavailable,
                "cannot start the warden " + command.program + ": " + std::strerror(error));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  return fail(ErrorCode::unavailable, "the warden " + command.program + " refused to start");
}

}  // namespace atl::site
