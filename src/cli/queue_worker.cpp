#include "cli/queue_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/queue_path.h"

extern char** environ;

namespace atl::cli {
namespace {

constexpr const char* kWait = "5s";  // how long Ctrl-C may have to wait for an idle worker
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kPauseMin{200}, kPauseMax{5'000};
constexpr std::size_t kEnvironmentMax = 100 << 10;  // what execve takes as one string, with room

// A file without a name that holds the bytes, read from its beginning; -1 when there is none.
int file_of(const std::string& bytes) {
  const int fd = ::memfd_create("atoll-item", MFD_CLOEXEC);
  if (fd < 0) return -1;
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (n <= 0) {
      ::close(fd);
      return -1;
    }
    written += static_cast<std::size_t>(n);
  }
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

// Ours without what an outer worker has set, and the item's. What a variable cannot hold is only on
// standard input.
std::vector<std::string> environment_of(const Json& item, const std::string& bytes) {
  std::vector<std::string> all;
  for (char** at = environ; *at; ++at) {
    if (!std::string_view(*at).starts_with("ATOLL_ITEM")) all.emplace_back(*at);
  }
  all.push_back("ATOLL_ITEM_ID=" + item.text("id"));
  all.push_back("ATOLL_ITEM_ATTEMPT=" + item.text("attempt"));
  if (bytes.size() <= kEnvironmentMax && bytes.find('\0') == std::string::npos)
    all.push_back("ATOLL_ITEM=" + bytes);
  return all;
}

std::vector<char*> pointers_of(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Extends a lease again and again while the command runs. When the server says that the lease is
// lost, the command is told to stop: somebody else may have its item.
class Keeper {
 public:
  Keeper(const WorkOrder& order, std::string lease, std::atomic<int>& child)
      : order_(order), lease_(std::move(lease)), child_(child), thread_([this] { keep(); }) {}
  ~Keeper() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  bool lost() const { return lost_; }

 private:
  void keep() {
    const std::chrono::microseconds pause(order_.lease_holds.us / 3);
    auto api = Api::open(order_.target);
    std::unique_lock lock(mutex_);
    while (api && !wake_.wait_for(lock, pause, [this] { return done_; })) {
      lock.unlock();
      const auto kept = api->post(
          order_.path + "/extend",
          "{\"leases\":[" + lease_ + "]" + text_member("visibility", order_.visibility) + "}");
      if (!kept && kept.error().code == ErrorCode::conflict) {
        lost_ = true;
        if (const int pid = child_; pid > 0) ::kill(-pid, SIGTERM);
        return;
      }
      lock.lock();
    }
  }

  const WorkOrder& order_;
  const std::string lease_;
  std::atomic<int>& child_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::atomic<bool> lost_{false};
  std::thread thread_;
};

Result<Json> lease_one(Api& api, const WorkOrder& order) {
  http::Call call{.method = "POST", .target = order.path + "/lease"};
  call.headers.set("Content-Type", "application/json");
  call.body = std::string("{\"wait\":\"") + kWait + "\"" +
              text_member("visibility", order.visibility) +
              (order.follow ? "" : ",\"until_dry\":true") + "}";
  call.timeout = kPatience;
  const auto response = api.send(std::move(call));
  if (!response) return tl::unexpected(response.error());
  return Json::parse(response->body);
}

bool passes(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::exhausted ||
         error.code == ErrorCode::timeout;
}

// A server that is away comes back; the lease outlives it, so telling is tried until it answers.
Result<Json> tell(Api& api, const std::string& path, const std::string& body,
                  const std::atomic<bool>& stop) {
  for (auto pause = kPauseMin;; pause = std::min(pause * 2, kPauseMax)) {
    auto answer = api.post(path, body);
    if (answer || !passes(answer.error()) || stop) return answer;
    std::this_thread::sleep_for(pause);
  }
}

Result<void> settle(Api& api, const WorkOrder& order, WorkTally& tally, const Json& lease,
                    const Json& item, int code) {
  std::string body = "{\"lease\":" + lease.text("lease");
  if (code != 0)
    body += text_member("delay", order.retry_delay) +
            text_member("message", "exit code " + std::to_string(code));
  const auto told =
      tell(api, order.path + (code == 0 ? "/done" : "/retry"), body + "}", tally.stop);
  if (!told && told.error().code == ErrorCode::conflict) {
    ++tally.lost;
    return {};
  }
  if (!told) return tl::unexpected(told.error());
  if (code == 0)
    ++tally.done;
  else if (item["attempt"].integer() >= order.attempts)
    ++tally.dead;
  else
    ++tally.given_back;
  return {};
}

Result<void> work_on(Api& api, const WorkOrder& order, WorkTally& tally, const Json& lease,
                     const Json& item) {
  std::atomic<int> child{0};
  Result<int> code = 0;
  bool lost = false;
  {
    Keeper keeper(order, lease.text("lease"), child);
    code = run_item(order.command, item, child);
    lost = keeper.lost();
  }
  if (!code) {
    // The command itself is wrong: every item would fail, so the item goes back as it was.
    static_cast<void>(settle(api, order, tally, lease, item, 127));
    return tl::unexpected(code.error());
  }
  if (lost) {
    ++tally.lost;
    return {};
  }
  return settle(api, order, tally, lease, item, *code);
}

}  // namespace

Result<int> run_item(const std::vector<std::string>& command, const Json& item,
                     std::atomic<int>& child) {
  const std::string bytes = item_body(item);
  const int input = file_of(bytes);
  if (input < 0) return fail(ErrorCode::unavailable, "no room for the body of an item");
  const std::vector<std::string> environment = environment_of(item, bytes);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, input, 0);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, command.front().c_str(), &files, &attributes,
                                   pointers_of(command).data(), pointers_of(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  ::close(input);
  if (error != 0)
    return fail(ErrorCode::invalid,
                "cannot run " + command.front() + ": " + std::generic_category().message(error));
  child = pid;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<void> work(const WorkOrder& order, WorkTally& tally) {
  auto api = Api::open(order.target);
  if (!api) return tl::unexpected(api.error());
  auto pause = kPauseMin;
  while (!tally.stop) {
    const auto lease = lease_one(*api, order);
    if (!lease) {
      if (!passes(lease.error())) return tl::unexpected(lease.error());
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kPauseMax);
      continue;
    }
    pause = kPauseMin;
    tally.left = (*lease)["left"].integer();
    const auto items = (*lease)["items"].items();
    if (items.empty()) {
      const bool dry = tally.left == 0 && ((*lease)["closed"].truth() || !order.follow);
      if (dry) return {};
      continue;
    }
    if (auto ok = work_on(*api, order, tally, *lease, items.front()); !ok) return ok;
  }
  return {};
}

}  // namespace atl::cli
