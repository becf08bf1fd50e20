#include "spec/cloudmesh/cc_file.h"

#include <gtest/gtest.h>

#include "spec/cloudmesh/cc_write.h"

namespace atl::spec::cc {
namespace {

constexpr const char* kWritten = R"(workflow:
  layout: dot
  nodes:
    fetch:
      name: fetch
      user: ada
      host: local
      label: '{name}\nProgress={progress}'
      script: fetch.sh
      shape: cylinder
      style: ''
      output: fetch.log
      retries: 3
      tags: [big, {deep: 1.5}]
    train: {kind: slurm, host: rivanna.example.org, script: train.py, venv: ~/env, exec: null}
    plot: {exec: echo plot, status: ready}
    alone:
  dependencies:
    - start,fetch,train,end
    - fetch, job[01-03], end
    - plot
colors: {status: {ready: white, done: '#00FF00'}}
)";

std::vector<std::string> parents_of(const CcWorkflow& workflow, const std::string& name) {
  std::vector<std::string> names;
  for (const CcNode& node : workflow.nodes) {
    if (node.name != name) continue;
    for (const uint32_t parent : node.parents) names.push_back(workflow.nodes[parent].name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(CcFile, ReadsWhatPeopleWrite) {
  const auto file = parse_cc(kWritten, "dir/flood.yaml");
  ASSERT_TRUE(file) << file.error().message;
  const CcWorkflow& workflow = file->workflow;
  EXPECT_EQ(workflow.name, "flood");
  ASSERT_EQ(workflow.nodes.size(), 9u);
  const CcNode& fetch = workflow.nodes[0];
  EXPECT_EQ(fetch.label, "{name}\\nProgress={progress}");
  EXPECT_EQ(fetch.label_format, fetch.label);
  EXPECT_EQ(fetch.kind, "local");
  EXPECT_EQ(fetch.status, "ready");
  EXPECT_EQ(drawn_style(fetch), "filled");
  ASSERT_EQ(fetch.extra.size(), 3u);
  EXPECT_EQ(fetch.extra[0], (CcAttribute{"output", "fetch.log", "\"fetch.log\""}));
  EXPECT_EQ(fetch.extra[1], (CcAttribute{"retries", "3", "3"}));
  EXPECT_EQ(fetch.extra[2].json, "[\"big\", {\"deep\": 1.5}]");
  EXPECT_EQ(workflow.nodes[1].style, "filled,rounded");
  EXPECT_EQ(workflow.nodes[2].script, "");
  EXPECT_EQ(workflow.nodes[3].script, "alone.sh");
  EXPECT_FALSE(workflow.nodes[3].marker);
  EXPECT_EQ(workflow.nodes[4].name, "start");
  EXPECT_EQ(workflow.nodes[4].shape, "diamond");
  EXPECT_TRUE(workflow.nodes[4].marker);
  EXPECT_EQ(parents_of(workflow, "end"), (Names{"train", "job03"}));
  EXPECT_EQ(parents_of(workflow, "job02"), (Names{"job01"}));
  EXPECT_EQ(parents_of(workflow, "plot"), (Names{}));
  EXPECT_EQ(workflow.colors[1], (std::pair<std::string, std::string>{"done", "#00FF00"}));
  EXPECT_TRUE(file->warnings.empty()) << file->warnings[0];
}

TEST(CcFile, ReadsWhatCcSaves) {
  const auto file = parse_cc(R"(workflow:
  nodes:
    a-b: {name: a-b, label: a-b, number: 7, script: a-b.sh, status: done, progress: 100, parent: []}
    c: {name: c, label: rendered, label_format: '{name}', instance: null, parent: [a-b],
        created: '2022-07-29 01:22:04.583760', pid: 4711}
    a-b-c: {name: a-b-c, label: a-b-c, format: a-b-c, number: 3}
  dependencies:
    a-b-c: {source: a-b, destination: c, name: a-b-c}
    c-end: {source: c, destination: end, name: c-end}
)",
                             "f.yaml");
  ASSERT_TRUE(file) << file.error().message;
  const CcWorkflow& workflow = file->workflow;
  EXPECT_EQ(parents_of(workflow, "c"), (Names{"a-b"}));
  EXPECT_EQ(parents_of(workflow, "end"), (Names{"c"}));
  EXPECT_EQ(workflow.nodes[0].progress, 100);
  EXPECT_EQ(workflow.nodes[0].number, 7u);
  EXPECT_EQ(workflow.nodes[1].label_format, "{name}");
  EXPECT_EQ(workflow.nodes[1].pid, "4711");
  // A node that cc made of a dependency's key.
  EXPECT_TRUE(workflow.nodes[2].marker);
  EXPECT_FALSE(workflow.nodes[0].marker);
}

TEST(CcFile, TellsItselfFromOurOwnFormat) {
  EXPECT_TRUE(looks_like_cc("workflow: {nodes: {a: }}"));
  EXPECT_TRUE(looks_like_cc("workflow: {dependencies: [a]}"));
  EXPECT_FALSE(looks_like_cc("steps: {a: {run: x}}"));
  EXPECT_FALSE(looks_like_cc("workflow: x"));
  EXPECT_FALSE(looks_like_cc("workflow: {steps: {}}"));
  EXPECT_FALSE(looks_like_cc(""));
  EXPECT_FALSE(looks_like_cc("[workflow"));
}

TEST(CcFile, EveryMistakeIsNamedWithItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "f:1:1: a Cloudmesh workflow has workflow: with nodes: or dependencies:"},
      {"workflow: {nodes: }", "f:1:1: the workflow has no nodes"},
      {"workflow: {nodes: [a]}", "f:1:19: expected a mapping"},
      {"workflow: {nodes: {a: [x]}}", "f:1:23: expected a mapping"},
      {"workflow: {nodes: {a: {script: [x]}}}", "f:1:32: script must be a single value"},
      {"workflow: {nodes: {a: {progress: 150}}}", "f:1:34: expected a whole number from 0 to 100"},
      {"workflow: {nodes: {a: {progress: -1}}}", "f:1:34: expected a whole number"},
      {"workflow: {nodes: {a: {marker: maybe}}}", "f:1:32: expected true or false"},
      {"workflow: {nodes: {a: {script: \"x\\ny\"}}}", "f:1:32: script has a control character"},
      {"workflow:\n  nodes:\n    a: {}\n    a: {}\n", "f:4:5: \"a\" stands here twice"},
      {"workflow:\n  nodes:\n    a: {}\n    b: {name: a}\n",
       "f:4:15: there are two nodes \"a\"; rename one"},
      {"workflow:\n  nodes:\n    'a;rm -rf ~': {}\n",
       "f:3:5: the node \"a;rm -rf ~\" becomes a directory and an address: its name must be 1 to "
       "63 "
       "of A-Z a-z 0-9 . _ - and begin with a letter or digit; write a-rm-rf"},
      {"workflow: {nodes: {../x: {}}}",
       "f:1:20: the node \"../x\" becomes a directory and an address: its name must be 1 to 63 of "
       "A-Z a-z 0-9 . _ - and begin with a letter or digit; write x"},
      {"workflow: {nodes: {-x: {}}}", "f:1:20: the node \"-x\""},
      {"workflow: {nodes: {$(id): {}}}", "f:1:20: the node \"$(id)\""},
      {"workflow:\n  dependencies:\n    - a,,b\n", "f:3:9: expected a name here"},
      {"workflow:\n  dependencies:\n    - \"a,b[1-\"\n", "f:3:11: this bracket is not closed"},
      {"workflow:\n  dependencies:\n    - a,b;c\n", "f:3:9: the node \"b;c\""},
      {"workflow:\n  dependencies:\n    - |\n      a,\n      b;c\n", "f:5:1: the node \"b;c\""},
      {"workflow:\n  dependencies:\n    - [a, b]\n",
       "f:3:7: expected names with commas between them: a,b,c"},
      {"workflow:\n  dependencies:\n    a-b: {source: a}\n",
       "f:3:5: the dependency \"a-b\" needs source and destination"},
      {"workflow:\n  nodes: {fetch: , b: {parent: [fech]}}\n",
       "f:2:33: the parent \"fech\" of \"b\" is no node; did you mean fetch?"},
      {"workflow:\n  nodes: {b: {parent: {a: b}}}\n", "f:2:23: parent must be a list of nodes"},
      {"workflow:\n  dependencies:\n    - a,b,a\n",
       "f:3:11: \"a\" stands twice in this chain and would wait for itself"},
      {"workflow:\n  nodes: {z: , a: {parent: a}}\n",
       "f:2:16: these nodes wait for each other: a after a"},
      {"workflow:\n  dependencies:\n    - z,a,b,c\n    - c,a\n",
       "f:3:9: these nodes wait for each other: a after c after b after a"},
  };
  for (const auto& [text, message] : cases) {
    const auto file = parse_cc(text, "f");
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().message.substr(0, std::string(message).size()), message);
  }
}

TEST(CcFile, WhatCcPutsUpWithIsAWarning) {
  const auto file = parse_cc(
      "version: 1\nworkflow:\n  nodes:\n    a: {kind: docker}\n    b: {status: lost, name: bee}\n",
      "f");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->workflow.nodes[1].name, "bee");
  ASSERT_EQ(file->warnings.size(), 4u);
  EXPECT_EQ(file->warnings[0], "f:1:1: \"version\" has no meaning beside workflow and colors");
  EXPECT_EQ(file->warnings[1].substr(0, 24), "f:4:15: kind \"docker\" is");
  EXPECT_EQ(file->warnings[2].substr(0, 24), "f:5:17: status \"lost\" is");
  EXPECT_EQ(file->warnings[3], "f:5:29: the node \"b\" goes by its name, \"bee\"");
}

TEST(CcFile, BombsAreDefused) {
  std::string values = "workflow:\n  nodes:\n    a:\n      x0: &x0 [y, y]\n";
  for (int i = 1; i < 12; ++i) {
    values += "      x" + std::to_string(i) + ": &x" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) values += "*x" + std::to_string(i - 1) + ", ";
    values += "]\n";
  }
  std::string texts =
      "workflow:\n  nodes:\n    a:\n      x: &x " + std::string(1 << 20, 'y') + "\n";
  texts += "      z: [";
  for (int i = 0; i < 1000; ++i) texts += "*x, ";
  texts += "]\n";
  std::string deep = "workflow:\n  nodes:\n    a:\n      x0: &x0 [[[[y]]]]\n";
  for (int i = 1; i < 50'000; ++i)
    deep += "      x" + std::to_string(i) + ": &x" + std::to_string(i) + " [[[[*x" +
            std::to_string(i - 1) + "]]]]\n";
  std::string edges = "workflow:\n  dependencies:\n    - &x 'a[1-100000]'\n";
  for (int i = 0; i < 100; ++i) edges += "    - *x\n";
  const std::pair<std::string, const char*> cases[] = {{values, "too many values inside"},
                                                       {texts, "too much text"},
                                                       {deep, "nested too deep"},
                                                       {edges, "more than 1000000 dependencies"}};
  for (const auto& [text, message] : cases) {
    const auto file = parse_cc(text, "f");
    ASSERT_FALSE(file) << message;
    EXPECT_NE(file.error().message.find(message), std::string::npos) << file.error().message;
  }
  EXPECT_EQ(parse_cc(std::string(kCcBytesMax + 1, ' '), "f").error().code, ErrorCode::too_large);
}

TEST(CcFile, SavingAndReadingGivesTheSame) {
  const std::string texts[] = {
      kWritten,
      "workflow: {dependencies: ['a,b', 'a-b,c', 'a,b-c']}",
      "workflow:\n  nodes:\n    a-b: {}\n  dependencies:\n    - a,b\n",
      "workflow:\n  nodes:\n    a:\n      label: \"it's \\\"\\\\ \\n \\t \\0 \\N \\L \\uFEFF \\x7f "
      "ä\"\n"
      "      exec: |\n        echo: 1\n        echo '# 2'\n      'no': 'yes'\n      'k: v': {a: "
      "[null, ~, '']}\n"
      "      x: -0.5e3\n      y: '007'\n      z: NaN\n",
      "workflow:\n  nodes: {1: {}, on: {}, y: {parent: [1, on]}}\ncolors: {status: {yes: 1}}",
  };
  for (const std::string& text : texts) {
    const auto file = parse_cc(text, "f.yaml");
    ASSERT_TRUE(file) << file.error().message;
    const std::string saved = save_cc(file->workflow);
    const auto again = parse_cc(saved, "f.yaml");
    ASSERT_TRUE(again) << again.error().message << "\n" << saved;
    EXPECT_EQ(again->workflow, file->workflow) << saved;
    EXPECT_EQ(save_cc(again->workflow), saved);
  }
}

}  // namespace
}  // namespace atl::spec::cc
