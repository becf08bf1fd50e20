#include "api/aside_message.h"

#include <gtest/gtest.h>

namespace atl::api {
namespace {

core::Outlooks some(int64_t at) {
  core::Outlooks starts;
  starts[JobId{7}] = {.at = {at}, .rough = true, .last = {at + 5}};
  starts[JobId{9}] = {.not_before = {3}};
  return starts;
}

TEST(AsideMessage, StartsComeBackAsTheyWere) {
  EXPECT_EQ(last_starts(starts_message(some(12))), some(12));
  EXPECT_EQ(last_starts(starts_message({})), core::Outlooks{});
}

TEST(AsideMessage, TheLastThatWasSaidInFullCounts) {
  const std::string first = starts_message(some(1)), second = starts_message(some(2));
  EXPECT_EQ(last_starts(first + second), some(2));
  for (size_t cut = 0; cut + 2 < second.size(); ++cut)
    EXPECT_EQ(last_starts(first + second.substr(0, cut)), some(1)) << cut;
  EXPECT_EQ(last_starts(""), core::Outlooks{});
  EXPECT_EQ(last_starts(first + "{\"starts\":[{\"job\":1}]}\n"), some(1));
}

TEST(AsideMessage, AnAnswerOrWhyThereIsNone) {
  const std::string body = "{\"sentence\":\"a \\\"word\\\"\\n\"}";
  EXPECT_EQ(answer_of(answer_message(body)), body);
  for (const ErrorCode code : {ErrorCode::invalid, ErrorCode::infeasible, ErrorCode::internal}) {
    const Error error{code, "no \"node\"\nis large enough", "jobs[1].cpus"};
    EXPECT_EQ(answer_of(answer_message(tl::unexpected(error))).error(), error);
  }
}

TEST(AsideMessage, AnythingElseIsRefused) {
  for (const char* said : {"", "{", "[]", "{\"body\":1}", "{\"refused\":{\"code\":\"nothing\"}}",
                           "{\"refused\":{\"code\":\"odd\",\"field\":\"\",\"message\":\"\"}}"})
    EXPECT_EQ(answer_of(said).error().code, ErrorCode::internal) << said;
}

}  // namespace
}  // namespace atl::api
