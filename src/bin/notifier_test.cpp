#include "bin/notifier.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "http/server.h"

namespace atl::bin {
namespace {

core::Notice notice(core::Notify target) {
  return {NoticeId{7},           JobId{12},       "train",           "lab",
          core::Outcome::failed, Time{1'000'000}, std::move(target), "exit code 3"};
}

// What the notifier reports of one notice.
core::NoticeReported deliver(const std::string& mail_command, core::Notify target) {
  std::promise<core::NoticeReported> reported;
  Notifier notifier(mail_command, [&](core::Report report) {
    reported.set_value(std::get<core::NoticeReported>(report));
  });
  notifier.send(notice(std::move(target)));
  return reported.get_future().get();
}

TEST(Notifier, PostsToTheWebhook) {
  std::promise<std::string> body;
  http::Router router;
  router.add("POST", "/hook", [&](std::shared_ptr<http::Exchange> exchange) {
    body.set_value(exchange->take_body());
    exchange->respond({.status = 204});
  });
  http::ServerOptions options;
  options.tcp_listeners.push_back({});
  auto server = http::Server::start(options, std::move(router));
  ASSERT_TRUE(server);
  const auto reported =
      deliver("", {"http://127.0.0.1:" + std::to_string((*server)->tcp_port()) + "/hook", ""});
  EXPECT_TRUE(reported.delivered) << reported.message;
  EXPECT_EQ(reported.id, NoticeId{7});
  const std::string sent = body.get_future().get();
  EXPECT_NE(sent.find("\"outcome\":\"failed\""), std::string::npos) << sent;
  EXPECT_NE(sent.find("\"message\":\"exit code 3\""), std::string::npos) << sent;
}

TEST(Notifier, GivesTheMessageToTheMailCommand) {
  const std::string file = ::testing::TempDir() + "/atoll-mail";
  const auto reported = deliver("cat > " + file, {"", "pi@example.org"});
  EXPECT_TRUE(reported.delivered) << reported.message;
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("To: pi@example.org\nSubject: [atoll] job 12 train failed\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(": exit code 3.\n"), std::string::npos) << text;
  std::filesystem::remove(file);
}

TEST(Notifier, SaysWhyItCouldNotDeliver) {
  const auto unconfigured = deliver("", {"", "pi@example.org"});
  EXPECT_FALSE(unconfigured.delivered);
  EXPECT_EQ(unconfigured.message, "no mail_command is configured");
  EXPECT_FALSE(deliver("cat >/dev/null", {"", "a\nBcc: everyone@example.org"}).delivered);
}

}  // namespace
}  // namespace atl::bin
