#include <gtest/gtest.h>
#include <unistd.h>

#include "site/remote/framing.h"
#include "site/remote/local_shell.h"
#include "site/remote/ssh_shell.h"
#include "site/remote/subprocess.h"

namespace atl::site {
namespace {

TEST(Subprocess, GivesInputAndTakesBothOutputs) {
  const std::string input(1 << 20, 'x');
  const auto ended =
      run_subprocess({.argv = {"sh", "-c", "wc -c; echo no >&2; exit 3"}, .input = input});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->out, "1048576\n");
  EXPECT_EQ(ended->err, "no\n");
  EXPECT_EQ(ended->exit_code, 3);
}

TEST(Subprocess, AReaderThatDoesNotReadIsNoError) {
  const std::string input(1 << 20, 'x');
  const auto ended = run_subprocess({.argv = {"true"}, .input = input});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->exit_code, 0);
}

TEST(Subprocess, EndsTheWholeTreeWhenItsTimeIsOver) {
  const auto ended = run_subprocess(
      {.argv = {"sh", "-c", "sleep 1000 & echo $!; wait"}, .timeout = milliseconds(300)});
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::timeout);
}

TEST(Subprocess, DoesNotWaitForWhatWasLeftBehind) {
  const auto ended =
      run_subprocess({.argv = {"sh", "-c", "sleep 20 & echo here"}, .timeout = seconds(15)});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->out, "here\n");
}

TEST(Subprocess, BoundsWhatIsSaid) {
  const auto ended = run_subprocess({.argv = {"cat", "/dev/zero"}, .out_max = 1000});
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::too_large);
}

TEST(Subprocess, HasNoTerminalToAskOn) {
  const auto ended = run_subprocess({.argv = {"sh", "-c", "cat </dev/tty"}});
  ASSERT_TRUE(ended.has_value());
  EXPECT_NE(ended->exit_code, 0);
}

TEST(LocalShell, RunsTheScriptWithItsInputBehindIt) {
  LocalShell shell;
  const auto said = shell.run({.script = "echo \"it's\"\ncat\nexit 7", .input = "a\nb"});
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->out, "it's\na\nb");
  EXPECT_EQ(said->exit_code, 7);
  EXPECT_EQ(shell.run({.script = "true"})->out, "");
}

TEST(LocalShell, AShellThatIsKilledHasNoAnswer) {
  LocalShell shell;
  const auto said = shell.run({.script = "kill -9 $$; sleep 1"});
  ASSERT_FALSE(said.has_value());
  EXPECT_EQ(said.error().code, ErrorCode::unavailable);
}

TEST(Framing, NoiseBeforeAndBehindStaysOut) {
  const auto said = unframe("motd\n\nbegin-M\nx\n\nend-M 0\nlogout\n", "M");
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->out, "x\n");
  EXPECT_FALSE(unframe("motd\n\nbegin-M\nx\n", "M").has_value());
  EXPECT_EQ(before_frame("motd\n\nbegin-M\nx\n", "M"), "motd");
}

TEST(Framing, TheCommandMeansTheSameToEveryShell) {
  const std::string inner = framed_program("M");
  for (const char bad : {'\'', '\\', '!', '\n'})
    EXPECT_EQ(inner.find(bad), std::string::npos) << bad;
}

TEST(SshError, TellsWhatToChange) {
  EXPECT_EQ(ssh_error("h", "root@h: Permission denied (publickey,password).").code,
            ErrorCode::unauthorized);
  EXPECT_EQ(ssh_error("h",
                      "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key "
                      "verification failed.")
                .code,
            ErrorCode::conflict);
  EXPECT_EQ(ssh_error("h", "No ED25519 host key is known\nHost key verification failed.").code,
            ErrorCode::invalid);
  EXPECT_EQ(ssh_error("h", "ssh: connect to host h port 22: Connection refused").code,
            ErrorCode::unavailable);
}

}  // namespace
}  // namespace atl::site
