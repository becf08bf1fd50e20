#include "spec/cloudmesh/cc_plan.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace atl::spec::cc {
namespace {

CcFile read(const std::string& text) {
  auto file = parse_cc(text, "f.yaml");
  EXPECT_TRUE(file) << file.error().message;
  return file.value_or(CcFile{});
}

// A directory of scripts, and what a node of it does there.
class CcSteps : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cc_steps_XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text, bool executable = false) const {
    std::ofstream(directory_ + "/" + name) << text;
    if (executable)
      std::filesystem::permissions(directory_ + "/" + name, std::filesystem::perms::owner_all);
  }
  // What a step of this node prints, and its exit code.
  std::pair<std::string, int> run(const std::string& node, const std::string& before = "") const {
    const CcFile file = read("workflow:\n  nodes:\n    n: " + node + "\n");
    CcPlanOptions options;
    options.directory = directory_;
    options.sites = {"local"};
    const auto plan = plan_cc(file, options);
    EXPECT_TRUE(plan) << plan.error().message;
    return run_script(before, *plan->plan.steps.at(0).job.script);
  }
  std::pair<std::string, int> run_script(const std::string& before,
                                         const std::string& script) const {
    const std::string step = directory_ + "/step";
    std::ofstream(step) << script;
    const std::string command = "cd " + directory_ + " && " + before + " /bin/sh ./step 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    return {out, WEXITSTATUS(::pclose(pipe))};
  }
  std::string directory_;
};

using Ran = std::pair<std::string, int>;

TEST_F(CcSteps, RunScriptsByTheirFirstLineOrWithSh) {
  write("n.sh", "echo plain $0\nexit 3\n");
  EXPECT_EQ(run("{}"), (Ran{"plain ./n.sh\n", 3}));
  write("by_line", "#!/bin/cat\ntext\n");
  EXPECT_EQ(run("{script: by_line}"), (Ran{"#!/bin/cat\ntext\n", 0}));
  write("with_words", "#!/bin/sh -e\nfalse\necho not reached\n");
  EXPECT_EQ(run("{script: with_words}"), (Ran{"", 1}));
  write("own.sh", "#!/bin/sh\necho executed\n", true);
  EXPECT_EQ(run("{script: own.sh}"), (Ran{"executed\n", 0}));
  write("it's $(id) \"b\".sh", "echo odd\n");
  EXPECT_EQ(run("{script: \"it's $(id) \\\"b\\\".sh\"}"), (Ran{"odd\n", 0}));
}

TEST_F(CcSteps, RunPythonAndCommands) {
  write("b.py", "import sys\nprint('python', sys.version_info[0])\n");
  EXPECT_EQ(run("{script: b.py}"), (Ran{"python 3\n", 0}));
  EXPECT_EQ(run("{exec: b.py}"), (Ran{"python 3\n", 0}));
  EXPECT_EQ(run("{exec: \"echo 'a b' | tr a c\"}"), (Ran{"c b\n", 0}));
  EXPECT_EQ(run("{exec: \"false\\necho on\"}"), (Ran{"", 1}));
}

TEST_F(CcSteps, OfAScriptAndACommandTheScriptIsRunWhenItIsThere) {
  EXPECT_EQ(run("{script: n.sh, exec: echo command}"), (Ran{"command\n", 0}));
  write("n.sh", "echo script\n");
  EXPECT_EQ(run("{script: n.sh, exec: echo command}"), (Ran{"script\n", 0}));
  EXPECT_EQ(run("{exec: echo command}"), (Ran{"command\n", 0}));
}

TEST_F(CcSteps, SayWhatIsMissing) {
  EXPECT_EQ(run("{script: gone.py}"),
            (Ran{"atoll: node n: its script " + directory_ +
                     "/gone.py does not exist; write it, or give the node exec: COMMAND\n",
                 127}));
  EXPECT_EQ(run("{exec: gone.sh}").second, 127);
  EXPECT_EQ(run("{}").second, 127);
  EXPECT_EQ(run("{marker: true}"), (Ran{"", 0}));
  write("n.sh", "echo marked\n");
  EXPECT_EQ(run("{marker: true}"), (Ran{"marked\n", 0}));
  write("n.ipynb", "{}");
  const Ran ran = run("{script: n.ipynb}", "PATH=/nowhere");
  EXPECT_EQ(ran.second, 127);
  EXPECT_NE(ran.first.find("node n is a notebook, and neither papermill nor jupyter nbconvert"),
            std::string::npos)
      << ran.first;
}

TEST_F(CcSteps, GiveNotebooksToPapermillAndElseToJupyter) {
  write("n.ipynb", "{}");
  std::filesystem::create_directory(directory_ + "/bin");
  const std::string path = "PATH=" + directory_ + "/bin:/usr/bin:/bin ";
  write("bin/jupyter", "#!/bin/sh\necho jupyter \"$@\"\n", true);
  EXPECT_EQ(run("{exec: n.ipynb}", path).first,
            "jupyter nbconvert --to notebook --execute --output n-output.ipynb ./n.ipynb\n");
  write("bin/papermill", "#!/bin/sh\necho papermill \"$@\"\n", true);
  EXPECT_EQ(run("{script: n.ipynb}", path).first, "papermill ./n.ipynb ./n-output.ipynb\n");
}

TEST(CcPlan, EachNodeIsAStepAfterItsParents) {
  const CcFile file = read(R"(workflow:
  nodes:
    end: {}
    train: {kind: wsl, script: t.py, venv: ~/env}
    fetch: {kind: odd, exec: echo hi}
  dependencies: ['start,fetch,train,end', 'fetch,end']
)");
  CcPlanOptions options;
  options.directory = "/w";
  options.home = "/home/ada";
  const auto plan = plan_cc(file, options);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->fail_fast);
  EXPECT_EQ(plan->plan.name, "f");
  const auto& steps = plan->plan.steps;
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].name, "start");
  EXPECT_EQ(steps[3].name, "end");
  ASSERT_EQ(steps[3].needs.size(), 2u);
  EXPECT_EQ(steps[3].needs[0].step, 2u);
  EXPECT_EQ(steps[3].needs[1].step, 1u);
  EXPECT_EQ(steps[2].job.venv, "/home/ada/env");
  for (const PlannedStep& step : steps) {
    EXPECT_EQ(step.job.site, "local");
    EXPECT_EQ(step.job.directory, "/w");
    EXPECT_EQ(step.job.env->at("CLOUDMESH_JOB"), step.name);
    EXPECT_TRUE(to_submission(step.job)) << step.name;
  }
}

TEST(CcPlan, OtherKindsRunOnTheSiteOfTheirHost) {
  const auto site = [](const std::string& node, const std::set<std::string>& sites) {
    const CcFile file = read("workflow:\n  nodes:\n    n: " + node + "\n");
    CcPlanOptions options;
    options.directory = "/w";
    options.sites = sites;
    options.scripts = {{"n.sh", "#!/bin/bash\n#SBATCH --time=1\ndate\n"}};
    const auto plan = plan_cc(file, options);
    if (!plan) return plan.error().message;
    return *plan->plan.steps[0].job.site + " " + plan->plan.steps[0].job.script->substr(0, 11);
  };
  EXPECT_EQ(site("{kind: ssh, host: box}", {"local", "box"}), "box #!/bin/bash");
  EXPECT_EQ(site("{kind: slurm, host: ada@Rivanna.example.org}", {"rivanna"}),
            "rivanna #!/bin/bash");
  EXPECT_EQ(site("{kind: lsf, host: a.b, script: x.sh}", {"a.b", "a"}), "a.b #!/bin/sh\ns");
  EXPECT_EQ(
      site("{kind: slurm, host: box}", {"local"}),
      "f.yaml:3:5: node \"n\" is of kind slurm and runs on \"box\", and there is no site of "
      "that name here (there is local); add one with `atoll site add box --slurm --over box`, "
      "or write kind: local to run it on this machine");
  EXPECT_EQ(site("{kind: ssh}", {"local"}),
            "f.yaml:3:5: node \"n\" is of kind ssh and needs the host that it runs on: write host: "
            "NAME, or kind: local");
  EXPECT_EQ(site("{kind: ssh, host: localhost}", {"local"}),
            "f.yaml:3:5: node \"n\" is of kind ssh and needs the host that it runs on: write host: "
            "NAME instead of localhost, or kind: local");
}

TEST(CcPlan, WhatIsDoneIsNotDoneAgainWhenAsked) {
  const CcFile file = read("workflow: {nodes: {n: {status: done, exec: make}}}");
  CcPlanOptions options;
  options.skip_done = true;
  EXPECT_EQ(plan_cc(file, options)->plan.steps[0].job.script, "#!/bin/sh\nexit 0\n");
}

}  // namespace
}  // namespace atl::spec::cc
