// A journal of every released format opens to the state it had. tests/golden/journal-v1 is written
// by this test when ATOLL_REWRITE=1, which is right only as long as no release has written that
// format.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "journal/home.h"
#include "journal/snapshot_file.h"
#include "journal/sqlite_journal.h"
#include "journal/testing.h"

namespace atl::journal {
namespace {

namespace fs = std::filesystem;

const std::string kGolden = "tests/golden/journal-v1";

core::JobSubmitted rich_job(const World& world) {
  core::JobSubmitted job;
  job.id = {world.state.counters.job + 1};
  job.ns = {2};
  job.user = {2};
  job.name = "sweep ü";
  job.terms.resources = {
      .cpu_milli = 500, .memory_bytes = 1 << 30, .devices = {{"gpu", "a100", 1}}};
  job.terms.priority = -5;
  job.terms.wall = hours(2);
  job.terms.grace = {};
  job.terms.retry = {.max = 3,
                     .backoff = seconds(2),
                     .backoff_max = seconds(60),
                     .exit_codes = {1, 75},
                     .on_timeout = true};
  job.terms.site = "local";
  job.terms.parallel_max = 2;
  job.array = true;
  job.indices = IntervalSet({1, 5});
  job.indices.add({8, 9});
  job.labels = {{"model", "t5"}};
  job.notify = {.webhook = "https://example.org/hook", .mail = ""};
  return job;
}

void found_accounts(World& world) {
  world.found();
  core::Quota quota;
  quota.cpu_milli = 8000;
  quota.devices = {{"gpu:a100", 2}};
  quota.queued = 100;
  world.happen(core::QuotaSet{.id = {2}, .quota = quota});
  world.happen(core::TokenCreated{.id = {1},
                                  .user = {2},
                                  .hash = make_blob("token").digest,
                                  .note = "laptop",
                                  .expires = {2000000000000000},
                                  .read_only = true,
                                  .namespaces = {{2}}});
  world.happen(core::UserCreated{.id = {3}, .name = "eve", .platform_admin = false, .uid = {}});
  world.happen(
      core::UserChanged{.id = {3}, .disabled = true, .platform_admin = false, .uid = 1003});
}

// Tasks of the array in every state that a task can be in.
void run_array(World& world, JobId id) {
  const core::Placement place{.site = {1}, .node = "n1", .devices = {}};
  for (const uint32_t index : {1, 2, 3, 4, 5}) {
    world.happen(core::TaskPlaced{.attempt = {id, index, 1}, .placement = place});
  }
  for (const uint32_t index : {2, 3, 4, 5}) {
    world.happen(core::TaskStarted{.attempt = {id, index, 1}, .started = world.state.now});
  }
  core::AttemptResult result{
      .cause = core::EndCause::exited, .exit_code = 75, .signal = 0, .checkpointed = true};
  result.usage = {.started = {1000}, .ended = {2000}, .cpu = seconds(3), .memory_peak_bytes = 4096};
  world.happen(core::TaskRetried{.attempt = {id, 3, 1},
                                 .reason = core::RetryReason::failed,
                                 .result = result,
                                 .not_before = world.state.now + hours(1)});
  world.happen(
      core::TaskStopping{.attempt = {id, 4, 1}, .reason = core::StopReason::requeued, .grace = {}});
  world.happen(core::TaskUnreachable{.attempt = {id, 2, 1}, .unreachable = true});
  world.happen(
      core::TaskEnded{.attempt = {id, 5, 1}, .outcome = core::Outcome::failed, .result = result});
  world.happen(core::WaitingEnded{.id = id,
                                  .indices = IntervalSet({8, 8}),
                                  .outcome = core::Outcome::cancelled,
                                  .message = "by hand"});
}

void write_golden() {
  fs::remove_all(kGolden);
  fs::create_directories(kGolden);
  World world;
  {
    auto journal = must(SqliteJournal::open(kGolden));
    found_accounts(world);
    must(journal->commit(world.take()));
    const JobId first = world.submit("first", "payload one", "key");
    world.run(first, core::Outcome::failed);
    core::JobSubmitted array = rich_job(world);
    world.batch.blobs.push_back(make_blob("payload two"));
    array.payload = world.batch.blobs.back().digest;
    const JobId id = array.id;
    world.happen(std::move(array));
    must(journal->commit(world.take()));
    run_array(world, id);
    must(journal->commit(world.take()));
    must(make_snapshot(kGolden));
    const JobId held = world.submit("held");
    world.happen(core::JobHeld{.id = held});
    core::JobSubmitted after;
    after.id = {world.state.counters.job + 1};
    after.ns = {1};
    after.user = {1};
    after.name = "after";
    after.indices = IntervalSet({0, 0});
    after.dependencies = {{.job = id, .kind = core::DependencyKind::after_end, .outcome = {}}};
    world.happen(std::move(after));
    must(journal->commit(world.take()));
  }
  fs::remove(kGolden + "/lock");
  std::ofstream(kGolden + "/state.txt") << state_text(world.state);
}

std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Golden : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* rewrite = std::getenv("ATOLL_REWRITE");
    if (rewrite && std::string(rewrite) == "1") write_golden();
  }
  Golden() { fs::copy(kGolden, dir / "home", fs::copy_options::recursive); }

  const TempDir dir;
  const std::string home = dir / "home";
  const std::string expected = read_text(kGolden + "/state.txt");
};

TEST_F(Golden, AJournalOfFormat1OpensToItsState) {
  auto journal = must(SqliteJournal::open(home));
  const Loaded loaded = must(journal->load());
  EXPECT_EQ(loaded.replayed, 1u);
  EXPECT_EQ(state_text(loaded.state), expected);
  EXPECT_EQ(core::broken_invariant(loaded.state), "");
}

TEST_F(Golden, ReplayWithoutTheSnapshotGivesTheSameState) {
  fs::remove_all(home + "/snapshots");
  auto journal = must(SqliteJournal::open(home));
  const Loaded loaded = must(journal->load());
  EXPECT_EQ(loaded.replayed, 4u);
  // Whether tasks are short was a yes or no when the snapshot was made; now two short ends count
  // two.
  std::string counted = expected;
  counted.replace(counted.find("brisk=1"), 7, "brisk=2");
  EXPECT_EQ(state_text(loaded.state), counted);
}

TEST_F(Golden, HistoryOfFormat1IsReadable) {
  auto journal = must(SqliteJournal::open(home));
  const EndedJob job = must(journal->history().job({1}));
  EXPECT_EQ(job.job.name, "first");
  EXPECT_EQ(job.outcome, core::Outcome::failed);
  EXPECT_EQ(must(journal->history().payload({1})), "payload one");
  EXPECT_EQ(must(journal->history().job_for_key({1}, "key")), JobId{1});
  const auto attempts = must(journal->history().attempts({2}, {}, 10));
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_TRUE(attempts[0].retried);
  EXPECT_EQ(attempts[0].result.usage.cpu, seconds(3));
}

}  // namespace
}  // namespace atl::journal
