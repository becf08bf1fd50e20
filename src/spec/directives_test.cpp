#include "spec/directives.h"

#include <gtest/gtest.h>

namespace atl::spec {
namespace {

Directives read(std::string_view script) {
  auto read = read_directives(script);
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : Directives{};
}

TEST(Directives, SlurmWordsWithSlurmUnits) {
  const auto d = read(R"(#!/bin/bash
#SBATCH --job-name="my job"   # a comment
#SBATCH -t 90
#SBATCH --ntasks=2 -c 4
#SBATCH --mem=4000
#SBATCH --gres=gpu:a100:2
#SBATCH --array=1-10%2
#SBATCH --dependency=afterok:1:2,afterany:3

# more
#SBATCH -H
echo hello
#SBATCH --time=1
)");
  EXPECT_TRUE(d.warnings.empty()) << d.warnings[0].message;
  EXPECT_EQ(d.spec.name, "my job");
  EXPECT_EQ(d.spec.time, minutes(90));
  EXPECT_EQ(d.spec.cpus->milli, 8000);
  EXPECT_EQ(d.spec.memory->count, int64_t{4000} << 20);
  EXPECT_EQ(d.spec.gpus, "a100:2");
  EXPECT_EQ(d.spec.array, "1-10%2");
  ASSERT_EQ(d.spec.after->size(), 3u);
  EXPECT_EQ(d.spec.after->at(2).kind, "after_end");
  EXPECT_EQ(d.spec.hold, true);
}

TEST(Directives, MemoryPerCpuIsTimesTheCores) {
  const auto d = read("#SBATCH --mem-per-cpu=2G --cpus-per-task=3\n");
  EXPECT_EQ(d.spec.memory->count, int64_t{6} << 30);
}

TEST(Directives, OwnFlags) {
  const auto d = read(
      "#!/bin/sh\n#ATOLL --cpus 0.5 --mem 1Gi --time 2h -e A=1 --hold --notify-mail a@b.c\n#ATOLL "
      "--retries=3\n");
  EXPECT_EQ(d.spec.cpus->milli, 500);
  EXPECT_EQ(d.spec.memory->count, 1 << 30);
  EXPECT_EQ(d.spec.time, hours(2));
  EXPECT_EQ(d.spec.env->at("A"), "1");
  EXPECT_EQ(d.spec.retries->max, 3);
  EXPECT_EQ(d.spec.notify->mail, "a@b.c");
  EXPECT_EQ(d.spec.hold, true);
}

TEST(Directives, KnowEveryFlagOfSubmit) {
  for (const JobFlag& flag : job_flags()) {
    const auto read = read_directives(std::string("#ATOLL --") + flag.name + " 1\n");
    // A value may be refused and a word may be loose, but the flag is no stranger.
    for (const Warning& warning : read ? read->warnings : std::vector<Warning>{})
      EXPECT_EQ(warning.message.find("unknown"), std::string::npos) << warning.message;
    if (!read) EXPECT_NE(read.error().message.find(flag.name), std::string::npos);
  }
}

TEST(Directives, FlagsThatTheTableAloneDoesNotHave) {
  const auto d = read(
      "#ATOLL --after 1,after_end:2 --after-any 3 --after-fail 4 --after-ok 5 --after "
      "afternotok:6\n"
      "#ATOLL --no-network --notify https://x.example/h --notify a@b.c --stdin in.txt\n"
      "#ATOLL --retries 3 --retry-on 1,2 --backoff 10s --backoff-max 5m --retry-on-timeout\n"
      "#ATOLL --simulate run_for=5s,exit_code=1,start_error=no,really\n");
  EXPECT_TRUE(d.warnings.empty()) << d.warnings[0].message;
  std::string after;
  for (const AfterSpec& one : *d.spec.after) after += *one.kind + ":" + *one.job + " ";
  EXPECT_EQ(after,
            "after_success:1 after_end:2 after_end:3 after_failure:4 after_success:5 "
            "after_failure:6 ");
  EXPECT_EQ(d.spec.network, false);
  EXPECT_EQ(d.spec.notify->webhook, "https://x.example/h");
  EXPECT_EQ(d.spec.notify->mail, "a@b.c");
  EXPECT_EQ(d.spec.stdin_file, "in.txt");
  EXPECT_EQ(d.spec.retries->max, 3);
  EXPECT_EQ(d.spec.retries->exit_codes, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(d.spec.retries->backoff, seconds(10));
  EXPECT_EQ(d.spec.retries->backoff_max, minutes(5));
  EXPECT_EQ(d.spec.retries->on_timeout, true);
  EXPECT_EQ(d.spec.simulate->run_for, seconds(5));
  EXPECT_EQ(d.spec.simulate->exit_code, 1);
  EXPECT_EQ(d.spec.simulate->start_error, "no,really");
}

TEST(Directives, WhatOnlyTheCommandLineCanAnswerIsAWarningForTheServer) {
  const char* script = "#ATOLL --env-all --env NAME --stdin - --key k\n";
  const auto here = read_directives(script, Place::command_line);
  ASSERT_TRUE(here);
  EXPECT_TRUE(here->warnings.empty());
  EXPECT_TRUE(here->env_all && here->stdin_here);
  EXPECT_EQ(here->env_names, std::vector<std::string>{"NAME"});
  EXPECT_EQ(here->key, "k");
  EXPECT_EQ(read(script).warnings.size(), 4u);
}

TEST(Directives, SlurmsMemoryOfZeroIsTheDefault) {
  EXPECT_FALSE(read("#SBATCH --mem=0 --mem-per-cpu=0\n").spec.memory);
}

TEST(Directives, WhatIsUnknownIsAWarningWithItsLine) {
  const auto d = read(
      "#!/bin/sh\n#SBATCH -o out.%j --partition gpu --tyme=3\n#ATOLL --cpuss 2\n#ATOLL loose\n");
  ASSERT_EQ(d.warnings.size(), 5u);
  EXPECT_EQ(d.warnings[0].line, 2u);
  EXPECT_NE(d.warnings[0].message.find("--output has no meaning here"), std::string::npos);
  EXPECT_NE(d.warnings[2].message.find("did you mean --time?"), std::string::npos)
      << d.warnings[2].message;
  EXPECT_EQ(d.warnings[3].line, 3u);
  EXPECT_NE(d.warnings[3].message.find("--cpus?"), std::string::npos);
  EXPECT_EQ(d.spec, JobSpec{});
}

TEST(Directives, ABadValueIsAnErrorWithItsLine) {
  for (const char* script :
       {"\n#SBATCH --time=soon\n", "\n#SBATCH --mem\n", "\n#ATOLL --cpus x\n",
        "\n#SBATCH -d singleton\n", "\n#SBATCH --gres=gpu:a100:x\n", "\n#SBATCH -n 0\n",
        "\n#SBATCH --mem=4K\n", "\n#ATOLL --mem 0\n", "\n#ATOLL --after end:1\n",
        "\n#ATOLL --simulate run_fast=1\n", "\n#ATOLL --retry-on x\n"}) {
    const auto d = read_directives(script);
    ASSERT_FALSE(d) << script;
    EXPECT_EQ(d.error().message.substr(0, 7), "line 2:") << d.error().message;
  }
}

TEST(Directives, OnlyTheLeadingBlockOfAMillionLinesIsRead) {
  std::string script = "#!/bin/sh\n#ATOLL --cpus 2\n";
  for (int i = 0; i < 1'000'000; ++i) script += "echo x\n";
  EXPECT_EQ(read(script).spec.cpus->milli, 2000);
  EXPECT_EQ(read(std::string(8 << 20, '#')).spec, JobSpec{});
}

TEST(Directives, NoScriptIsTooOdd) {
  EXPECT_EQ(read("").spec, JobSpec{});
  EXPECT_EQ(read("#ATOLLS are islands\n#SBATCHx\n").warnings.size(), 0u);
  EXPECT_EQ(read("#ATOLL \"unclosed\n").warnings.size(), 1u);
  EXPECT_EQ(read("#ATOLL -\n#ATOLL --\n").warnings.size(), 2u);
}

}  // namespace
}  // namespace atl::spec
