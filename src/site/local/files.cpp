#include "site/local/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>

#include "base/text.h"

namespace atl::site {

std::optional<std::string> read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char buffer[16 << 10];
  ssize_t n;
  while ((n = ::read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(n));
  ::close(fd);
  if (n < 0) return std::nullopt;
  return text;
}

bool write_file(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool ok = write_all(fd, text);
  return (::close(fd) == 0) && ok;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool make_directories(const std::string& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return is_directory(path);
  if (errno != ENOENT) return false;
  const size_t slash = path.find_last_of('/');
  if (slash == 0 || slash == std::string::npos) return false;
  if (!make_directories(path.substr(0, slash), mode)) return false;
  return ::mkdir(path.c_str(), mode) == 0 || errno == EEXIST;
}

void remove_tree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

bool is_directory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_empty_directory(const std::string& path) {
  DIR* dir = ::opendir(path.c_str());
  if (!dir) return false;
  int entries = 0;
  while (entries < 3 && ::readdir(dir)) ++entries;
  ::closedir(dir);
  return entries == 2;
}

std::string reread(int fd) {
  char buffer[4096];
  const ssize_t n = ::pread(fd, buffer, sizeof buffer, 0);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string();
}

int64_t number_after(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.size() <= key.size() || !line.starts_with(key) || line[key.size()] != ' ') continue;
    return parse_int(trim(line.substr(key.size() + 1))).value_or(-1);
  }
  return -1;
}

int64_t monotonic_us() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

Time wall_now() {
  timespec t;
  ::clock_gettime(CLOCK_REALTIME, &t);
  return {t.tv_sec * 1000000 + t.tv_nsec / 1000};
}

Time boot_time() {
  timespec since;
  ::clock_gettime(CLOCK_BOOTTIME, &since);
  return wall_now() - seconds(since.tv_sec);
}

uint64_t process_start(int pid) {
  const std::optional<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return 0;
  // Field 22; the command in parentheses may hold spaces, so counting begins after the last ')'.
  const std::vector<std::string_view> fields =
      split(std::string_view(*stat).substr(stat->rfind(')') + 2), ' ');
  return fields.size() > 19 ? static_cast<uint64_t>(parse_int(fields[19]).value_or(0)) : 0;
}

}  // namespace atl::site
