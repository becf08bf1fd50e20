// Hosts as they are found: full, noexec, talkative, with other shells, keys and passwords.
#include <gtest/gtest.h>

#include "site/remote/run_directory.h"
#include "site/ssh/ssh_place.h"

namespace atl::site {
namespace {

class OddHost : public testing::Test {
 protected:
  // Runs a task there to its end, through a driver; what it wrote, or why not.
  std::string run_on(const std::string& spec) {
    place_ = std::make_unique<SshPlace>(std::vector<std::string>{spec});
    SshDriver driver(place_->options());
    Recorder seen;
    driver.adopt({}, seen.sink());
    EXPECT_TRUE(seen.wait_probed(40));
    StartOrder start{.attempt = {JobId{1}, 0, 1}, .grace = seconds(5)};
    start.placement.node = "h1";
    start.payload = {.script =
                         "#!/bin/sh\necho \"# atoll progress=50\"\necho ran on `hostname`\n"
                         "echo 1 > $ATOLL_JOB_DIR/left\n",
                     .directory = "/"};
    driver.start({start});
    if (!seen.wait_ended(start.attempt, 40)) {
      const auto troubles = driver.node_trouble();
      driver.close();
      return troubles.contains("h1") ? troubles.at("h1") : "it did not end";
    }
    const core::AttemptResult result = seen.result(start.attempt);
    const Result<LogChunk> log = driver.logs(start.attempt, LogStream::out, 0, 1000);
    const bool left = std::filesystem::exists(driver.job_directory(JobId{1}) + "/left");
    driver.close();
    if (result.cause != core::EndCause::exited || !log) return result.message;
    return log->bytes + (left ? "left a file" : "left none");
  }
  // What the first exchange says.
  Error refused_by(const std::string& spec) {
    place_ = std::make_unique<SshPlace>(std::vector<std::string>{spec});
    SshShell shell({.host = "h1", .config = place_->options().ssh_config});
    const Result<Said> said = shell.run({.script = "echo here"});
    return said ? Error{ErrorCode::internal, "it was let in", {}} : said.error();
  }

  static constexpr const char* kRan = "# atoll progress=50\nran on h1\nleft a file";
  std::unique_ptr<SshPlace> place_;
};

TEST_F(OddHost, BannerAndProfileThatPrint) { EXPECT_EQ(run_on("h1:banner,profile"), kRan); }
TEST_F(OddHost, Tcsh) { EXPECT_EQ(run_on("h1:shell=/bin/tcsh,profile"), kRan); }
TEST_F(OddHost, Fish) { EXPECT_EQ(run_on("h1:shell=/usr/bin/fish"), kRan); }
TEST_F(OddHost, BusyboxAlone) { EXPECT_EQ(run_on("h1:busybox"), kRan); }
TEST_F(OddHost, NoexecHome) { EXPECT_EQ(run_on("h1:noexec"), kRan); }

TEST_F(OddHost, AFullHomeIsSaidSo) {
  const std::string why = run_on("h1:tmpfs=8k");
  EXPECT_NE(why.find("nothing can be written to ~/.atoll on h1"), std::string::npos) << why;
  EXPECT_NE(why.find("make room there"), std::string::npos) << why;
}

TEST_F(OddHost, ATaskThatFillsTheDiskEndsAllTheSame) {
  place_ = std::make_unique<SshPlace>(std::vector<std::string>{"h1:tmpfs=1m"});
  SshDriver driver(place_->options());
  Recorder seen;
  driver.adopt({}, seen.sink());
  ASSERT_TRUE(seen.wait_probed(40));
  StartOrder fills{.attempt = {JobId{1}, 0, 1}, .grace = seconds(5)};
  fills.payload = SshPlace::shell("cat /dev/zero >$HOME/all; echo more >$HOME/b; exit 5");
  driver.start({fills});
  ASSERT_TRUE(seen.wait_ended(fills.attempt, 40));
  EXPECT_EQ(seen.result(fills.attempt).exit_code, 5);
  EXPECT_EQ(seen.result(fills.attempt).cause, core::EndCause::exited);
  StartOrder next{.attempt = {JobId{2}, 0, 1}, .grace = seconds(5)};
  next.payload = SshPlace::shell("true");
  driver.start({next});
  ASSERT_TRUE(seen.wait_ended(next.attempt, 40));
  EXPECT_EQ(seen.result(next.attempt).cause, core::EndCause::start_error);
  EXPECT_NE(seen.result(next.attempt).message.find("nothing can be written"), std::string::npos)
      << seen.result(next.attempt).message;
  driver.close();
}

TEST_F(OddHost, APasswordPromptNeverHangs) {
  const Error error = refused_by("h1:password");
  EXPECT_EQ(error.code, ErrorCode::unauthorized) << error.message;
  EXPECT_NE(error.message.find("authorized_keys"), std::string::npos) << error.message;
}

TEST_F(OddHost, AChangedHostKeyIsToldApart) {
  const Error error = refused_by("h1:stale_key");
  EXPECT_EQ(error.code, ErrorCode::conflict) << error.message;
  EXPECT_NE(error.message.find("ssh-keygen -R"), std::string::npos) << error.message;
}

TEST_F(OddHost, AHostThatIsNotThereIsUnavailable) {
  place_ = std::make_unique<SshPlace>();
  place_->order("kill", "h1");
  SshShell shell({.host = "h1", .config = place_->options().ssh_config});
  const Result<Said> said = shell.run({.script = "echo here"});
  ASSERT_FALSE(said.has_value());
  EXPECT_EQ(said.error().code, ErrorCode::unavailable);
  SshShell nowhere({.host = "nowhere.invalid", .config = place_->options().ssh_config});
  EXPECT_EQ(nowhere.run({.script = "true"}).error().code, ErrorCode::unavailable);
}

TEST_F(OddHost, ExchangesShareOneConnection) {
  place_ = std::make_unique<SshPlace>();
  SshShell shell({.host = "h1", .config = place_->options().ssh_config});
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 24; ++i)
    threads.emplace_back([&] {
      const Result<Said> said =
          shell.run({.script = "sleep 0.2; echo $SSH_CONNECTION", .input = "x"});
      if (said && said->exit_code == 0) ++good;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 24);
  const Result<Said> said = shell.run({.script = "pgrep -c -f 'sshd: root@notty'"});
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->out, "1\n");
}

TEST(SshOptions, HostsAreHosts) {
  EXPECT_TRUE(check_ssh_options({.hosts = {"a", "me@b.example.org"}}).has_value());
  EXPECT_FALSE(check_ssh_options({.hosts = {}}).has_value());
  EXPECT_FALSE(check_ssh_options({.hosts = {"a", "a"}}).has_value());
  EXPECT_FALSE(check_ssh_options({.hosts = {"-oProxyCommand=x"}}).has_value());
  EXPECT_FALSE(check_ssh_options({.hosts = {"a b"}}).has_value());
  EXPECT_FALSE(check_ssh_options({.hosts = {"a"}, .lease = seconds(1)}).has_value());
}

}  // namespace
}  // namespace atl::site
