#include "bin/file_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <future>

#include "core/limits.h"

namespace atl::bin {
namespace {

constexpr auto kLookEvery = std::chrono::seconds(1);
constexpr size_t kEntriesMax = 100'000;  // of a directory that are looked at

// The account that reads: its groups are asked once per look.
struct Reader {
  std::optional<uint32_t> uid;
  std::vector<gid_t> groups;
};

Reader reader_of(std::optional<uint32_t> uid) {
  Reader reader{uid, {}};
  if (!uid) return reader;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 << 10);
  if (getpwuid_r(*uid, &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return reader;
  int count = 256;
  reader.groups.resize(static_cast<size_t>(count));
  if (getgrouplist(found->pw_name, found->pw_gid, reader.groups.data(), &count) < 0) count = 0;
  reader.groups.resize(static_cast<size_t>(std::max(count, 0)));
  return reader;
}

// The class of permissions that counts for the reader, shifted to those of others.
bool permits(const Reader& reader, const struct stat& info, unsigned bits) {
  if (reader.uid && *reader.uid == 0) return true;
  unsigned mode = info.st_mode;
  if (reader.uid && info.st_uid == *reader.uid)
    mode >>= 6;
  else if (std::ranges::find(reader.groups, info.st_gid) != reader.groups.end())
    mode >>= 3;
  return (mode & bits) == bits;
}

class Directory {
 public:
  explicit Directory(int fd) : fd_(fd) {}
  ~Directory() {
    if (fd_ >= 0) close(fd_);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  int fd() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Goes down from a listed directory without following links, and only where the reader may. The
// listed directory itself is the administrator's choice, links and all.
int open_directory(const std::string& listed, const std::string& directory, const Reader& reader) {
  int at = open(listed.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  size_t from = listed.size();
  while (at >= 0 && from < directory.size()) {
    const size_t first = directory.find_first_not_of('/', from);
    if (first == std::string::npos) break;
    const size_t end = std::min(directory.find('/', first), directory.size());
    const Directory above(at);
    struct stat info{};
    const bool may = fstat(above.fd(), &info) == 0 && permits(reader, info, S_IXOTH);
    const std::string name = directory.substr(first, end - first);
    at = may ? openat(above.fd(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
             : -1;
    from = end;
  }
  return at;
}

std::string look_at(const struct stat& info) {
  return std::to_string(info.st_ino) + ":" + std::to_string(info.st_size) + ":" +
         std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
}

// Regular files of the directory that fit the pattern and may be read, with their looks.
std::map<std::string, std::string> files_in(int fd, const std::string& pattern,
                                            const Reader& reader) {
  std::map<std::string, std::string> found;
  struct stat own{};
  const bool may = fstat(fd, &own) == 0 && permits(reader, own, S_IXOTH | S_IROTH);
  DIR* entries = may ? fdopendir(fd) : nullptr;
  if (!entries) {
    close(fd);
    return found;
  }
  size_t seen = 0;
  while (const dirent* each = readdir(entries)) {
    if (++seen > kEntriesMax || found.size() >= core::kWatchedFilesMax) break;
    if (fnmatch(pattern.c_str(), each->d_name, FNM_PERIOD) != 0) continue;
    struct stat info{};
    if (fstatat(dirfd(entries), each->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(info.st_mode) && permits(reader, info, S_IROTH))
      found.emplace(each->d_name, look_at(info));
  }
  closedir(entries);
  return found;
}

}  // namespace

std::optional<core::FilesLooked> FileLooks::look(const WatchOrder& order, Time now) {
  const size_t slash = order.path.rfind('/');
  const std::string directory = order.path.substr(0, std::max<size_t>(slash, 1));
  const auto listed = std::ranges::find_if(directories_, [&](const std::string& each) {
    return directory == each || directory.starts_with(each == "/" ? each : each + "/");
  });
  std::map<std::string, std::string> files;
  const Reader reader = reader_of(order.uid);
  if (listed != directories_.end()) {
    const int fd = open_directory(*listed, directory, reader);
    if (fd >= 0) files = files_in(fd, order.path.substr(slash + 1), reader);
  }
  core::FilesLooked report{order.id, order.revision, {}, {}};
  auto& changes = changes_[order.id];
  std::map<std::string, Change> still;
  for (const auto& [name, look] : files) {
    const std::string path = directory == "/" ? "/" + name : directory + "/" + name;
    const auto known = order.known.find(path);
    if (known != order.known.end() && known->second == look) continue;
    const auto before = changes.find(path);
    const bool same = before != changes.end() && before->second.look == look;
    const Time since = same ? before->second.since : now;
    if (!order.looked || now - since >= order.quiet)
      report.changed.push_back({path, look});
    else
      still.emplace(path, Change{look, since});
  }
  for (const auto& [path, look] : order.known) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!files.contains(name)) report.gone.push_back(path);
  }
  changes = std::move(still);
  if (order.looked && report.changed.empty() && report.gone.empty()) return std::nullopt;
  return report;
}

void FileLooks::keep_only(const std::vector<WatchOrder>& orders) {
  std::erase_if(changes_, [&](const auto& entry) {
    return std::ranges::find(orders, entry.first, &WatchOrder::id) == orders.end();
  });
}

FileWatch::FileWatch(runtime::Runtime& runtime, std::vector<std::string> directories)
    : runtime_(runtime), looks_(std::move(directories)), thread_([this] { run(); }) {}

void FileWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<WatchOrder> FileWatch::orders() {
  struct Shared {
    std::promise<std::vector<WatchOrder>> promise;
  };
  auto shared = std::make_shared<Shared>();
  auto answer = shared->promise.get_future();
  runtime_.read([shared](const core::State& state) {
    std::vector<WatchOrder> found;
    for (const auto& [id, each] : state.schedules) {
      if (each.terms.trigger != core::Trigger::file || each.paused) continue;
      found.push_back({id, each.revision, each.terms.path, each.terms.quiet,
                       state.users.at(each.user).uid, each.files, each.looked});
    }
    shared->promise.set_value(std::move(found));
  });
  for (;;) {
    if (answer.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready)
      return answer.get();
    const std::lock_guard lock(mutex_);
    if (stopping_) return {};
  }
}

void FileWatch::run() {
  SystemClock clock;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kLookEvery, [this] { return stopping_; })) return;
    }
    const std::vector<WatchOrder> wanted = orders();
    looks_.keep_only(wanted);
    for (const WatchOrder& order : wanted) {
      if (auto report = looks_.look(order, clock.now())) runtime_.post(std::move(*report));
    }
  }
}

}  // namespace atl::bin
