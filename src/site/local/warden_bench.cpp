// Tasks per second through driver and warden against a bare posix_spawn loop that opens two output
// files per task, in one run at the same parallelism. Built with ATOLL_BENCH; arguments: [tasks].
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>

#include "site/local/files.h"
#include "site/local/local_driver.h"
#include "site/local/process_tree.h"

extern char** environ;

namespace {

using namespace atl;
using namespace atl::site;

pid_t spawn_bare(const std::string& directory, int number) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string stem = directory + "/" + std::to_string(number);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, (stem + ".out").c_str(), O_CREAT | O_WRONLY, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, (stem + ".err").c_str(), O_CREAT | O_WRONLY, 0600);
  char name[] = "/bin/true";
  char* argv[] = {name, nullptr};
  pid_t pid = -1;
  ::posix_spawn(&pid, name, &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

double bare_rate(int tasks, int parallel) {
  const std::string directory = "/tmp/atoll-bench-bare";
  std::filesystem::create_directories(directory);
  const int64_t start = monotonic_us();
  int running = 0;
  for (int begun = 0, ended = 0; ended < tasks;) {
    while (begun < tasks && running < parallel) {
      spawn_bare(directory, begun++);
      ++running;
    }
    if (::wait(nullptr) > 0) {
      --running;
      ++ended;
    }
  }
  const double rate = tasks * 1e6 / static_cast<double>(monotonic_us() - start);
  std::filesystem::remove_all(directory);
  return rate;
}

// Processor time of this process, the warden and its keepers, without the tasks themselves.
double overhead_us(int64_t warden) {
  std::vector<pid_t> ours = {::getpid(), static_cast<pid_t>(warden)};
  for (const pid_t pid : descendants(static_cast<pid_t>(warden))) {
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/comm").value_or("");
    if (stat == "atoll-warden\n") ours.push_back(pid);
  }
  double sum = 0;
  for (const pid_t pid : ours) {
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
      sum +=
          std::atof(read_file(thread.path().string() + "/schedstat").value_or("0").c_str()) / 1000;
    }
  }
  return sum;
}

// Starts the next task when one ends, from the sink, as the runtime would; forgets in batches.
class Pump {
 public:
  Pump(LocalDriver& driver, int tasks, int parallel, uint64_t first_job)
      : driver_(driver), tasks_(tasks), parallel_(parallel), first_job_(first_job) {}

  void begin() {
    std::vector<StartOrder> orders;
    while (begun_ < std::min(tasks_, parallel_)) orders.push_back(next());
    driver_.start(std::move(orders));
  }
  void on_end(const core::AttemptEnded& report) {
    const std::lock_guard lock(mutex_);
    if (report.result.exit_code != 0 || report.result.cause != core::EndCause::exited) ++failed_;
    ended_.push_back(report.attempt);
    ++count_;
    if (begun_ < tasks_) driver_.start({next()});
    if (ended_.size() >= 64 || count_ == tasks_) driver_.forget(std::move(ended_)), ended_.clear();
    if (count_ == tasks_) done_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return count_ == tasks_; });
  }
  int failed() const { return failed_; }

 private:
  StartOrder next() {
    const uint64_t job = first_job_ + static_cast<uint64_t>(begun_++);
    return {.attempt = {JobId{job}, 0, 1},
            .name = "bench",
            .ns = "default",
            .uid = ::geteuid(),
            .resources = {.cpu_milli = 1000, .memory_bytes = 64 << 20},
            .payload = {.argv = {"/bin/true"}, .directory = "/"}};
  }

  LocalDriver& driver_;
  const int tasks_, parallel_;
  const uint64_t first_job_;
  std::mutex mutex_;
  std::condition_variable done_;
  int begun_ = 0, count_ = 0, failed_ = 0;
  std::vector<AttemptId> ended_;
};

}  // namespace

int main(int argc, char** argv) {
  const int tasks = argc > 1 ? std::atoi(argv[1]) : 10000;
  const std::string home = "/tmp/atoll-bench-" + std::to_string(::getpid());
  std::filesystem::create_directories(home);
  LocalDriver driver({.home = home, .installation = "bench-" + std::to_string(::getpid())});
  Pump* pump = nullptr;
  std::mutex ready;
  std::condition_variable probed;
  bool up = false;
  driver.adopt({}, [&](core::Report report) {
    if (std::holds_alternative<core::SiteProbed>(report)) {
      const std::lock_guard lock(ready);
      up = true;
      probed.notify_all();
    }
    if (const auto* ended = std::get_if<core::AttemptEnded>(&report)) pump->on_end(*ended);
  });
  {
    std::unique_lock lock(ready);
    probed.wait(lock, [&] { return up; });
  }
  uint64_t job = 1;
  for (const int parallel : {2, 8}) {
    for (int round = 0; round < 3; ++round) {
      const double bare = bare_rate(tasks, parallel);
      Pump here(driver, tasks, parallel, job);
      job += static_cast<uint64_t>(tasks);
      pump = &here;
      const double before = overhead_us(driver.warden_pid());
      const int64_t start = monotonic_us();
      here.begin();
      here.wait();
      const double rate = tasks * 1e6 / static_cast<double>(monotonic_us() - start);
      const double each = (overhead_us(driver.warden_pid()) - before) / tasks;
      std::printf(
          "parallel %d: bare %.0f/s, warden %.0f/s, ratio %.2f, own processor time %.0f us a task, "
          "failed %d\n",
          parallel, bare, rate, rate / bare, each, here.failed());
    }
  }
  driver.shutdown();
  std::filesystem::remove_all(home);
}
