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
