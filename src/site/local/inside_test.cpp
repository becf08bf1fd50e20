#include "site/local/inside.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "site/local/local_fixture.h"

namespace atl::site {
namespace {

TEST(InsideFiles, SayNothingUntilTheEndWasSeen) {
  InsideFiles files;
  EXPECT_FALSE(files.status());
  ASSERT_TRUE(files.open()) << std::strerror(errno);
  EXPECT_FALSE(files.status());
  const int fd = files.passed()[0];
  const int killed = SIGSEGV;
  ASSERT_EQ(::pwrite(fd, &killed, sizeof killed, 0), static_cast<ssize_t>(sizeof killed));
  ASSERT_TRUE(files.status());
  EXPECT_EQ(WTERMSIG(*files.status()), SIGSEGV);
  const int stopped = 0x137f;
  ASSERT_EQ(::pwrite(fd, &stopped, sizeof stopped, 0), static_cast<ssize_t>(sizeof stopped));
  EXPECT_FALSE(files.status()) << "that is no end";
  EXPECT_LT(::pwrite(fd, &killed, sizeof killed, 1 << 20), 0) << "it takes no more than that";
}

class Sandboxed : public LocalFixture {
 protected:
  core::AttemptResult shell_inside(const std::string& script) {
    return run(order({.argv = {"sh", "-c", script}, .isolation = core::Isolation::sandbox}));
  }
};

TEST_F(Sandboxed, ASignalIsASignalAndAnExitCodeIsOne) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGTERM}) {
    const core::AttemptResult killed = shell_inside("kill -" + std::to_string(signal) + " $$");
    EXPECT_EQ(killed.cause, core::EndCause::signalled) << signal;
    EXPECT_EQ(killed.signal, signal);
    EXPECT_EQ(killed.exit_code, 128 + signal);
  }
  const core::AttemptResult exited = shell_inside("exit 137");
  EXPECT_EQ(exited.cause, core::EndCause::exited) << "its own word, though it looks like SIGKILL";
  EXPECT_EQ(exited.signal, 0);
  EXPECT_EQ(exited.exit_code, 137);
  EXPECT_EQ(shell_inside("exit 0").exit_code, 0);
}

TEST_F(Sandboxed, TheCommandGetsItsThreeDescriptorsAndASessionOfItsOwn) {
  shell_inside("ls /proc/self/fd; cut -d' ' -f1,6 /proc/$$/stat");
  EXPECT_EQ(output(last_), "0\n1\n2\n3\n2 2\n")
      << "descriptors with the directory's own, then the shell's number and its session's";
}

TEST_F(Sandboxed, TheCommandCannotReachTheFirstProcess) {
  shell_inside(
      "chmod 0700 /proc/1/exe && echo exe; touch /proc/1/fd/4 && echo program; "
      "echo x > /proc/1/fd/3 && echo status; echo over");
  EXPECT_EQ(output(last_), "over\n");
}

TEST_F(Sandboxed, WhatItLeavesBehindEndsWithIt) {
  const auto began = std::chrono::steady_clock::now();
  const core::AttemptResult left = shell_inside("setsid sleep 60 >/dev/null 2>&1 & exit 5");
  EXPECT_EQ(left.exit_code, 5);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST_F(Sandboxed, OrphansAreReaped) {
  shell_inside(
      "for i in 1 2 3; do (sh -c 'true' & ) ; done; sleep 0.3; "
      "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l");
  EXPECT_EQ(output(last_), "0\n");
}

}  // namespace
}  // namespace atl::site
