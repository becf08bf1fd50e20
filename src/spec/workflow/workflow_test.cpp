#include <gtest/gtest.h>

#include "spec/workflow/plan.h"
#include "spec/workflow/template.h"
#include "spec/workflow/workflow_file.h"

namespace atl::spec {
namespace {

constexpr const char* kFlood = R"(name: flood
params:
  year: 2017
  region: {type: text, required: true, choices: [north, south]}
env: {OMP_NUM_THREADS: 1}
defaults: {timeout: 1h, resources: {cpus: 2}}
steps:
  fetch:
    run: |
      curl -O https://example.org/{params.year}
  label:
    needs: fetch
    argv: [python3, label.py, --region, "{params.region}"]
    resources: {cpus: 0.5, memory: 2Gi, gpus: [a100, any]}
  train:
    needs: [{step: label, can_fail: true}, fetch]
    run: ./train
    retries: 2
    tier: opportunistic
)";

TEST(WorkflowFile, ReadsWhatItDocuments) {
  const auto file = parse_workflow(kFlood, "flood.yaml");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->name, "flood");
  ASSERT_EQ(file->params.size(), 2u);
  EXPECT_EQ(file->params[0].spec.type, "integer");
  EXPECT_EQ(file->params[0].spec.fallback, "2017");
  EXPECT_EQ(file->params[1].spec.choices->size(), 2u);
  EXPECT_EQ(file->env->at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(file->defaults.timeout, hours(1));
  ASSERT_EQ(file->steps.size(), 3u);
  EXPECT_EQ(file->steps[0].spec.run, "curl -O https://example.org/{params.year}\n");
  EXPECT_EQ(file->steps[1].spec.argv->back(), "{params.region}");
  EXPECT_EQ(file->steps[1].spec.resources->gpus, "a100|any");
  EXPECT_EQ(file->steps[1].needs, (std::vector<uint32_t>{0}));
  EXPECT_EQ(file->steps[2].needs, (std::vector<uint32_t>{1, 0}));
  EXPECT_TRUE(*file->steps[2].spec.needs->at(0).can_fail);
  EXPECT_EQ(file->steps[2].spec.retries->max, 2);
}

TEST(WorkflowFile, EveryMistakeIsNamedWithItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "f:1:1: a workflow needs steps"},
      {"steps: {}\n", "f:1:1: a workflow needs steps"},
      {"step: {}\n", "f:1:1: unknown key \"step\"; did you mean steps?"},
      {"steps:\n  a: {rum: x}\n", "f:2:7: unknown key \"rum\"; did you mean run?"},
      {"steps:\n  a: {needs: []}\n", "f:2:3: step \"a\" does nothing: give it run or argv"},
      {"steps:\n  a: {run: x, argv: [x]}\n", "f:2:3: step \"a\" has both run and argv"},
      {"steps:\n  a: {run: x}\n  a: {run: y}\n", "f:3:3: \"a\" stands here twice"},
      {"steps:\n  a: {run: x, needs: [fech]}\n  fetch: {run: x}\n",
       "f:2:3: step \"a\" needs \"fech\", which is no step; did you mean fetch?"},
      {"steps:\n  a: {run: x, needs: [b, b]}\n  b: {run: x}\n",
       "f:2:3: step \"a\" needs \"b\" twice"},
      {"steps:\n  a: {run: x, needs: a}\n", "f:2:3: these steps wait for each other: a needs a"},
      {"steps:\n  z: {run: x}\n  a: {run: x, needs: b}\n  b: {run: x, needs: c}\n"
       "  c: {run: x, needs: [z, a]}\n",
       "f:3:3: these steps wait for each other: a needs b needs c needs a"},
      {"steps:\n  'a;rm': {run: x}\n", "f:2:3: step \"a;rm\" must be"},
      {"steps:\n  a: {run: x, timeout: soon}\n", "f:2:24: timeout: \"soon\" is not a duration"},
      {"steps:\n  a: {run: x, resources: {cpus: many}}\n", "f:2:33: cpus: \"many\" is not"},
      {"steps:\n  a: {run: x, tier: night}\n", "f:2:21: tier is \"night\"; it must be one of"},
      {"steps:\n  a: {run: x, retries: {max: [1]}}\n", "f:2:30: expected a single value"},
      {"steps: [a]\n", "f:1:8: expected a mapping"},
      {"params: {year: 1}\nsteps:\n  a: {run: \"x {params.yer}\"}\n",
       "f:3:15: {params.yer} is no parameter of this workflow; did you mean {params.year}?"},
      {"steps:\n  a:\n    run: |\n      date\n      echo {params.x} {1..3} ${HOME}\n",
       "f:5:1: {params.x} is no parameter of this workflow"},
      {"defaults: {needs: a}\nsteps: {a: {run: x}}\n", "f:1:11: needs belongs to a step"},
  };
  for (const auto& [text, message] : cases) {
    const auto file = parse_workflow(text, "f");
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().message.substr(0, std::string(message).size()), message);
  }
}

TEST(Template, OnlyReferencesAreReplaced) {
  const auto filled = [](std::string_view text) {
    return expand(text, [](const Reference& each) -> std::optional<std::string> {
      if (each.root == "params") return "<" + each.path + ">";
      return std::nullopt;
    });
  };
  EXPECT_EQ(filled("{params.a}/{params.b-c}.txt"), "<a>/<b-c>.txt");
  EXPECT_EQ(filled("awk '{print $1}' ${HOME} {1..3} {params} {params.} {param.x} {params.a b}"),
            "awk '{print $1}' ${HOME} {1..3} {params} {params.} {param.x} {params.a b}");
  EXPECT_EQ(filled("{{params.a}} {{{params.a}}} {{params.a} {steps.x.outputs.y} {"),
            "{params.a} {{params.a}} {<a> {steps.x.outputs.y} {");
  EXPECT_EQ(filled(""), "");
}

TEST(WorkflowFile, ABombOfAliasesIsDefused) {
  std::string bomb = "name: x\nenv:\n  a0: &a0 [x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + ", ";
    bomb += "]\n";
  }
  const auto file = parse_workflow(bomb + "steps: {s: {run: x}}\n", "f");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("too many values"), std::string::npos) << file.error().message;
}

TEST(WorkflowPlan, FillsInParametersAndDefaults) {
  const auto file = parse_workflow(kFlood, "flood.yaml");
  ASSERT_TRUE(file) << file.error().message;
  const auto plan = plan_workflow(*file, {{"region", "north"}});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->params,
            (std::map<std::string, std::string>{{"region", "north"}, {"year", "2017"}}));
  const JobSpec& fetch = plan->steps[0].job;
  EXPECT_EQ(fetch.name, "fetch");
  EXPECT_EQ(fetch.script, "#!/bin/sh\nset -e\ncurl -O https://example.org/2017\n");
  EXPECT_EQ(fetch.time, hours(1));
  EXPECT_EQ(fetch.cpus->milli, 2000);
  EXPECT_EQ(fetch.env->at("OMP_NUM_THREADS"), "1");
  const JobSpec& label = plan->steps[1].job;
  EXPECT_EQ(label.command->back(), "north");
  EXPECT_EQ(label.cpus->milli, 500);
  EXPECT_EQ(plan->steps[2].needs, (std::vector<PlannedNeed>{{1, true, false}, {0, false, false}}));
  for (const PlannedStep& step : plan->steps) EXPECT_TRUE(to_submission(step.job)) << step.name;
}

TEST(WorkflowPlan, RefusesParametersThatAreNot) {
  const auto file = parse_workflow(kFlood, "flood.yaml");
  ASSERT_TRUE(file);
  const auto refusal = [&](const std::map<std::string, std::string>& given) {
    const auto plan = plan_workflow(*file, given);
    return plan ? "" : plan.error().field + ": " + plan.error().message;
  };
  EXPECT_EQ(refusal({}), "params.region: parameter region has to be given: --set region=north");
  EXPECT_EQ(refusal({{"region", "east"}}),
            "params.region: parameter region is \"east\"; it must be one of north, south");
  EXPECT_EQ(refusal({{"region", "north"}, {"year", "soon"}}),
            "params.year: parameter year is \"soon\"; it must be a whole number");
  EXPECT_EQ(refusal({{"region", "north"}, {"yer", "1"}}),
            "params.yer: the workflow has no parameter \"yer\"; did you mean year?");
}

TEST(WorkflowFile, StepsComeAfterWhatTheyNeed) {
  const auto file = parse_workflow(
      "steps:\n  d: {run: x, needs: [b, c]}\n  b: {run: x, needs: a}\n  c: {run: x, needs: a}\n"
      "  a: {run: x}\n",
      "f");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(in_order(*file), (std::vector<uint32_t>{3, 1, 2, 0}));
}

}  // namespace
}  // namespace atl::spec
