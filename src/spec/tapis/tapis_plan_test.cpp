#include "spec/tapis/tapis_plan.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace atl::spec::tapis {
namespace {

Pipeline pipeline_of(const std::string& json) {
  auto made = read_pipeline(json);
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(Pipeline{});
}

WorkflowPlan plan_of(const std::string& json, const std::string& args = "{}") {
  const auto read = read_args(args);
  EXPECT_TRUE(read);
  auto made = plan_pipeline(pipeline_of(json), {*read, "lab", "atoll", "ada"});
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : WorkflowPlan{};
}

constexpr const char* kTwo = R"({"id":"demo","type":"workflow",
  "env":{"REGION":{"value":"eu"},"KEY":{"value_from":{"secret":{"pk":"k1"}}}},
  "params":{"N":{"type":"number"},"OPT":{"type":"string","required":false}},
  "execution_profile":{"max_retries":1},
  "tasks":[
   {"id":"gen","type":"function","code":"eA==","output":{"OUT":{"type":"number"}},
    "execution_profile":{"flavor":"g1nvdmed","max_exec_time":7,"max_retries":3},
    "input":{"R":{"value_from":{"env":"REGION"}},"K":{"value_from":{"env":"KEY"}},
             "N":{"type":"number","value_from":{"args":"N"}},
             "O":{"required":false,"value_from":{"args":"OPT"}}}},
   {"id":"use","type":"function","code":"eA==","depends_on":[{"id":"gen","can_fail":true}],
    "input":{"X":{"value_from":{"task_output":{"task_id":"gen","output_id":"OUT"}}}},
    "conditions":[{"gt":[{"args":"N"},0]},{"eq":[{"args":"OPT"},null]},
                  {"eq":[{"task_output":{"task_id":"gen","output_id":"OUT"}},"{params.x}"]}]}]})";

TEST(TapisPlan, TasksAreSteps) {
  const WorkflowPlan plan = plan_of(kTwo, R"({"N":{"type":"number","value":0.5}})");
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_TRUE(plan.fail_fast);
  const PlannedStep& gen = plan.steps[0];
  EXPECT_EQ(gen.job.env->at("ATOLL_TASK_INPUT_R"), "eu");
  EXPECT_EQ(gen.job.env->at("ATOLL_TASK_INPUT_N"), "0.5");
  EXPECT_FALSE(gen.job.env->contains("ATOLL_TASK_INPUT_O"));
  EXPECT_EQ(gen.job.secrets->at("ATOLL_TASK_INPUT_K"), "k1");
  EXPECT_EQ(gen.job.time, seconds(7));
  EXPECT_EQ(gen.job.retries->max, 3);
  EXPECT_EQ(gen.job.gpus, "2");
  EXPECT_EQ(gen.job.memory->count, int64_t{8} << 30);
  EXPECT_EQ(gen.recipe->outputs->at(0).type, "number");
  const PlannedStep& use = plan.steps[1];
  EXPECT_EQ(use.needs, (std::vector<PlannedNeed>{{0, true, false}}));
  EXPECT_EQ(use.job.retries->max, 1);
  EXPECT_EQ(use.job.time, seconds(3600));
  EXPECT_FALSE(use.job.cpus) << "without a flavour a task is as large as any job";
  EXPECT_EQ(use.recipe->bind->at(0).step, "gen");
  EXPECT_EQ(use.recipe->steps->at("gen"), 0);
  EXPECT_EQ(use.recipe->when->text,
            R"([{"gt":[0.5,0]},{"eq":[null,null]},)"
            R"({"eq":[{"task_output":{"task_id":"gen","output_id":"OUT"}},"{params.x}"]}])");
  EXPECT_EQ(plan.params.at("tapis_pipeline_owner"), "ada");
  EXPECT_EQ(plan.params.at("tapis_workflows_group_id"), "lab");
}

TEST(TapisPlan, ARunWithoutItsArgumentsFailsInTapisWords) {
  const WorkflowPlan plan = plan_of(kTwo);
  EXPECT_EQ(plan.steps[0].recipe->refuse,
            "Workflow submission validation error: Missing values for the following arguments - "
            "['N']");
}

TEST(TapisPlan, ArgumentsHaveTheTypeOfTheirParameter) {
  const auto args = read_args(R"({"N":{"type":"string","value":"x"}})");
  const auto made = plan_pipeline(pipeline_of(kTwo), {*args, "", "", ""});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().field, "args.N.value");
  const auto secret = read_args(R"({"N":{"value_from":{"secret":{"pk":"k"}}}})");
  const auto compared = plan_pipeline(pipeline_of(kTwo), {*secret, "", "", ""});
  ASSERT_FALSE(compared);
  EXPECT_NE(compared.error().message.find("cannot look at a secret"), std::string::npos);
}

TEST(TapisPlan, AnInputWithoutItsValueFailsItsTask) {
  const WorkflowPlan plan =
      plan_of(R"({"id":"d","tasks":[{"id":"a","type":"application","image":"i","command":"true",)"
              R"("input":{"X":{"value_from":{"args":"NOT"}}}}]})");
  EXPECT_EQ(plan.steps[0].recipe->refuse, "input X of task a has no value");
}

TEST(TapisPlan, AJobKeepsToItsDefinition) {
  const WorkflowPlan plan = plan_of(
      R"({"id":"d","tasks":[{"id":"a","type":"tapis_job","tapis_job_def":{"name":"n","appId":"sim",)"
      R"("nodeCount":2,"coresPerNode":4,"memoryMB":512,"maxMinutes":5,"execSystemId":"hpc",)"
      R"("parameterSet":{"appArgs":[{"arg":"-n 3"},{"arg":"no","include":false}],)"
      R"("envVariables":[{"key":"K","value":"v"}]}}}]})");
  const JobSpec& job = plan.steps[0].job;
  EXPECT_EQ(job.cpus->milli, 4000);
  EXPECT_EQ(job.memory->count, int64_t{512} << 20);
  EXPECT_EQ(job.gang, 2);
  EXPECT_EQ(job.time, minutes(5));
  EXPECT_EQ(job.site, "hpc");
  EXPECT_EQ(job.env->at("K"), "v");
  EXPECT_NE(job.script->find("\n'sim' -n 3\n"), std::string::npos) << *job.script;
}

// Runs what a step would run, in a directory of its own.
class TapisScripts : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tapis_XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::pair<std::string, int> run(const Task& task, const std::string& before = {}) {
    std::ofstream(directory_ + "/step") << task_script(task);
    const std::string command = "cd " + directory_ + " && ATOLL_JOB_DIR=" + directory_ +
                                " ATOLL_WORKFLOW=255 ATOLL_STEP_NUMBER=3 " + before +
                                " /bin/sh ./step 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    return {out, WEXITSTATUS(::pclose(pipe))};
  }
  std::string left(const std::string& name) {
    std::ifstream file(directory_ + "/task/output/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string directory_;
};

using Ran = std::pair<std::string, int>;

TEST_F(TapisScripts, InputsAreFilesAndNoVariables) {
  Task task;
  task.type = "application";
  task.application.image = "img";
  task.application.command =
      "cat \"$_OWE_INPUT_DIR/X\"; ls \"$_OWE_INPUT_DIR\"; echo \"$ATOLL_TASK_INPUT_X.\"; "
      "echo $_OWE_PIPELINE_RUN_UUID $_OWE_TASK_EXECUTION_UUID";
  task.input["X"] = {};
  task.input["Y"] = {};
  EXPECT_EQ(run(task, "ATOLL_TASK_INPUT_X='a $(b)\n'"),
            (Ran{"atoll: images are not run here; img is not used, its command runs as it is\n"
                 "a $(b)\nX\n.\n"
                 "00000000-0000-8000-8000-0000000000ff 00000003-0001-8000-8000-0000000000ff\n",
                 0}));
}

TEST_F(TapisScripts, FunctionsHaveTheirContext) {
  Task task;
  task.type = "function";
  task.input["X"] = {};
  // from owe_python_sdk.runtime import execution_context as ctx
  // ctx.add_hook(lambda c: print("hook"))
  // ctx.set_output("OUT", {"x": ctx.get_input("X"), "none": ctx.get_input("Y", "d")})
  // print(ctx.find_inputs(contains="X"))
  // ctx.stderr(3, "bad")
  task.function.code =
      "ZnJvbSBvd2VfcHl0aG9uX3Nkay5ydW50aW1lIGltcG9ydCBleGVjdXRpb25fY29udGV4dCBhcyBj\n"
      "dHgKY3R4LmFkZF9ob29rKGxhbWJkYSBjOiBwcmludCgiaG9vayIpKQpjdHguc2V0X291dHB1dCgi\n"
      "T1VUIiwgeyJ4IjogY3R4LmdldF9pbnB1dCgiWCIpLCAibm9uZSI6IGN0eC5nZXRfaW5wdXQoIlki\n"
      "LCAiZCIpfSkKcHJpbnQoY3R4LmZpbmRfaW5wdXRzKGNvbnRhaW5zPSJYIikpCmN0eC5zdGRlcnIo\n"
      "MywgImJhZCIpCg==";
  EXPECT_EQ(run(task, "ATOLL_TASK_INPUT_X=7"), (Ran{"['X']\nbad\nhook\n", 3}));
  EXPECT_EQ(left("OUT"), R"({"x": "7", "none": "d"})");
}

TEST_F(TapisScripts, JobsLeaveTheirStatus) {
  Task task;
  task.type = "tapis_job";
  task.job.app = "echo";
  task.job.arguments = {"-n one", "two"};
  EXPECT_EQ(run(task), (Ran{"one two", 0}));
  EXPECT_EQ(left("STATUS"), "FINISHED");
  task.job.app = "false";
  EXPECT_EQ(run(task).second, 1);
}

TEST_F(TapisScripts, ARequestThatNobodyAnswersFails) {
  Task task;
  task.type = "request";
  task.request.json = R"({"method":"get","url":"http://127.0.0.1:1/x"})";
  const Ran ran = run(task);
  EXPECT_EQ(ran.second, 1);
  EXPECT_NE(ran.first.find("GET http://127.0.0.1:1/x"), std::string::npos) << ran.first;
}

}  // namespace
}  // namespace atl::spec::tapis
