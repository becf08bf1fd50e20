#include "report/crate.h"

#include <gtest/gtest.h>

#include "report/crate_metadata.h"
#include "report/limits.h"
#include "report/test_runs.h"
#include "report/zip.h"

namespace atl::report {
namespace {

TEST(Crate, TheSameRunGivesTheSameBytes) {
  const auto crate = to_crate(connect_run());
  ASSERT_TRUE(crate);
  EXPECT_EQ(crate->substr(0, 4), "PK\x03\x04");
  EXPECT_EQ(to_crate(connect_run()), crate);
}

TEST(Crate, IsOfARunThatHasEnded) {
  WorkflowRun run = connect_run();
  run.ended = {};
  EXPECT_EQ(to_crate(run).error().code, ErrorCode::conflict);
}

TEST(Crate, NeedsTheWorkflowsFile) {
  WorkflowRun run = connect_run();
  run.files.clear();
  EXPECT_EQ(to_crate(run).error().code, ErrorCode::conflict);
}

TEST(Crate, HasABound) {
  WorkflowRun run = connect_run();
  run.steps[0].outputs[1].bytes = std::string(kCrateBytesMax + 1, 'x');
  EXPECT_EQ(to_crate(run).error().code, ErrorCode::too_large);
}

size_t times_in(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

std::string metadata_of(const WorkflowRun& run, const std::vector<const StepRun*>& steps) {
  CrateContents contents;
  contents.sources.push_back({.path = "workflow/f.yaml"});
  contents.steps = steps;
  return crate_metadata(run, contents);
}

TEST(Crate, OneWhoseStepsNeverRanClaimsNothingOfThem) {
  const WorkflowRun run = connect_run();
  const std::string none = metadata_of(run, {});
  EXPECT_EQ(times_in(none, "wfrun/provenance"), 0u);
  EXPECT_EQ(times_in(none, "HowTo"), 0u);
  const std::string two = metadata_of(run, {&run.steps[0], &run.steps[4]});
  EXPECT_EQ(times_in(two, R"("@type":"ControlAction")"), 2u);
  EXPECT_EQ(times_in(two, R"("@type":"CreateAction")"), 3u) << "and the workflow's own";
  EXPECT_EQ(times_in(two, R"("position":"5")"), 1u);
}

TEST(ArchivePath, StaysInsideItsFolder) {
  EXPECT_EQ(archive_path("a/b.txt"), "a/b.txt");
  EXPECT_EQ(archive_path("../../etc/passwd"), "etc/passwd");
  EXPECT_EQ(archive_path("/etc//./x"), "etc/x");
  EXPECT_EQ(archive_path("C:\\x"), "C__x");
  EXPECT_EQ(archive_path("a\n/ .. /b"), "a_n/b");
  EXPECT_EQ(archive_path(".."), "file");
  EXPECT_EQ(archive_path(""), "file");
}

TEST(Encoded, KeepsWhatPathsAreMadeOf) {
  EXPECT_EQ(encoded("outputs/a b/ü#?.txt"), "outputs/a%20b/%C3%BC%23%3F.txt");
  EXPECT_EQ(encoded("https://x/?y", ":?"), "https://x/?y");
}

}  // namespace
}  // namespace atl::report
