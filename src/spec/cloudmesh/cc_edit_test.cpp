#include "spec/cloudmesh/cc_edit.h"

#include <gtest/gtest.h>

#include "spec/cloudmesh/cc_write.h"

namespace atl::spec::cc {
namespace {

TEST(CcEdit, AddsAndChangesJobs) {
  CcWorkflow workflow;
  workflow.name = "f";
  workflow.colors = default_colors();
  ASSERT_TRUE(set_job(workflow, "a", {{"user", "ada"}, {"label", "{name}"}, {"size", "3"}}));
  ASSERT_TRUE(set_job(workflow, "b", {{"exec", "echo"}, {"parent", "a,c[1-2]"}}));
  ASSERT_TRUE(add_dependencies(workflow, "b,end"));
  ASSERT_TRUE(set_job(workflow, "a", {{"progress", "40"}, {"exec", "date"}, {"size", "4"}}));
  ASSERT_EQ(workflow.nodes.size(), 5u);
  const CcNode& a = workflow.nodes[0];
  EXPECT_EQ(a.label_format, "{name}");
  EXPECT_EQ(a.progress, 40);
  EXPECT_EQ(a.script, "");
  EXPECT_EQ(a.extra, (std::vector<CcAttribute>{{"size", "4", "4"}}));
  EXPECT_EQ(workflow.nodes[1].parents, (std::vector<uint32_t>{0, 2, 3}));
  EXPECT_EQ(workflow.nodes[2].script, "c1.sh");
  EXPECT_TRUE(workflow.nodes[4].marker);
  const auto again = parse_cc(save_cc(workflow), "f.yaml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->workflow, workflow);
}

TEST(CcEdit, TakesJobsOutWithTheirDependencies) {
  CcWorkflow workflow;
  ASSERT_TRUE(add_dependencies(workflow, "a,b,c"));
  ASSERT_TRUE(add_dependencies(workflow, "a,c"));
  ASSERT_TRUE(remove_job(workflow, "b"));
  EXPECT_EQ(jobs_csv(workflow),
            "number,host,status,name,progress,script,user,parent,kind\n"
            "0,,ready,a,0,a.sh,,,local\n"
            "2,,ready,c,0,c.sh,,a,local\n");
  EXPECT_EQ(remove_job(workflow, "b").error().code, ErrorCode::not_found);
}

TEST(CcEdit, WhatIsRefusedChangesNothing) {
  CcWorkflow workflow;
  ASSERT_TRUE(add_dependencies(workflow, "a,b"));
  const CcWorkflow before = workflow;
  const auto error = [](const Result<void>& result) { return result.error().message; };
  EXPECT_EQ(error(add_dependencies(workflow, "b,x,a")),
            "these nodes would wait for each other: a after x after b after a");
  EXPECT_EQ(error(add_dependencies(workflow, "n,,m")).substr(0, 19), "\"n,,m\", column 3: e");
  EXPECT_EQ(error(set_job(workflow, "a b", {})).substr(0, 14), "the node \"a b\"");
  EXPECT_EQ(error(set_job(workflow, "n", {{"progress", "101"}})),
            "progress is \"101\"; it must be a whole number from 0 to 100");
  EXPECT_EQ(error(set_job(workflow, "a", {{"script", "x\ny"}})),
            "script has a control character in it");
  EXPECT_EQ(error(set_job(workflow, "a", {{"name", "z"}})),
            "name cannot be changed; add a job of that name");
  EXPECT_EQ(workflow, before);
  EXPECT_EQ(parse_attribute("script=a=b.sh")->second, "a=b.sh");
  EXPECT_FALSE(parse_attribute("=x"));
}

}  // namespace
}  // namespace atl::spec::cc
