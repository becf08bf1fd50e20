#include "cli/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "http/test_support.h"

namespace atl::cli {
namespace {

using http::testing::TempDir;

TEST(ServerPid, IsNobodyWithoutAHeldLock) {
  const TempDir home;
  EXPECT_EQ(server_pid(home / ""), 0);
  std::ofstream(home / "lock") << "12345\n";  // left behind by one that was killed
  EXPECT_EQ(server_pid(home / ""), 0);
}

// A process that holds the lock until SIGTERM.
pid_t hold_lock(const std::string& path) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
    ::flock(fd, LOCK_EX);
    const std::string text = std::to_string(::getpid()) + "\n";
    [[maybe_unused]] auto a = ::write(fd, text.data(), text.size());
    [[maybe_unused]] auto b = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

TEST(StopServer, EndsWhoeverHoldsTheLock) {
  const TempDir home;
  const pid_t child = hold_lock(home / "lock");
  EXPECT_EQ(server_pid(home / ""), child);
  std::thread reaper([child] { ::waitpid(child, nullptr, 0); });
  EXPECT_TRUE(stop_server(home / "", child, std::chrono::seconds(10), [](auto) {}));
  reaper.join();
  EXPECT_EQ(server_pid(home / ""), 0);
}

TEST(StopServer, LeavesAProcessAloneThatDoesNotHoldTheLock) {
  const TempDir home;
  const pid_t child = hold_lock(home / "lock");
  EXPECT_TRUE(stop_server(home / "", ::getpid(), std::chrono::seconds(1), [](auto) {}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(LogEnd, ShowsTheLastLinesOfThisStart) {
  const TempDir dir;
  std::ofstream(dir / "log") << "old\none\ntwo\nthree\n";
  EXPECT_EQ(log_end(dir / "log", 4, 2), "  two\n  three\n");
  EXPECT_EQ(log_end(dir / "none", 0, 2), "");
}

}  // namespace
}  // namespace atl::cli
