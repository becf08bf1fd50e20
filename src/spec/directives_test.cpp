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
        "\n#SBATCH -d singleton\n", "\n#SBATCH --gres=gpu:a100:x\n", "\n#SBATCH -n 0\n"}) {
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
