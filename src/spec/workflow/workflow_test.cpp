#include <gtest/gtest.h>

#include "spec/workflow/plan.h"
#include "spec/workflow/queue_items.h"
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
      {"include: other.yaml\n", "f:1:10: \"other.yaml\" was not sent along"},
      {"steps:\n  a: {run: x, uses: t}\n", "f:2:3: step \"a\" uses \"t\", which is no template"},
      {"steps:\n  a: {run: x, when: {eqq: [1, 2]}}\n",
       "f:2:3: step \"a\": \"eqq\" is no condition; did you mean eq?"},
      {"params:\n  n: {type: integer, default: many}\nsteps:\n  a: {run: x}\n",
       "f:2:3: parameter n is \"many\"; it must be a whole number"},
      {"params:\n  n: {choices: [a, b], default: c}\nsteps:\n  a: {run: x}\n",
       "f:2:3: parameter n is \"c\"; it must be one of a, b"},
      {"steps:\n  a: {run: x, for_each: {grids: {}}}\n",
       "f:2:3: step \"a\": for_each has \"grids\", which is none of range, file, grid, queue and "
       "output;"
       " did you mean grid?"},
      {"steps:\n  a: {run: x, outputs: {m: ../m.pt}}\n",
       "f:2:3: step \"a\": output \"m\" is the file \"../m.pt\", which is not below"},
      {"steps:\n  a: {run: x, outputs: {m: /etc/passwd}}\n",
       "f:2:3: step \"a\": output \"m\" is the file \"/etc/passwd\", which is not below"},
      {"steps:\n  a: {run: 'echo {steps.b.outputs.n}'}\n  b: {run: x}\n",
       "f:2:18: {steps.b.outputs.n} names no output of b"},
      {"steps:\n  a: {run: 'echo {steps.c.outputs.n}'}\n",
       "f:2:18: {steps.c.outputs.n} names no step"},
      {"steps:\n  a: {run: 'echo {env.X}'}\n", "f:2:18: {env.X} is no variable"},
      {"steps:\n  a: {run: 'echo {item}'}\n", "f:2:18: {item} means something only in a step with"},
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

TEST(WorkflowFile, ABombOfAliasesIsDefused) {
  std::string bomb = "name: x\nenv:\n  a0: &a0 [x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + ", ";
    bomb += "]\n";
  }
  const auto file = parse_workflow(bomb + "steps: {s: {run: x}}\n", "f");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("too many values"), std::string::npos)
      << file.error().message;
}

TEST(WorkflowPlan, FillsInParametersAndDefaults) {
  const auto file = parse_workflow(kFlood, "flood.yaml");
  ASSERT_TRUE(file) << file.error().message;
  const auto plan = plan_workflow(*file, {.params = {{"region", "north"}}});
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
    const auto plan = plan_workflow(*file, {.params = given});
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

TEST(WorkflowFile, IncludesAndTemplatesAreOneWorkflow) {
  const FileTexts files{
      {"common.yaml",
       "params: {size: 3}\ntemplates:\n  train: {argv: [train, -n, '{params.size}'], "
       "timeout: 1h}\nsteps:\n  fetch: {run: get}\n"}};
  const auto file = parse_workflow(
      "include: common.yaml\nsteps:\n  one: {uses: train, needs: fetch, timeout: 2h}\n", "f",
      files);
  ASSERT_TRUE(file) << file.error().message;
  const auto plan = plan_workflow(*file);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->steps.size(), 2u);
  EXPECT_EQ(plan->steps[1].job.command->back(), "3");
  EXPECT_EQ(plan->steps[1].job.time, hours(2));
  const auto broken =
      parse_workflow("include: a.yaml\n", "f", {{"a.yaml", "steps:\n  x: {rum: y}\n"}});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message.substr(0, 15), "a.yaml:2:7: unk");
}

TEST(WorkflowPlan, WhatAStepLeavesIsNeededByWhoNamesIt) {
  const auto file = parse_workflow(
      "steps:\n  count: {run: 'echo 3 > $ATOLL_OUTPUTS/n', outputs: [n]}\n"
      "  use: {run: 'echo {steps.count.outputs.n}'}\n",
      "f");
  ASSERT_TRUE(file) << file.error().message;
  const auto plan = plan_workflow(*file);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->steps[0].prepared);
  EXPECT_NE(plan->steps[0].job.script->find("ATOLL_OUTPUTS"), std::string::npos);
  EXPECT_TRUE(plan->steps[1].prepared);
  EXPECT_EQ(plan->steps[1].needs, (std::vector<PlannedNeed>{{0, false, false}}));
  EXPECT_EQ(plan->steps[1].recipe->steps->at("count"), 0);
  StepMaker maker;
  StepsBatch batch;
  for (const PlannedStep& step : plan->steps) ASSERT_TRUE(maker.add(step, batch));
  EXPECT_EQ(batch.kinds.size(), 1u);
  EXPECT_TRUE(batch.steps[0].collected);
  EXPECT_EQ(batch.steps[1].payload, Digest{});
  const auto recipe = parse_json<Recipe>(batch.blobs.back().second);
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_NE(recipe->job->script->find("{steps.count.outputs.n}"), std::string::npos);
}

TEST(WorkflowPlan, AGridIsOneArray) {
  const auto file = parse_workflow(
      "params: {lrs: '[0.1, 0.2]'}\nsteps:\n  t: {run: 'train {item.lr} {item.n}', parallel: 2, "
      "for_each: {grid: {lr: '{params.lrs}', n: [1, 2, 3]}}}\n",
      "f");
  ASSERT_TRUE(file) << file.error().message;
  const auto plan = plan_workflow(*file);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->steps[0].items);
  EXPECT_EQ(plan->steps[0].items->keys, (std::vector<std::string>{"lr", "n"}));
  EXPECT_EQ(plan->steps[0].items->count(), 6u);
  EXPECT_EQ(plan->steps[0].items->values[6], "0.2");
  StepMaker maker;
  StepsBatch batch;
  ASSERT_TRUE(maker.add(plan->steps[0], batch));
  EXPECT_TRUE(batch.steps[0].array);
  EXPECT_EQ(batch.steps[0].indices.size(), 6u);
  EXPECT_EQ(batch.kinds[0].terms.parallel_max, 2u);
}

TEST(WorkflowPlan, AQueueIsGoneThroughByWorkers) {
  const auto file = parse_workflow(
      "params: {q: urls}\ndefaults: {cache: true}\nsteps:\n"
      "  a: {run: \"echo {item}\", for_each: {queue: \"{params.q}\", workers: {min: 2, max: 9},"
      " batch: 10, until: closed}}\n"
      "  b: {run: \"echo {steps.a.outputs.done}\"}\n"
      "  c: {run: x, for_each: {queue: other}}\n",
      "f");
  ASSERT_TRUE(file) << file.error().message;
  const auto plan = plan_workflow(*file);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->steps[0].feed, (core::FeedTerms{"urls", 2, 9, 10, true}));
  EXPECT_EQ(plan->steps[1].needs, (std::vector<PlannedNeed>{{0, false, false}}));
  EXPECT_EQ(plan->steps[2].feed, (core::FeedTerms{"other", 1, kWorkersUsual, 1, false}));
  StepMaker maker;
  StepsBatch batch;
  ASSERT_TRUE(maker.add(plan->steps[0], batch));
  EXPECT_EQ(batch.steps[0].feed.queue, "urls");
  EXPECT_FALSE(batch.steps[0].array);
  EXPECT_FALSE(batch.steps[0].prepared);  // the cache of `defaults` is not for it
}

TEST(WorkflowPlan, OnlyAndFromTakeOverWhatWasLeft) {
  const auto file = parse_workflow(
      "steps:\n  a: {run: x}\n  b: {run: x, needs: a}\n  c: {run: x, needs: b}\n  d: {run: x, "
      "needs: a}\n",
      "f");
  ASSERT_TRUE(file);
  PlanOptions options;
  options.only = "b";
  EXPECT_FALSE(plan_workflow(*file, options));
  options.earlier = {{"a", {{7}, 0}}, {"b", {{7}, 1}}};
  auto plan = plan_workflow(*file, options);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->steps.size(), 2u);
  EXPECT_EQ(plan->steps[0].recipe->reuse, (ReuseSpec{7, 0}));
  options.only.clear();
  options.from = "b";
  plan = plan_workflow(*file, options);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->steps.size(), 3u);
  EXPECT_EQ(plan->steps[2].name, "c");
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
