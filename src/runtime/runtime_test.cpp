#include "runtime/runtime.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/wire.h"
#include "journal/memory_journal.h"

namespace atl::runtime {
namespace {

class ManualClock : public Clock {
 public:
  Time now() override { return time; }
  Time time{1'000'000};
};

// Records every order and insists on nothing else.
class RecordingDriver : public site::SiteDriver {
 public:
  void adopt(std::vector<AttemptId> expected, site::ReportSink sink) override {
    adopted = std::move(expected);
    report = std::move(sink);
    report(core::SiteProbed{site, {{{"n1", 2000, 1 << 30, {}}}, {}}});
  }
  void start(std::vector<site::StartOrder> orders) override {
    for (auto& order : orders) started.push_back(std::move(order));
  }
  void stop(std::vector<site::StopOrder> orders) override {
    for (auto& order : orders) stopped.push_back(order);
  }
  void forget(std::vector<AttemptId> attempts) override {
    forgotten.insert(forgotten.end(), attempts.begin(), attempts.end());
  }
  Result<site::LogChunk> logs(AttemptId, site::LogStream, int64_t, size_t) override {
    return fail(ErrorCode::not_found, "no logs");
  }
  Result<site::ExecResult> exec(const site::ExecRequest&) override {
    return fail(ErrorCode::unavailable, "no exec");
  }
  std::string job_directory(JobId) override { return {}; }
  void purge(JobId) override {}
  void close() override {}

  std::string site = "local";
  std::vector<AttemptId> adopted;
  std::vector<site::StartOrder> started;
  std::vector<site::StopOrder> stopped;
  std::vector<AttemptId> forgotten;
  site::ReportSink report;
};

class RuntimeTest : public ::testing::Test {
 protected:
  RuntimeTest() { boot(); }

  void boot() {
    driver = std::make_shared<RecordingDriver>();
    runtime = std::make_unique<Runtime>(clock, journal, journal.history());
    runtime->add_driver("local", driver);
    ASSERT_TRUE(runtime->open());
    if (runtime->state().users.empty()) seed();
    runtime->adopt();
    drain();
  }
  void seed() {
    ask(core::CreateUser{"root", true, 0}, {});
    ask(core::CreateNamespace{"lab", ""});
    ask(core::AddSite{"local", "simulated"});
  }
  void drain() {
    while (runtime->step()) {
    }
  }
  Result<Accepted> ask(core::Command command, UserId by = UserId{1},
                       std::vector<journal::Blob> blobs = {}) {
    std::optional<Result<Accepted>> answer;
    runtime->post(Submission{{core::Actor{by, false, {}}, std::move(command)}, std::move(blobs)},
                  [&](Result<Accepted> result) { answer = std::move(result); });
    drain();
    EXPECT_TRUE(answer.has_value()) << "every request is answered";
    return answer ? std::move(*answer) : fail(ErrorCode::internal, "no answer");
  }
  // Waits in the queue; drain() decides it.
  void post(core::Command command, std::optional<Result<Accepted>>& answer) {
    runtime->post(Submission{{core::Actor{UserId{1}, false, {}}, std::move(command)}, {}},
                  [&](Result<Accepted> result) { answer = std::move(result); });
  }
  static core::SubmitJob plain_job() {
    core::SubmitJob job;
    job.ns = "lab";
    job.terms.resources.cpu_milli = 1000;
    job.indices = IntervalSet({0, 0});
    return job;
  }
  static core::AttemptResult failure() {
    core::AttemptResult failed;
    failed.exit_code = 1;
    return failed;
  }
  Result<Accepted> submit(std::string key = "", std::string name = "job") {
    core::Payload payload;
    payload.argv = {"/bin/true", name};
    core::SubmitJob job = plain_job();
    job.name = std::move(name);
    job.key = std::move(key);
    job.payload.bytes[0] = static_cast<uint8_t>(job.name.size() + 1);
    const journal::Blob blob{job.payload, wire::encode(payload)};
    return ask(core::SubmitJobs{{job}}, UserId{1}, {blob});
  }

  ManualClock clock;
  journal::MemoryJournal journal;
  std::shared_ptr<RecordingDriver> driver;
  std::unique_ptr<Runtime> runtime;
};

TEST_F(RuntimeTest, ASubmissionIsAnsweredDurableAndStarted) {
  const auto accepted = submit();
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted->jobs, std::vector<JobId>{JobId{1}});
  ASSERT_EQ(driver->started.size(), 1u);
  EXPECT_EQ(driver->started[0].payload.argv.at(0), "/bin/true");
  EXPECT_EQ(driver->started[0].user, "root");
  EXPECT_EQ(driver->started[0].ns, "lab");
}

TEST_F(RuntimeTest, ADriverThatComesWhileItRunsGetsTheWorkOfItsSite) {
  ASSERT_TRUE(ask(core::AddSite{"late", "simulated", "{}"}));
  const SiteId id = runtime->state().site_named("late")->id;
  const auto late = std::make_shared<RecordingDriver>();
  late->site = "late";
  runtime->attach(id, late);
  drain();
  EXPECT_EQ(runtime->drivers().find("late"), late);
  core::SubmitJob job = plain_job();
  job.terms.site = "late";
  ASSERT_TRUE(ask(core::SubmitJobs{{job}}));
  ASSERT_EQ(late->started.size(), 1u);
  EXPECT_TRUE(driver->started.empty());

  // Another one for the same site is told what runs there, and what may never have been started.
  const auto next = std::make_shared<RecordingDriver>();
  next->site = "late";
  runtime->attach(id, next);
  drain();
  EXPECT_EQ(next->adopted, std::vector{late->started[0].attempt});
  ASSERT_EQ(next->started.size(), 1u);
  EXPECT_TRUE(next->started[0].repeated);
}

TEST_F(RuntimeTest, ADriverWhoseSiteIsGoneIsNotTaken) {
  ASSERT_TRUE(ask(core::AddSite{"late", "simulated", "{}"}));
  const SiteId id = runtime->state().site_named("late")->id;
  ASSERT_TRUE(ask(core::RemoveSite{"late"}));
  const auto late = std::make_shared<RecordingDriver>();
  runtime->attach(id, late);
  drain();
  EXPECT_EQ(runtime->drivers().find("late"), nullptr);
  EXPECT_FALSE(late->report);
}

TEST_F(RuntimeTest, ARepeatedKeyGivesTheFirstAnswerAndNoSecondJob) {
  const auto first = submit("k1");
  const auto again = submit("k1");
  EXPECT_EQ(first->jobs, again->jobs);
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(driver->started.size(), 1u);
  boot();
  EXPECT_EQ(submit("k1")->jobs, first->jobs) << "and so after a restart";
  EXPECT_EQ(submit("k1", "another command").error().code, ErrorCode::conflict);
}

TEST_F(RuntimeTest, AKeyIsKnownInTheTurnInWhichItsJobEnds) {
  core::SubmitJob job = plain_job();
  job.key = "k1";
  const auto first = ask(core::SubmitJobs{{job}});
  ASSERT_TRUE(first);
  std::optional<Result<Accepted>> again;
  driver->report(core::AttemptEnded{{first->jobs.at(0), 0, 1}, {}});
  post(core::SubmitJobs{{job}}, again);
  drain();
  ASSERT_TRUE(again && *again) << again->error().message;
  EXPECT_EQ((*again)->jobs, first->jobs);
}

TEST_F(RuntimeTest, TheSameKeyTwiceInOneTurnIsOneJob) {
  std::vector<JobId> ids;
  for (int i = 0; i < 2; ++i) {
    core::SubmitJob job = plain_job();
    job.key = "twice";
    runtime->post(Submission{{core::Actor{UserId{1}, false, {}}, core::SubmitJobs{{job}}},
                             {{job.payload, wire::encode(core::Payload{})}}},
                  [&](Result<Accepted> result) { ids.push_back(result->jobs.at(0)); });
  }
  drain();
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(ids[0], ids[1]);
}

TEST_F(RuntimeTest, NothingIsSentOrAnsweredBeforeItIsDurable) {
  journal.set_full(true);
  const auto refused = submit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(driver->started.empty());
  EXPECT_TRUE(runtime->state().jobs.empty()) << "the state went back to what is durable";
  EXPECT_TRUE(runtime->health().read_only);
  EXPECT_EQ(submit().error().code, ErrorCode::unavailable);
}

TEST_F(RuntimeTest, AfterAFullDiskItGoesOnAndReportsAreNotLost) {
  ASSERT_TRUE(submit());
  journal.set_full(true);
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, {}});
  drain();
  EXPECT_EQ(runtime->state().jobs.size(), 1u);
  journal.set_full(false);
  clock.time = clock.time + seconds(2);
  for (int i = 0; i < 5; ++i) runtime->step();
  EXPECT_FALSE(runtime->health().read_only);
  EXPECT_TRUE(runtime->state().jobs.empty()) << "the kept report was decided again";
  EXPECT_TRUE(submit("", "later"));
}

TEST_F(RuntimeTest, ADoubtfulCommitIsFoundAgainAndItsEffectsSent) {
  journal.fail_commit(1, journal::MemoryJournal::Fault::doubtful);
  EXPECT_FALSE(submit("doubt"));
  journal.crash(true);
  boot();
  EXPECT_EQ(driver->started.size(), 1u);
  EXPECT_TRUE(driver->started[0].repeated);
  EXPECT_TRUE(submit("doubt")->repeated);
}

TEST_F(RuntimeTest, ARestartRepeatsUnconfirmedStartsAndAsksTheSite) {
  ASSERT_TRUE(submit());
  ASSERT_TRUE(submit("", "second"));
  driver->report(core::AttemptStarted{{JobId{1}, 0, 1}, clock.time});
  drain();
  boot();
  EXPECT_EQ(driver->adopted.size(), 2u);
  ASSERT_EQ(driver->started.size(), 1u) << "only the one not known to run";
  EXPECT_EQ(driver->started[0].attempt.job, JobId{2});
}

TEST_F(RuntimeTest, AStaleReportIsForgottenSoThatTheSiteDropsItsCopy) {
  ASSERT_TRUE(submit());
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, {}});
  drain();
  driver->forgotten.clear();
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, {}});
  drain();
  EXPECT_EQ(driver->forgotten, (std::vector<AttemptId>{{JobId{1}, 0, 1}}));
}

TEST_F(RuntimeTest, DependenciesOnEndedJobsAreLookedUp) {
  ASSERT_TRUE(submit());
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, failure()});
  drain();
  core::SubmitJob job = plain_job();
  job.dependencies = {{JobId{1}, core::DependencyKind::after_failure, {}}};
  ASSERT_TRUE(ask(core::SubmitJobs{{job}}, UserId{1}, {{job.payload, ""}}));
  EXPECT_EQ(driver->started.size(), 2u);
  job.dependencies = {{JobId{77}, core::DependencyKind::after_end, {}}};
  EXPECT_EQ(ask(core::SubmitJobs{{job}}, UserId{1}, {{job.payload, ""}}).error().field, "after");
}

TEST_F(RuntimeTest, AnEndedJobCanBeRequeuedWithItsNextAttempt) {
  ASSERT_TRUE(submit());
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, failure()});
  drain();
  ASSERT_TRUE(runtime->state().jobs.empty());
  const auto requeued = ask(core::RequeueJob{JobId{1}, {}, {}});
  ASSERT_TRUE(requeued) << requeued.error().message;
  ASSERT_EQ(driver->started.size(), 2u);
  EXPECT_EQ(driver->started[1].attempt, (AttemptId{JobId{1}, 0, 2}));
  EXPECT_EQ(driver->started[1].payload.argv.at(0), "/bin/true");
  driver->report(core::AttemptEnded{{JobId{1}, 0, 2}, {}});
  drain();
  EXPECT_EQ(journal.job(JobId{1})->outcome, core::Outcome::succeeded);
}

TEST_F(RuntimeTest, AStrangerLearnsNothingOfAnEndedJob) {
  ASSERT_TRUE(submit());
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, failure()});
  drain();
  ASSERT_TRUE(ask(core::CreateUser{"stranger", false, {}}));
  const auto refused = ask(core::RequeueJob{JobId{1}, {}, {}}, UserId{2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_EQ(refused.error().message, "there is no job 1");
}

TEST_F(RuntimeTest, AJobMayBeRequeuedInTheTurnInWhichItEnds) {
  ASSERT_TRUE(submit());
  std::optional<Result<Accepted>> answer;
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, failure()});
  post(core::RequeueJob{JobId{1}, {}, {}}, answer);
  drain();
  ASSERT_TRUE(answer && *answer) << "history is asked only once it knows of the end";
  EXPECT_EQ(driver->started.back().attempt, (AttemptId{JobId{1}, 0, 2}));
}

TEST_F(RuntimeTest, AJobMayDependOnOneThatEndsInTheSameTurn) {
  ASSERT_TRUE(submit());
  std::optional<Result<Accepted>> answer;
  core::SubmitJob job = plain_job();
  job.dependencies = {{JobId{1}, core::DependencyKind::after_failure, {}}};
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, failure()});
  post(core::SubmitJobs{{job}}, answer);
  drain();
  ASSERT_TRUE(answer && *answer) << "history is asked only once it knows of the end";
  EXPECT_EQ(driver->started.back().attempt.job, JobId{2});
}

TEST_F(RuntimeTest, ARequeuedIndexLeavesTheOthersTheirOutcome) {
  ASSERT_TRUE(submit());
  core::SubmitJob array = plain_job();
  array.array = true;
  array.indices = IntervalSet({1, 3});
  array.dependencies = {{JobId{1}, core::DependencyKind::after_success, {}}};
  ASSERT_TRUE(ask(core::SubmitJobs{{array}}));
  ASSERT_TRUE(ask(core::CancelJob{JobId{2}, 2u, {}}));
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, failure()});
  drain();
  const auto tally = [&](core::Outcome outcome) {
    return journal.job(JobId{2})->job.tally[static_cast<size_t>(outcome)];
  };
  EXPECT_EQ(tally(core::Outcome::cancelled), 1u);
  EXPECT_EQ(tally(core::Outcome::skipped), 2u);
  for (const uint32_t index : {2u, 1u}) {
    ASSERT_TRUE(ask(core::RequeueJob{JobId{2}, index, {}}));
    driver->report(core::AttemptEnded{{JobId{2}, index, 1}, {}});
    drain();
  }
  EXPECT_EQ(tally(core::Outcome::cancelled), 0u);
  EXPECT_EQ(tally(core::Outcome::skipped), 1u);
  EXPECT_EQ(tally(core::Outcome::succeeded), 2u);
}

TEST_F(RuntimeTest, AClockSetBackDoesNotStopTime) {
  core::SubmitJob job = plain_job();
  job.terms.retry.max = 1;
  job.terms.retry.backoff = seconds(10);
  ASSERT_TRUE(ask(core::SubmitJobs{{job}}));
  driver->report(core::AttemptEnded{{JobId{1}, 0, 1}, failure()});
  drain();
  const Time before = runtime->state().now;
  clock.time.us -= hours(1).us;
  for (int i = 0; i < 60 && driver->started.size() < 2; ++i) {
    clock.time = clock.time + seconds(1);
    drain();
  }
  ASSERT_EQ(driver->started.size(), 2u) << "the back-off ended though the clock is an hour behind";
  EXPECT_GT(runtime->state().now, before);
}

TEST_F(RuntimeTest, ABatchOfKeysIsKnownAsAWhole) {
  core::SubmitJobs batch{{plain_job(), plain_job()}};
  batch.jobs[0].key = "a";
  EXPECT_EQ(ask(batch).error().field, "jobs[1].key") << "all have a key or none has";
  batch.jobs[1].key = "b";
  const auto first = ask(batch);
  ASSERT_TRUE(first);
  EXPECT_EQ(ask(batch)->jobs, first->jobs);
  batch.jobs[1].key = "c";
  EXPECT_EQ(ask(batch).error().code, ErrorCode::conflict);
}

TEST_F(RuntimeTest, ReadsSeeOnlyWhatIsDurable) {
  size_t seen = 99;
  runtime->post(
      Submission{{core::Actor{UserId{1}, false, {}}, core::SubmitJobs{{core::SubmitJob{}}}}, {}},
      nullptr);
  runtime->read([&](const core::State& state) { seen = state.jobs.size(); });
  drain();
  EXPECT_EQ(seen, 0u);
}

TEST_F(RuntimeTest, TheThreadedLoopServesManyClients) {
  std::atomic<int> answered{0};
  runtime->start();
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 100; ++i) {
        core::SubmitJob job = plain_job();
        job.name = "job-" + std::to_string(c) + "-" + std::to_string(i);
        runtime->post(Submission{{core::Actor{UserId{1}, false, {}}, core::SubmitJobs{{job}}},
                                 {{job.payload, ""}}},
                      [&](Result<Accepted> result) { answered += result.has_value(); });
        runtime->read([](const core::State&) {});
      }
    });
  }
  for (std::thread& client : clients) client.join();
  while (answered < 400) std::this_thread::yield();
  runtime->stop();
  EXPECT_EQ(runtime->state().jobs.size(), 400u);
}

}  // namespace
}  // namespace atl::runtime
