#include "steward/steward.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "base/wire.h"
#include "journal/memory_journal.h"
#include "spec/tapis/tapis_plan.h"
#include "spec/workflow/plan.h"

namespace atl::steward {
namespace {

// A site whose jobs have left files in a directory.
class Shelf : public site::SiteDriver {
 public:
  void adopt(std::vector<AttemptId>, site::ReportSink) override {}
  void start(std::vector<site::StartOrder>) override {}
  void stop(std::vector<site::StopOrder>) override {}
  void forget(std::vector<AttemptId>) override {}
  Result<site::LogChunk> logs(AttemptId, site::LogStream, int64_t, size_t) override {
    return fail(ErrorCode::not_found, "no log");
  }
  Result<site::ExecResult> exec(const site::ExecRequest&) override {
    return fail(ErrorCode::not_found, "no exec");
  }
  std::string job_directory(JobId job) override { return root + "/" + to_string(job); }
  void purge(JobId) override {}
  void close() override {}

  std::string root;
};

class StewardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-steward-XXXXXX";
    shelf->root = mkdtemp(name);
    drivers.put("local", shelf);
  }
  void TearDown() override { std::system(("rm -rf " + shelf->root).c_str()); }

  // Submits the file as a workflow that history knows; its number.
  WorkflowId submit(const std::string& text,
                    const std::map<std::string, std::string>& params = {}) {
    const auto file = spec::parse_workflow(text, "f");
    EXPECT_TRUE(file) << (file ? "" : file.error().message);
    const auto plan = spec::plan_workflow(*file, {.params = params, .directory = shelf->root});
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    return submit(*plan);
  }
  WorkflowId submit(const spec::WorkflowPlan& plan) {
    spec::StepMaker maker;
    spec::StepsBatch batch;
    for (const spec::PlannedStep& step : plan.steps) EXPECT_TRUE(maker.add(step, batch));
    const WorkflowId id{++last_};
    journal::Batch events;
    for (auto& [digest, bytes] : batch.blobs) events.blobs.push_back({digest, bytes});
    events.blobs.push_back({spec::sha256("{}"), "{}"});
    core::WorkflowSubmitted submitted;
    submitted.id = id;
    submitted.ns = {1};
    submitted.name = "flow";
    submitted.files = spec::sha256("{}");
    events.events.push_back({{}, {}, submitted});
    events.events.push_back({{}, {}, core::StepsAdded{id, 0, batch.kinds, batch.steps}});
    EXPECT_TRUE(journal.commit(events));
    recipes.clear();
    for (const core::NewStep& step : batch.steps) recipes.push_back(step.recipe);
    return id;
  }
  void end(WorkflowId id, uint32_t step, const std::string& outputs, Digest cache = {}) {
    journal::Batch batch;
    core::StepsEnded ended{
        id, IntervalSet({step, step}), core::StepState::succeeded, "", outputs, {}, cache, {}};
    batch.events.push_back({{1'000'000}, {}, ended});
    EXPECT_TRUE(journal.commit(batch));
  }
  Prepared make(WorkflowId id, uint32_t step) {
    return prepare({journal, drivers}, {{id, step}, recipes[step]});
  }
  std::string script_of(const Prepared& prepared) {
    const auto payload = wire::decode<core::Payload>(prepared.blobs.at(0).bytes);
    EXPECT_TRUE(payload);
    return payload ? payload->script : "";
  }
  // A job that has ended, with files among its outputs.
  JobId ended_job(const std::map<std::string, std::string>& outputs, uint64_t tasks = 1) {
    const JobId id{++job_};
    const std::string directory = shelf->job_directory(id);
    mkdir(directory.c_str(), 0755);
    mkdir((directory + "/outputs").c_str(), 0755);
    for (const auto& [name, text] : outputs) {
      const size_t slash = name.find('/');
      if (slash != std::string::npos)
        mkdir((directory + "/outputs/" + name.substr(0, slash)).c_str(), 0755);
      std::ofstream(directory + "/outputs/" + name) << text;
    }
    journal::Batch batch;
    core::ArchiveJob archive;
    archive.job.id = id;
    archive.job.size = tasks;
    archive.job.array = tasks > 1;
    batch.archive.push_back(archive);
    batch.events.push_back({{}, {}, core::PolicySet{}});
    EXPECT_TRUE(journal.commit(batch));
    return id;
  }
  // The job was submitted with what was prepared.
  void submitted(JobId id, const Prepared& prepared) {
    journal::Batch batch;
    batch.blobs = prepared.blobs;
    core::JobSubmitted job;
    job.id = id;
    job.payload = prepared.report.payload;
    batch.events.push_back({{}, {}, job});
    EXPECT_TRUE(journal.commit(batch));
  }
  core::StepCollected look(WorkflowId id, uint32_t step, JobId job) {
    return collect({journal, drivers}, {{id, step}, recipes[step], job});
  }

  journal::MemoryJournal journal;
  std::shared_ptr<Shelf> shelf = std::make_shared<Shelf>();
  site::DriverTable drivers;
  std::vector<Digest> recipes;
  uint64_t last_ = 0;
  uint64_t job_ = 0;
};

using Outcome = core::StepPrepared::Result;

TEST_F(StewardTest, WhatOthersLeftIsPutIn) {
  const WorkflowId id = submit(
      "steps:\n  count: {run: x, outputs: {n: {}, model: {file: m.pt}}}\n"
      "  use: {run: 'echo {steps.count.outputs.n} {steps.count.outputs.model} ${HOME}'}\n");
  end(id, 0, R"({"n":"3","model":{"file":"/data/m.pt","size":1,"sha256":"00"}})");
  const Prepared made = make(id, 1);
  ASSERT_EQ(made.report.result, Outcome::run) << made.report.message;
  EXPECT_NE(script_of(made).find("echo 3 /data/m.pt ${HOME}"), std::string::npos);
}

TEST_F(StewardTest, AConditionThatDoesNotHoldSkips) {
  const std::string text =
      "params: {mode: full}\nsteps:\n  find: {run: x, outputs: [n]}\n"
      "  use: {run: x, needs: find, when: [{gt: ['{steps.find.outputs.n}', 2]}, {eq: "
      "['{params.mode}', full]}]}\n";
  const WorkflowId id = submit(text);
  end(id, 0, R"({"n":"3"})");
  EXPECT_EQ(make(id, 1).report.result, Outcome::run);
  const WorkflowId other = submit(text, {{"mode", "quick"}});
  end(other, 0, R"({"n":"3"})");
  const Prepared skipped = make(other, 1);
  EXPECT_EQ(skipped.report.result, Outcome::skip);
  EXPECT_NE(skipped.report.message.find("does not hold"), std::string::npos);
}

TEST_F(StewardTest, AMissingOutputIsAFailureThatSaysSo) {
  const WorkflowId id =
      submit("steps:\n  a: {run: x, outputs: [n]}\n  b: {run: 'echo {steps.a.outputs.n}'}\n");
  end(id, 0, "{}");
  const Prepared made = make(id, 1);
  EXPECT_EQ(made.report.result, Outcome::fail);
  EXPECT_EQ(made.report.message, "step a has left no output n");
}

TEST_F(StewardTest, ALeftListIsGoneThrough) {
  const WorkflowId id = submit(
      "steps:\n  find: {run: x, outputs: [names]}\n"
      "  each: {run: 'echo {item}', for_each: '{steps.find.outputs.names}'}\n");
  end(id, 0, R"({"names":"a\nb\nc"})");
  const Prepared made = make(id, 1);
  ASSERT_EQ(made.report.result, Outcome::run) << made.report.message;
  EXPECT_TRUE(made.report.array);
  EXPECT_EQ(made.report.indices, IntervalSet({0, 2}));
  const WorkflowId none = submit(
      "steps:\n  find: {run: x, outputs: [names]}\n"
      "  each: {run: 'echo {item}', for_each: '{steps.find.outputs.names}'}\n");
  end(none, 0, R"({"names":""})");
  EXPECT_EQ(make(none, 1).report.result, Outcome::skip);
}

TEST_F(StewardTest, AnEarlierSuccessIsFoundAgainUntilSomethingChanges) {
  const std::string text =
      "params: {n: 1}\nsteps:\n  a: {run: 'echo {params.n}', cache: true, outputs: [v]}\n";
  const WorkflowId id = submit(text);
  const Prepared first = make(id, 0);
  EXPECT_EQ(first.report.result, Outcome::run);
  const JobId job = ended_job({{"v", "7\n"}});
  submitted(job, first);
  const core::StepCollected collected = look(id, 0, job);
  ASSERT_FALSE(collected.failed) << collected.message;
  ASSERT_NE(collected.cache, Digest{});
  end(id, 0, collected.outputs, collected.cache);
  const WorkflowId again = submit(text);
  const Prepared same = make(again, 0);
  EXPECT_EQ(same.report.result, Outcome::reuse);
  EXPECT_EQ(same.report.outputs, R"({"v":"7"})");
  EXPECT_EQ(same.report.reused, (core::StepRef{id, 0}));
  EXPECT_EQ(make(submit(text, {{"n", "2"}}), 0).report.result, Outcome::run);
}

TEST_F(StewardTest, OutputsAreReadAndChecked) {
  const WorkflowId id = submit(
      "steps:\n  a: {run: x, outputs: {acc: {}, model: {file: m.pt}}, check: [{ge: "
      "['{outputs.acc}', 0.9]}]}\n");
  const JobId good =
      ended_job({{"acc", "0.95\n"}, {".files", "model\t12\tabc\t/data/m.pt\nbad line\n"}});
  const core::StepCollected fine = look(id, 0, good);
  ASSERT_FALSE(fine.failed) << fine.message;
  EXPECT_EQ(fine.outputs,
            R"({"acc":"0.95","model":{"file":"/data/m.pt","size":12,"sha256":"abc"}})");
  const JobId poor = ended_job({{"acc", "0.5"}, {".files", "model\t12\tabc\t/data/m.pt\n"}});
  EXPECT_EQ(look(id, 0, poor).message, R"(check failed: {"ge":["{outputs.acc}",0.9]})");
  const JobId silent = ended_job({{".files", "model\t12\tabc\t/data/m.pt\n"}});
  EXPECT_TRUE(look(id, 0, silent).failed);
  const JobId huge = ended_job({{"acc", std::string(70 << 10, '1')}, {".files", ""}});
  EXPECT_TRUE(look(id, 0, huge).failed);
}

// A task of a pipeline whose values have types, behind one that has left `outputs`.
class TypedSteps : public StewardTest {
 protected:
  WorkflowId submit_typed(const std::string& more, const std::string& outputs) {
    const auto pipeline = spec::tapis::read_pipeline(
        R"({"id":"p","tasks":[{"id":"gen","type":"function","code":"eA==",)"
        R"("output":{"N":{"type":"number"},"T":{"type":"string"}}},)"
        R"({"id":"use","type":"function","code":"eA==","depends_on":[{"id":"gen"}])" +
        more + "}]}");
    EXPECT_TRUE(pipeline) << pipeline.error().message;
    const auto plan = spec::tapis::plan_pipeline(*pipeline, {});
    EXPECT_TRUE(plan) << plan.error().message;
    const WorkflowId id = submit(*plan);
    end(id, 0, outputs);
    return id;
  }
};

constexpr const char* kInputs =
    R"(,"input":{"X":{"value_from":{"task_output":{"task_id":"gen","output_id":"T"}}},)"
    R"("Y":{"required":false,"value_from":{"task_output":{"task_id":"gen","output_id":"N"}}}})";

TEST_F(TypedSteps, VariablesAreSetToWhatWasLeftAsItIs) {
  const WorkflowId id = submit_typed(kInputs, R"({"N":0.5,"T":"{steps.gen.outputs.N} '$(x)'"})");
  const Prepared made = make(id, 1);
  ASSERT_EQ(made.report.result, Outcome::run) << made.report.message;
  const auto payload = wire::decode<core::Payload>(made.blobs.at(0).bytes);
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->env.at("ATOLL_TASK_INPUT_X"), "{steps.gen.outputs.N} '$(x)'");
  EXPECT_EQ(payload->env.at("ATOLL_TASK_INPUT_Y"), "0.5");
  EXPECT_EQ(payload->env.at("ATOLL_WORKFLOW"), to_string(id));
}

TEST_F(TypedSteps, WhatWasNotLeftIsNullAndMayBeNeeded) {
  const Prepared fine = make(submit_typed(kInputs, R"({"N":null,"T":"x"})"), 1);
  ASSERT_EQ(fine.report.result, Outcome::run) << fine.report.message;
  EXPECT_FALSE(
      wire::decode<core::Payload>(fine.blobs.at(0).bytes)->env.contains("ATOLL_TASK_INPUT_Y"));
  const Prepared bad = make(submit_typed(kInputs, R"({"N":1,"T":null})"), 1);
  EXPECT_EQ(bad.report.result, Outcome::fail);
  EXPECT_NE(bad.report.message.find("has left no output T"), std::string::npos);
}

TEST_F(TypedSteps, ConditionsKnowTypesAndNull) {
  const auto result = [&](const std::string& condition, const std::string& outputs) {
    return make(submit_typed(R"(,"conditions":[)" + condition + "]", outputs), 1).report.result;
  };
  const std::string n = R"({"task_output":{"task_id":"gen","output_id":"N"}})";
  EXPECT_EQ(result(R"({"eq":[)" + n + ",3]}", R"({"N":3})"), Outcome::run);
  EXPECT_EQ(result(R"({"eq":[)" + n + R"(,"3"]})", R"({"N":3})"), Outcome::skip);
  EXPECT_EQ(result(R"({"eq":[)" + n + ",null]}", "{}"), Outcome::run);
}

TEST_F(TypedSteps, OutputsHaveTheTypeThatWasPromised) {
  const WorkflowId id = submit_typed("", "{}");
  const auto left = [&](const std::map<std::string, std::string>& files) {
    return look(id, 0, ended_job(files));
  };
  EXPECT_EQ(left({{"N", "3"}, {"T", "3"}}).outputs, R"({"N":3,"T":"3"})");
  EXPECT_EQ(left({{"T", ""}}).outputs, R"({"N":null,"T":""})");
  EXPECT_EQ(left({{"N", "three"}}).message, "output N is \"three\", which is no number");
}

TEST_F(StewardTest, OutputsThatAreLinksAreNotFollowed) {
  const WorkflowId id = submit("steps:\n  a: {run: x, outputs: [secret]}\n");
  const JobId job = ended_job({});
  const std::string link = shelf->job_directory(job) + "/outputs/secret";
  ASSERT_EQ(symlink("/etc/passwd", link.c_str()), 0);
  const core::StepCollected collected = look(id, 0, job);
  EXPECT_TRUE(collected.failed);
  EXPECT_EQ(collected.outputs, "");
}

TEST_F(StewardTest, TasksLeaveLists) {
  const WorkflowId id = submit("steps:\n  a: {run: x, outputs: [n], for_each: [p, q]}\n");
  const JobId job = ended_job({{"0/n", "1"}, {"1/n", "2"}}, 2);
  const core::StepCollected collected = look(id, 0, job);
  ASSERT_FALSE(collected.failed) << collected.message;
  EXPECT_EQ(collected.outputs, R"({"n":["1","2"]})");
}

}  // namespace
}  // namespace atl::steward
