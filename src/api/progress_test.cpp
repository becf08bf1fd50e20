#include "api/testing.h"

namespace atl::api {
namespace {

class ProgressViews : public ApiTest {
 protected:
  // Of a job, as show, the list and its tasks have it.
  std::string shown(const std::string& target) {
    const std::string body = as("ada", "GET", "/api/v1/jobs" + target).body;
    const size_t at = body.find("\"progress\":");
    if (at == std::string::npos) return "none in " + body;
    const size_t from = at + 11;
    return body.substr(from, body[from] == '{' ? body.find('}', from) + 1 - from : 4);
  }
  void tell(uint64_t job, uint32_t index, site::Progress progress) {
    driver->told[{JobId{job}, index, 1}] = std::move(progress);
  }
};

TEST_F(ProgressViews, ARunningJobShowsWhatItSays) {
  const std::string id = submit("ada", R"({"command":["x"]})");
  EXPECT_EQ(shown("/" + id), "null");
  start(id);
  EXPECT_EQ(shown("/" + id), "null");
  tell(1, 0,
       {.percent_milli = 40'500,
        .status = "running",
        .message = "epoch 4",
        .pid = 123,
        .at = clock.time,
        .ignored = 2});
  const std::string expected =
      R"({"percent":40.5,"status":"running","message":"epoch 4","pid":123,)"
      R"("at":"2026-09-21T14:13:20Z","ignored":2})";
  EXPECT_EQ(shown("/" + id), expected);
  EXPECT_EQ(shown(""), expected);
  EXPECT_EQ(shown("/" + id + "/tasks"), expected);
  end(id, 0);
  EXPECT_EQ(shown("/" + id), "null");
  EXPECT_EQ(shown(""), "null");
  EXPECT_EQ(shown("/" + id + "/tasks"), "null");
}

TEST_F(ProgressViews, OneThatOnlyForgedHasNoPercent) {
  const std::string id = submit("ada", R"({"command":["x"]})");
  start(id);
  tell(1, 0, {.ignored = 3});
  EXPECT_EQ(shown("/" + id),
            R"({"percent":null,"status":null,"message":null,"pid":null,"at":null,"ignored":3})");
}

TEST_F(ProgressViews, OfAnArrayItIsTheMeanOverAllItsTasks) {
  const std::string id = submit("ada", R"({"command":["x"],"array":"1-8"})");
  for (const uint32_t index : {1, 2, 3}) start(id, index);
  EXPECT_EQ(shown("/" + id), "null") << "nothing has ended and nobody says anything";
  tell(1, 1, {.percent_milli = 50'000, .status = "running", .at = clock.time});
  tell(1, 2, {.percent_milli = 30'000});
  const std::string ten = R"({"percent":10,"status":null,"message":null,"pid":null,)"
                          R"("at":"2026-09-21T14:13:20Z","ignored":0})";
  EXPECT_EQ(shown("/" + id), ten);
  EXPECT_EQ(shown(""), ten);
  EXPECT_NE(shown("/" + id + "[2]").find("\"percent\":30,"), std::string::npos);
  EXPECT_EQ(shown("/" + id + "[3]"), "null");
  EXPECT_EQ(shown("/" + id + "[8]"), "null");
  end(id, 1, 3);
  EXPECT_NE(shown("/" + id).find("\"percent\":22.5,"), std::string::npos) << "as good as done";
  end(id, 0, 1);
  EXPECT_NE(shown("/" + id).find("\"percent\":28.75,"), std::string::npos) << shown("/" + id);
}

}  // namespace
}  // namespace atl::api
