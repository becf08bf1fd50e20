#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "site/slurm/cluster.h"
#include "site/slurm/job_name.h"
#include "site/slurm/job_record.h"

namespace atl::site {
namespace {

// What the real programs said, kept beside the fuzzer that begins with it.
std::string said(const std::string& name) {
  std::ifstream file("tests/corpus/slurm_output/" + name);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << name;
  return bytes.str();
}

std::map<uint64_t, JobRecord> jobs_in(const std::string& name) {
  std::map<uint64_t, JobRecord> jobs;
  const auto read = parse_jobs(said(name));
  EXPECT_TRUE(read.has_value()) << name;
  for (const JobRecord& job : *read) jobs[job.id] = job;
  return jobs;
}

TEST(SlurmName, IsReadAgain) {
  const AttemptId attempt{JobId{12}, 7, 2};
  const std::string name = slurm_job_name("lab-ab12-1", attempt);
  EXPECT_EQ(name, "atoll-lab-ab12-1-12.7.2");
  EXPECT_EQ(attempt_of_name("lab-ab12-1", name), attempt);
}

TEST(SlurmName, OfAnotherInstallationOrEpochIsNotOurs) {
  const std::string name = slurm_job_name("lab-1", {JobId{12}, 7, 2});
  EXPECT_EQ(attempt_of_name("lab-2", name), std::nullopt);
  EXPECT_EQ(attempt_of_name("la", name), std::nullopt);
  for (const char* odd :
       {"", "atoll-lab-1-", "atoll-lab-1-1.2", "atoll-lab-1-1.2.x", "atoll-lab-1-1.-2.3",
        "atoll-lab-1-1.4294967296.3", "atoll-lab-1-1.2.3.4"})
    EXPECT_EQ(attempt_of_name("lab-1", odd), std::nullopt) << odd;
}

TEST(SlurmVersion, IsFoundInWhatSinfoSays) {
  EXPECT_EQ(parse_slurm_version("slurm-wlm 22.05.8\n"), (SlurmVersion{22, 5}));
  EXPECT_EQ(parse_slurm_version("slurm 24.11.5"), (SlurmVersion{24, 11}));
  EXPECT_EQ(parse_slurm_version("nonsense"), SlurmVersion{});
  EXPECT_LT(parse_slurm_version("slurm-wlm 22.05.8"), kSoundJson);
  EXPECT_GE(parse_slurm_version("slurm 23.02.1"), kSoundJson);
}

TEST(SlurmJobs, LinesOfTheQueueOf2205) {
  const auto jobs = jobs_in("squeue-22.05.txt");
  ASSERT_EQ(jobs.size(), 6u);
  EXPECT_EQ(jobs.at(2).state, "FAILED");
  EXPECT_EQ(jobs.at(2).exit_code, 3);
  EXPECT_EQ(jobs.at(2).signal, 0);
  EXPECT_EQ(jobs.at(2).started, Time{1795012331'000000});
  EXPECT_EQ(jobs.at(2).ended, Time{1795012352'000000});
  EXPECT_EQ(jobs.at(2).name, "atoll-test-1-2.0.1");
  EXPECT_EQ(jobs.at(4).reason, "PartitionTimeLimit");
  EXPECT_EQ(jobs.at(4).started, Time{});
  EXPECT_EQ(jobs.at(9).restarts, 1u);
  EXPECT_EQ(jobs.at(9).nodes, "n[1-2]");
  EXPECT_EQ(jobs.at(1).reason, "");
}

TEST(SlurmJobs, LinesOfAccountingSayWhoCancelled) {
  const auto jobs = jobs_in("sacct-22.05.txt");
  EXPECT_EQ(jobs.at(2).exit_code, 3);
  EXPECT_EQ(jobs.at(4).nodes, "");
  const auto cancelled =
      parse_jobs("11|CANCELLED by 1000|None|0:15|1795012391|1795012392|n1|atoll-x-1.0.1\n");
  ASSERT_EQ(cancelled->size(), 1u);
  EXPECT_EQ(cancelled->front().state, "CANCELLED");
  EXPECT_EQ(cancelled->front().cancelled_by, "1000");
  EXPECT_EQ(cancelled->front().signal, 15);
  EXPECT_EQ(cancelled->front().name, "atoll-x-1.0.1");
}

TEST(SlurmJobs, JsonOf2411IsTheSame) {
  for (const char* name : {"squeue-24.11.json", "squeue-24.11.txt", "sacct-24.11.json"}) {
    const auto jobs = jobs_in(name);
    ASSERT_FALSE(jobs.empty()) << name;
    for (const auto& [id, job] : jobs) {
      EXPECT_FALSE(job.name.empty()) << name;
      EXPECT_FALSE(job.state.empty()) << name;
    }
  }
  EXPECT_EQ(jobs_in("sacct-24.11.json").at(3).exit_code, 3);
  EXPECT_EQ(jobs_in("sacct-24.11.json").at(3).state, "FAILED");
}

TEST(SlurmJobs, WhatIsNoRecordIsLeftOut) {
  const auto read =
      parse_jobs("sacct: warning: something\n\n|||||||||\nabc|RUNNING|a|b|c|d|e|f|g|\n");
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->empty());
  EXPECT_FALSE(parse_jobs("{\"jobs\": 5}").has_value());
  EXPECT_FALSE(parse_jobs("{\"jobs\": [").has_value());
  const auto odd =
      parse_jobs(R"({"jobs":[{"job_id":{"set":true,"number":7},"job_state":["RUNNING","X"],
      "new_field":[{}],"exit_code":{"return_code":99999}},{"job_id":"x"},5]})");
  ASSERT_EQ(odd->size(), 1u);
  EXPECT_EQ(odd->front().id, 7u);
  EXPECT_EQ(odd->front().state, "RUNNING");
}

TEST(SlurmCluster, NodesOfBothVersions) {
  for (const char* name : {"nodes-22.05.txt", "nodes-24.11.json"}) {
    const auto nodes = parse_nodes(said(name));
    ASSERT_TRUE(nodes.has_value()) << name;
    const core::SiteReport report = report_cluster(*nodes, {"main"});
    ASSERT_GE(report.nodes.size(), 2u) << name;
    EXPECT_EQ(report.nodes[1].name, "n2");
    EXPECT_EQ(report.nodes[1].cpu_milli, 256'000);
    EXPECT_EQ(report.nodes[1].memory_bytes, int64_t{256000} << 20);
    ASSERT_EQ(report.nodes[1].devices.size(), 4u);
    EXPECT_EQ(report.nodes[1].devices[0].kind, "gpu");
    EXPECT_EQ(report.nodes[1].devices[0].model, "a100");
    EXPECT_EQ(report.nodes[1].devices[3].model, "v100");
    EXPECT_EQ(report_cluster(*nodes, {"gpu"}).nodes.size(), 1u);
  }
}

TEST(SlurmCluster, PartitionsOfBothVersions) {
  for (const char* name : {"partitions-22.05.txt", "partitions-24.11.json"}) {
    const auto partitions = parse_partitions(said(name));
    ASSERT_TRUE(partitions.has_value()) << name;
    ASSERT_GE(partitions->size(), 2u);
    EXPECT_EQ(partitions->at(0).name, "main");
    EXPECT_EQ(partitions->at(0).time_max, hours(24 * 7)) << name;
    EXPECT_EQ(partitions->at(1).name, "short");
    EXPECT_EQ(partitions->at(1).time_max, minutes(10)) << name;
    EXPECT_EQ(partitions->at(1).nodes_max, 0) << name;
    EXPECT_TRUE(partitions->at(1).up);
  }
}

TEST(SlurmCluster, NodesThatAreAwayAreLeftOut) {
  const auto usable = [](std::string state) {
    const auto nodes = parse_nodes("NodeName=a CPUTot=4 State=" + state + " RealMemory=100");
    return node_usable(nodes->front());
  };
  for (const char* state :
       {"IDLE", "MIXED", "ALLOCATED", "IDLE+CLOUD", "MIXED+PLANNED", "COMPLETING"})
    EXPECT_TRUE(usable(state)) << state;
  for (const char* state : {"DOWN", "DOWN*", "IDLE*", "IDLE+DRAIN", "MIXED+DRAIN", "IDLE+MAINT",
                            "UNKNOWN", "IDLE+FAIL", "FUTURE", "ALLOCATED+DRAIN+NOT_RESPONDING", ""})
    EXPECT_FALSE(usable(state)) << state;
}

TEST(SlurmCluster, AReasonCannotForgeAField) {
  const auto nodes = parse_nodes("NodeName=a CPUTot=4 State=DOWN Reason=was State=IDLE [root@x]");
  EXPECT_FALSE(node_usable(nodes->front()));
}

TEST(SlurmCluster, GresOfManyShapes) {
  EXPECT_EQ(devices_of_gres("gpu:4").size(), 4u);
  EXPECT_EQ(devices_of_gres("gpu:4")[0].model, "");
  EXPECT_EQ(devices_of_gres("gpu:a100:2(S:0,1),gpu:v100:1(S:0-1)").size(), 3u);
  EXPECT_TRUE(
      devices_of_gres("bandwidth:lustre:4G,(null),:,gpu:,gpu:0,gpu:-1,gpu:99999999").empty());
}

}  // namespace
}  // namespace atl::site
