// How far a job is, as people see it.
#include <gtest/gtest.h>

#include "cli/job_view.h"

namespace atl::cli {
namespace {

Json job_with(const std::string& progress) {
  return *Json::parse(R"({"id":"7","name":"n","state":"running","progress":)" + progress + "}");
}

std::string listed(const std::string& progress, Format format = Format::table) {
  Globals globals;
  globals.format = format;
  return format_list(job_list_view(), {job_with(progress)}, globals, Terminal{});
}

TEST(Percent, IsRoundedDownAndEmptyWhenNotKnown) {
  EXPECT_EQ(show_percent(job_with(R"({"percent":40})")), "40%");
  EXPECT_EQ(show_percent(job_with(R"({"percent":99.999})")), "99%");
  EXPECT_EQ(show_percent(job_with(R"({"percent":0})")), "0%");
  EXPECT_EQ(show_percent(job_with(R"({"percent":null,"ignored":2})")), "");
  EXPECT_EQ(show_percent(job_with("null")), "");
}

TEST(Bar, HasTheWordsOfTheJobBehindIt) {
  EXPECT_EQ(show_bar(job_with(R"({"percent":40,"status":"running","message":"epoch 4"})")),
            "[########------------]  40%  running: epoch 4");
  EXPECT_EQ(show_bar(job_with(R"({"percent":100,"message":"done"})")),
            "[####################] 100%  done");
  EXPECT_EQ(show_bar(job_with(R"({"percent":0,"status":null})")), "[--------------------]   0%");
  EXPECT_EQ(show_bar(job_with(R"({"percent":null})")), "");
  EXPECT_EQ(show_bar(job_with("null")), "");
}

TEST(ProgressColumn, IsThereWhenAnyJobHasItOrInWide) {
  EXPECT_NE(listed(R"({"percent":40})").find("PROGRESS"), std::string::npos);
  EXPECT_NE(listed(R"({"percent":40})").find(" 40% "), std::string::npos);
  EXPECT_EQ(listed("null").find("PROGRESS"), std::string::npos);
  EXPECT_NE(listed("null", Format::wide).find("PROGRESS"), std::string::npos);
}

}  // namespace
}  // namespace atl::cli
