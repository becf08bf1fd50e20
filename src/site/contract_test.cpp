#include "site/contract_test.h"

#include <unistd.h>

#include <chrono>

#include "base/overloaded.h"

namespace atl::site {

ReportSink Recorder::sink() {
  return [this](core::Report report) {
    const std::lock_guard lock(mutex_);
    match(
        report, [&](core::SiteProbed& r) { sites_.push_back(std::move(r.report)); },
        [&](core::AttemptStarted& r) {
          EXPECT_TRUE(ends_[r.attempt].empty()) << to_string(r.attempt) << " started after its end";
          starts_[r.attempt].push_back(r.started);
        },
        [&](core::AttemptEnded& r) { ends_[r.attempt].push_back(std::move(r.result)); },
        [](auto&) {});
    changed_.notify_all();
  };
}

template <class Ready>
bool Recorder::wait(int seconds, Ready ready) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(seconds), ready);
}

bool Recorder::wait_probed(int seconds) {
  return wait(seconds, [&] { return !sites_.empty(); });
}
bool Recorder::wait_started(AttemptId attempt, int seconds) {
  return wait(seconds, [&] { return !starts_[attempt].empty(); });
}
bool Recorder::wait_ended(AttemptId attempt, int seconds) {
  return wait(seconds, [&] { return !ends_[attempt].empty(); });
}
bool Recorder::wait_ended(size_t count, int seconds) {
  return wait(seconds, [&] {
    size_t ended = 0;
    for (const auto& [attempt, results] : ends_) ended += !results.empty();
    return ended >= count;
  });
}
core::AttemptResult Recorder::result(AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  return ends_[attempt].empty() ? core::AttemptResult{.exit_code = -1} : ends_[attempt].front();
}
core::SiteReport Recorder::site() {
  const std::lock_guard lock(mutex_);
  return sites_.empty() ? core::SiteReport{} : sites_.back();
}
size_t Recorder::starts(AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  return starts_[attempt].size();
}
size_t Recorder::ends(AttemptId attempt) {
  const std::lock_guard lock(mutex_);
  return ends_[attempt].size();
}

void SiteContract::SetUp() {
  place_ = GetParam().make();
  seen_ = std::make_unique<Recorder>();
  driver_ = place_->driver();
}

void SiteContract::TearDown() {
  if (driver_) driver_->close();
  driver_.reset();
  place_.reset();
}

StartOrder SiteContract::order(uint64_t job, core::Payload payload) {
  return {.attempt = {JobId{job}, 0, 1},
          .name = "job",
          .ns = "default",
          .uid = ::geteuid(),
          .grace = seconds(5),
          .payload = std::move(payload)};
}

void SiteContract::adopt(std::vector<AttemptId> expected) {
  driver_->adopt(std::move(expected), seen_->sink());
  ASSERT_TRUE(seen_->wait_probed());
}

void SiteContract::restart_driver() {
  driver_->close();
  driver_.reset();
  seen_ = std::make_unique<Recorder>();
  driver_ = place_->driver();
}

TEST_P(SiteContract, ProbesFirst) {
  adopt();
  ASSERT_FALSE(seen_->site().nodes.empty());
  EXPECT_GT(seen_->site().nodes[0].cpu_milli, 0);
}

TEST_P(SiteContract, ReportsTheExitCode) {
  adopt();
  driver_->start({order(1, place_->exiting(0)), order(2, place_->exiting(7))});
  ASSERT_TRUE(seen_->wait_ended(2));
  EXPECT_EQ(seen_->result({JobId{1}, 0, 1}).cause, core::EndCause::exited);
  EXPECT_EQ(seen_->result({JobId{1}, 0, 1}).exit_code, 0);
  EXPECT_EQ(seen_->result({JobId{2}, 0, 1}).exit_code, 7);
}

TEST_P(SiteContract, TellsTheStartOfWhatLasts) {
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->sleeping(300))});
  ASSERT_TRUE(seen_->wait_started(id));
  ASSERT_TRUE(seen_->wait_ended(id));
  const core::Usage usage = seen_->result(id).usage;
  EXPECT_GE((usage.ended - usage.started).us, 290000);
}

TEST_P(SiteContract, ARepeatedStartDoesNothingNew) {
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->sleeping(300))});
  driver_->start({order(1, place_->sleeping(300))});
  ASSERT_TRUE(seen_->wait_ended(id));
  driver_->start({order(2, place_->exiting(0))});
  ASSERT_TRUE(seen_->wait_ended({JobId{2}, 0, 1}));
  EXPECT_EQ(seen_->ends(id), 1u);
  EXPECT_EQ(seen_->starts(id), 1u);
}

TEST_P(SiteContract, StopsWithGrace) {
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->sleeping(60000))});
  ASSERT_TRUE(seen_->wait_started(id));
  driver_->stop({{id, seconds(20)}});
  ASSERT_TRUE(seen_->wait_ended(id, 10));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::stopped);
}

TEST_P(SiteContract, KillsWhatIgnoresTheGrace) {
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->stubborn())});
  ASSERT_TRUE(seen_->wait_started(id));
  ::usleep(200000);
  driver_->stop({{id, milliseconds(300)}});
  ASSERT_TRUE(seen_->wait_ended(id, 10));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::stopped);
}

TEST_P(SiteContract, StopBehindStartEndsIt) {
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->sleeping(60000))});
  driver_->stop({{id, seconds(0)}});
  ASSERT_TRUE(seen_->wait_ended(id, 10));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::stopped);
}

TEST_P(SiteContract, StoppingTheUnknownIsLost) {
  adopt();
  const AttemptId id{JobId{99}, 0, 1};
  driver_->stop({{id, seconds(1)}});
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::lost);
}

TEST_P(SiteContract, WallTimeEndsIt) {
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  StartOrder limited = order(1, place_->sleeping(60000));
  limited.wall = milliseconds(300);
  driver_->start({limited});
  ASSERT_TRUE(seen_->wait_ended(id, 10));
  EXPECT_EQ(seen_->result(id).cause, core::EndCause::wall_time);
}

TEST_P(SiteContract, AdoptsWhatRunsAndWhatEnded) {
  if (!place_->outlives_driver()) GTEST_SKIP() << "its work ends with the driver";
  adopt();
  const AttemptId runs{JobId{1}, 0, 1}, ended{JobId{2}, 0, 1}, never{JobId{3}, 0, 1};
  driver_->start({order(1, place_->sleeping(4000)), order(2, place_->exiting(3))});
  ASSERT_TRUE(seen_->wait_started(runs));
  ASSERT_TRUE(seen_->wait_ended(ended));
  restart_driver();
  adopt({runs, ended, never});
  ASSERT_TRUE(seen_->wait_started(runs));
  ASSERT_TRUE(seen_->wait_ended(ended));
  EXPECT_EQ(seen_->result(ended).exit_code, 3);
  ASSERT_TRUE(seen_->wait_ended(runs));
  EXPECT_EQ(seen_->result(runs).exit_code, 0);
  EXPECT_EQ(seen_->starts(never) + seen_->ends(never), 0u);
}

TEST_P(SiteContract, CollectsWhatEndedMeanwhile) {
  if (!place_->outlives_driver()) GTEST_SKIP() << "its work ends with the driver";
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->sleeping(400))});
  ASSERT_TRUE(seen_->wait_started(id));
  restart_driver();
  ::usleep(800000);
  adopt({id});
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(seen_->result(id).exit_code, 0);
}

TEST_P(SiteContract, StopsWhatIsNotExpected) {
  if (!place_->outlives_driver()) GTEST_SKIP() << "its work ends with the driver";
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->sleeping(60000))});
  ASSERT_TRUE(seen_->wait_started(id));
  restart_driver();
  adopt({});
  ::usleep(1000000);
  restart_driver();
  adopt({id});
  ::usleep(200000);
  EXPECT_EQ(seen_->starts(id) + seen_->ends(id), 0u);
}

TEST_P(SiteContract, ForgetsWhatIsDurable) {
  if (!place_->outlives_driver()) GTEST_SKIP() << "its work ends with the driver";
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, place_->exiting(0))});
  ASSERT_TRUE(seen_->wait_ended(id));
  driver_->forget({id});
  restart_driver();
  adopt({id});
  ::usleep(200000);
  EXPECT_EQ(seen_->ends(id), 0u);
}

TEST_P(SiteContract, LogsAreReadByOffset) {
  const std::optional<core::Payload> talking = place_->talking();
  if (!talking) GTEST_SKIP() << "it has no logs";
  adopt();
  const AttemptId id{JobId{1}, 0, 1};
  driver_->start({order(1, *talking)});
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(seen_->result(id).stdout_bytes, 6);
  const Result<LogChunk> all = driver_->logs(id, LogStream::out, 0, 100);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->bytes, "hello\n");
  EXPECT_EQ(all->size, 6);
  const Result<LogChunk> part = driver_->logs(id, LogStream::out, 2, 3);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->bytes, "llo");
  EXPECT_EQ(part->offset, 2);
  EXPECT_EQ(driver_->logs(id, LogStream::err, 0, 100)->bytes, "");
}

TEST_P(SiteContract, TellsTheNewestProgressInTheOrderAsked) {
  adopt();
  const AttemptId unknown{JobId{9}, 0, 1}, runs{JobId{1}, 0, 1};
  EXPECT_TRUE(driver_->progress({}).empty());
  driver_->start({order(1, place_->progressing())});
  std::vector<std::optional<Progress>> seen;
  const auto half = [&] {
    seen = driver_->progress(std::vector{unknown, runs, unknown});
    return seen.at(1) && seen[1]->percent_milli.value_or(0) >= 50'000;
  };
  while (!half() && seen_->ends(runs) == 0) ::usleep(10000);
  ASSERT_TRUE(seen[1].has_value());
  EXPECT_GE(seen[1]->percent_milli, 50'000u);
  EXPECT_LE(seen[1]->percent_milli, kPercentMilliMax);
  EXPECT_GT(seen[1]->at.us, 0);
  EXPECT_EQ(seen[0], std::nullopt);
  EXPECT_EQ(seen[2], std::nullopt);
  ASSERT_TRUE(seen_->wait_ended(runs));
  driver_->forget({runs});
  EXPECT_EQ(driver_->progress({&runs, 1}).at(0), std::nullopt);
}

TEST_P(SiteContract, TwoHundredAtOnce) {
  adopt();
  std::vector<StartOrder> orders;
  for (uint64_t job = 1; job <= 200; ++job) orders.push_back(order(job, place_->sleeping(1000)));
  driver_->start(std::move(orders));
  ASSERT_TRUE(seen_->wait_ended(size_t{200}, place_->patience()));
  for (uint64_t job = 1; job <= 200; ++job) {
    const core::AttemptResult result = seen_->result({JobId{job}, 0, 1});
    EXPECT_EQ(result.exit_code, 0)
        << job << ": " << enum_name(result.cause) << ", " << result.message;
    EXPECT_EQ(seen_->ends({JobId{job}, 0, 1}), 1u);
  }
}

}  // namespace atl::site
