// Progress of real tasks: what they print or write to a file reaches the driver.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "site/local/files.h"
#include "site/local/local_fixture.h"
#include "site/local/task_progress.h"

namespace atl::site {
namespace {

class LocalProgress : public LocalFixture {
 protected:
  std::optional<Progress> progress(AttemptId id) { return driver_->progress({&id, 1}).at(0); }
  bool wait_percent(AttemptId id, uint32_t milli) {
    for (int i = 0; i < 1000; ++i) {
      const std::optional<Progress> now = progress(id);
      if (now && now->percent_milli == milli) return true;
      ::usleep(10000);
    }
    return false;
  }
  // Prints or does something, then waits until it is let go.
  AttemptId start_then_wait(const std::string& text) {
    return start(shell(text + "\nwhile [ ! -e " + gate_path() + " ]; do sleep 0.02; done"));
  }
  std::string gate_path() const { return place_->home() + "/gate"; }
  void open_gate() { std::ofstream(gate_path()) << ""; }
};

TEST_F(LocalProgress, ComesFromBothStreamsAndStaysInTheLog) {
  const std::string line = "# cloudmesh status=running progress=40 pid=7";
  const AttemptId out = start_then_wait("echo '" + line + "'");
  const AttemptId err = start_then_wait("echo '# atoll progress=3/4 msg=\"so far\"' >&2");
  ASSERT_TRUE(wait_percent(out, 40'000));
  ASSERT_TRUE(wait_percent(err, 75'000));
  EXPECT_EQ(progress(out)->status, "running");
  EXPECT_EQ(progress(out)->pid, 7u);
  EXPECT_GT(progress(out)->at.us, 0);
  EXPECT_EQ(progress(err)->message, "so far");
  EXPECT_EQ(output(out), line + "\n");
  open_gate();
  ASSERT_TRUE(seen_->wait_ended(out));
  driver_->forget({out});
  EXPECT_EQ(progress(out), std::nullopt);
}

TEST_F(LocalProgress, ManyLinesAreManyAndTheLastOneIsTold) {
  const AttemptId id = start_then_wait(
      "i=0; while [ $i -le 2000 ]; do echo \"# atoll progress=$i/2000\"; i=$((i+1)); done");
  ASSERT_TRUE(wait_percent(id, 100'000));
  open_gate();
}

TEST_F(LocalProgress, TheLastNewsBeforeTheEndAreTold) {
  const AttemptId id =
      start(shell("echo '# atoll progress=10'; sleep 0.1; printf '# atoll progress=20'"));
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(progress(id)->percent_milli, 20'000u);
}

TEST_F(LocalProgress, ComesFromAFileThatIsAppendedToOrReplaced) {
  const AttemptId id = start_then_wait(
      "echo '# atoll progress=10' >\"$ATOLL_PROGRESS_FILE\"; sleep 1.5\n"
      "echo '# atoll progress=20' >\"$ATOLL_PROGRESS_FILE\"");
  ASSERT_TRUE(wait_percent(id, 10'000));
  ASSERT_TRUE(wait_percent(id, 20'000));
  open_gate();
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_FALSE(std::filesystem::exists(driver_->job_directory(id.job))) << "nothing is left of it";
}

TEST_F(LocalProgress, AJobMayNameItsOwnLog) {
  StartOrder named = shell("echo '# atoll progress=30' >>train.log; while [ ! -e " + gate_path() +
                           " ]; do sleep 0.02; done");
  named.payload.directory = place_->home();
  named.payload.env["ATOLL_PROGRESS_FILE"] = "train.log";
  const AttemptId id = start(named);
  ASSERT_TRUE(wait_percent(id, 30'000));
  open_gate();
}

TEST_F(LocalProgress, ForgedLinesAreIgnoredAndCounted) {
  const AttemptId id = start_then_wait(
      "echo '# atoll progress=10'; echo '# cloudmesh status=done progress=150 pid=1'; "
      "echo '# atoll progress=-3' >&2");
  ASSERT_TRUE(wait_percent(id, 10'000));
  for (int i = 0; i < 1000 && progress(id)->ignored < 2; ++i) ::usleep(10000);
  EXPECT_EQ(progress(id)->ignored, 2u);
  EXPECT_EQ(progress(id)->percent_milli, 10'000u);
  open_gate();
}

TEST_F(LocalProgress, IsStillKnownToTheNextDriver) {
  const AttemptId id = start_then_wait("echo '# atoll progress=60 status=half'");
  ASSERT_TRUE(wait_percent(id, 60'000));
  open_driver(place_->options(), {id});
  ASSERT_TRUE(wait_percent(id, 60'000));
  EXPECT_EQ(progress(id)->status, "half");
  open_gate();
  ASSERT_TRUE(seen_->wait_ended(id));
}

class ProgressFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string directory_ = "/tmp/atoll-progress-" + std::to_string(::getpid());
  const std::string path_ = directory_ + "/progress";
  ProgressFile file_{path_, ::geteuid(), wall_now()};
  Progress seen_;
};

TEST_F(ProgressFileTest, OnlyChangesAreNews) {
  EXPECT_FALSE(file_.look(seen_)) << "there is none";
  write("# atoll progress=5\n");
  EXPECT_TRUE(file_.look(seen_));
  EXPECT_EQ(seen_.percent_milli, 5000u);
  EXPECT_FALSE(file_.look(seen_));
  write("# atoll progress=5\nother text\n");
  EXPECT_FALSE(file_.look(seen_));
  write("");
  EXPECT_FALSE(file_.look(seen_));
  EXPECT_EQ(seen_.percent_milli, 5000u);
}

TEST_F(ProgressFileTest, TheEndOfALongFileCounts) {
  write(std::string(1 << 20, 'x') + "\n# atoll progress=6\n");
  EXPECT_TRUE(file_.look(seen_));
  EXPECT_EQ(seen_.percent_milli, 6000u);
}

TEST_F(ProgressFileTest, ForgedLinesAreCountedOnce) {
  write("# atoll progress=500\n");
  EXPECT_TRUE(file_.look(seen_));
  write("# atoll progress=500\n# atoll progress=600\n");
  EXPECT_TRUE(file_.look(seen_));
  EXPECT_EQ(seen_.ignored, 2u);
  EXPECT_EQ(seen_.percent_milli, std::nullopt);
}

TEST_F(ProgressFileTest, WhatIsNoFileOfTheTaskIsNotRead) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(file_.look(seen_)) << "and does not wait for a writer";
  std::filesystem::remove(path_);
  std::ofstream(directory_ + "/other") << "# atoll progress=5\n";
  std::filesystem::create_symlink(directory_ + "/other", path_);
  EXPECT_FALSE(file_.look(seen_));
  std::filesystem::remove(path_);
  write("# atoll progress=5\n");
  ProgressFile of_another(path_, ::geteuid() + 1, wall_now());
  EXPECT_FALSE(of_another.look(seen_));
  ProgressFile later(path_, ::geteuid(), wall_now() + seconds(3600));
  EXPECT_FALSE(later.look(seen_)) << "it was there before the task";
}

}  // namespace
}  // namespace atl::site
