#include "spec/cloudmesh/cc_write.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace atl::spec::cc {
namespace {

constexpr Time kRunAt{1'659'057'724'583'760};

CcWorkflow small() {
  const auto file = parse_cc(R"(workflow:
  nodes:
    a: {user: ada, host: local, label: '{name} {progress} {dt.}', script: 'x,"y".sh', size: 3}
    b: {exec: echo}
  dependencies: ['a,b']
)",
                             "f.yaml");
  EXPECT_TRUE(file) << file.error().message;
  return file.value_or(CcFile{}).workflow;
}

CcRun ran() {
  CcRun run;
  run.created = run.started = kRunAt;
  run.now = kRunAt + seconds(90);
  run.jobs["a"] = {.status = "done",
                   .progress = 100,
                   .pid = "12",
                   .created = kRunAt,
                   .modified = kRunAt + seconds(61),
                   .started = kRunAt,
                   .ended = kRunAt + seconds(60)};
  run.jobs["b"] = {.status = "running", .progress = 10};
  return run;
}

TEST(CcWords, MapBothWays) {
  for (const char* word : {"running", "failed"}) EXPECT_EQ(cc_status(step_state(word)), word);
  EXPECT_EQ(cc_status("succeeded"), "done");
  EXPECT_EQ(cc_status("waiting"), "ready");
  EXPECT_EQ(cc_status("preparing"), "submitted");
  EXPECT_EQ(cc_status("blocked"), "failed");
  EXPECT_EQ(cc_status("what"), "undefined");
  EXPECT_EQ(step_state("done"), "succeeded");
  EXPECT_EQ(step_state("completed"), "succeeded");
  EXPECT_EQ(step_state("undefined"), "blocked");
  EXPECT_EQ(step_state("lost"), "blocked");
}

TEST(CcWords, OneForTheWholeWorkflow) {
  const auto status = [](const char* a, const char* b) {
    CcWorkflow workflow = small();
    workflow.nodes[0].status = a;
    workflow.nodes[1].status = b;
    return std::string(workflow_status(workflow));
  };
  EXPECT_EQ(status("ready", "ready"), "ready");
  EXPECT_EQ(status("done", "ready"), "running");
  EXPECT_EQ(status("ready", "submitted"), "running");
  EXPECT_EQ(status("done", "done"), "done");
  EXPECT_EQ(status("done", "failed"), "failed");
  EXPECT_EQ(status("done", "undefined"), "undefined");
}

TEST(CcWrite, TheStateOfARunIsInWhatIsSaved) {
  const CcWorkflow now = with_run(small(), ran(), true);
  EXPECT_EQ(now.nodes[0].label, "a 100 00:01:00");
  EXPECT_EQ(now.nodes[0].label_format, "{name} {progress} {dt.}");
  EXPECT_EQ(now.nodes[0].created, "2022-07-29 01:22:04.583760");
  EXPECT_EQ(now.nodes[0].modified, "2022-07-29 01:23:05.583760");
  EXPECT_EQ(now.nodes[1].status, "running");
  const auto again = parse_cc(save_cc(now), "f.yaml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->workflow, now);
  EXPECT_EQ(status_counts(now).at("done"), 1u);
  EXPECT_EQ(status_counts(now).at("failed"), 0u);
}

TEST(CcWrite, JsonIsThatOfItsRoutes) {
  const CcWorkflow now = with_run(small(), ran(), false);
  EXPECT_EQ(
      status_json(now),
      "{\"workflow\": \"running\", \"jobs\": {\"a\": {\"status\": \"done\", \"progress\": 100}, "
      "\"b\": {\"status\": \"running\", \"progress\": 10}}}");
  const auto whole = boost::json::parse(workflow_json(now));
  EXPECT_EQ(whole.at("dependencies").at("a-b").at("source"), "a");
  EXPECT_EQ(whole.at("nodes").at("b").at("parent"), boost::json::array({"a"}));
  EXPECT_EQ(whole.at("nodes").at("a").at("size"), 3);
  EXPECT_TRUE(whole.at("nodes").at("b").at("script").is_null());
  EXPECT_EQ(boost::json::parse(jobs_json(now)).at("jobs"), whole.at("nodes"));
  EXPECT_EQ(boost::json::parse(job_json(now, now.nodes[0])), whole.at("nodes").at("a"));
}

TEST(CcWrite, TimesAreThoseThatAreKnown) {
  EXPECT_EQ(times_dat(small(), ran()),
            "times:\n"
            "  created_time: '07/29/2022, 01:22:04'\n"
            "  created_time_a: '07/29/2022, 01:22:04'\n"
            "  modified_time_a: '07/29/2022, 01:23:05'\n"
            "  t0_f: '07/29/2022, 01:22:04'\n"
            "  tend_a: '07/29/2022, 01:23:04'\n"
            "  tstart_a: '07/29/2022, 01:22:04'\n");
  EXPECT_EQ(times_dat(small(), {}), "times: {}\n");
}

TEST(CcWrite, TablesHaveARowForEachNode) {
  EXPECT_EQ(jobs_csv(small()),
            "number,host,status,name,progress,script,user,parent,kind\n"
            "0,local,ready,a,0,\"x,\"\"y\"\".sh\",ada,,local\n"
            "1,,ready,b,0,,,a,local\n");
  EXPECT_EQ(jobs_table(small()),
            "+--------+-------+--------+------+----------+----------+------+--------+-------+\n"
            "| number | host  | status | name | progress | script   | user | parent | kind  |\n"
            "+--------+-------+--------+------+----------+----------+------+--------+-------+\n"
            "| 0      | local | ready  | a    | 0        | x,\"y\".sh | ada  |        | local |\n"
            "| 1      |       | ready  | b    | 0        |          |      | a      | local |\n"
            "+--------+-------+--------+------+----------+----------+------+--------+-------+\n");
}

}  // namespace
}  // namespace atl::spec::cc
