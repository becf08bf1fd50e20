#include "auth/hook.h"

#include <gtest/gtest.h>

namespace atl::auth {
namespace {

const Time kNow{1'700'000'000'000'000};
constexpr const char* kStamp = "1700000000";

http::Headers signed_with(const std::string& secret, const std::string& body,
                          const std::string& stamp = kStamp) {
  return {{"X-Atoll-Timestamp", stamp},
          {"X-Atoll-Signature", "sha256=" + hmac_sha256(secret, stamp + "." + body)}};
}

TEST(Hook, HmacIsThatOfRfc4231) {
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

// The example of GitHub's documentation.
TEST(Hook, GitHubsSignatureIsUnderstood) {
  const http::Headers headers{
      {"X-Hub-Signature-256",
       "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}};
  const auto keys = check_delivery("It's a Secret to Everybody", headers, "Hello, World!", kNow);
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->size(), 1u);
  EXPECT_FALSE(check_delivery("It's a Secret to Everybody", headers, "Hello, World?", kNow));
  EXPECT_FALSE(check_delivery("another", headers, "Hello, World!", kNow));
}

TEST(Hook, ADeliveryIsFreshAndUnchanged) {
  EXPECT_TRUE(check_delivery("s", signed_with("s", "{}"), "{}", kNow));
  EXPECT_FALSE(check_delivery("s", signed_with("s", "{}"), "{ }", kNow));
  EXPECT_FALSE(check_delivery("s", signed_with("t", "{}"), "{}", kNow));
  EXPECT_TRUE(check_delivery("s", signed_with("s", ""), "", kNow + minutes(5)));
  EXPECT_TRUE(check_delivery("s", signed_with("s", ""), "", kNow - minutes(5)));
  for (const Time late : {kNow + minutes(5) + seconds(1), kNow - minutes(5) - seconds(1)}) {
    const auto old = check_delivery("s", signed_with("s", ""), "", late);
    ASSERT_FALSE(old);
    EXPECT_EQ(old.error().code, ErrorCode::unauthorized);
    EXPECT_NE(old.error().message.find("more than 5 minutes off"), std::string::npos);
  }
}

TEST(Hook, TheStampIsPartOfWhatIsSigned) {
  http::Headers headers = signed_with("s", "{}");
  headers.set("X-Atoll-Timestamp", "1700000001");
  EXPECT_FALSE(check_delivery("s", headers, "{}", kNow));
  for (const char* bad : {"", "soon", "-1", "99999999999999999999"})
    EXPECT_FALSE(check_delivery("s", signed_with("s", "{}", bad), "{}", kNow)) << bad;
}

TEST(Hook, ADeliveryMayNameItself) {
  http::Headers headers = signed_with("s", "{}");
  headers.set("X-Atoll-Delivery", "42");
  const auto keys = check_delivery("s", headers, "{}", kNow);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->back(), "delivery 42");
  headers.set("X-Atoll-Delivery", std::string(201, 'x'));
  EXPECT_FALSE(check_delivery("s", headers, "{}", kNow));
}

TEST(Hook, WhatIsNotSignedIsTold) {
  EXPECT_FALSE(is_signed({}));
  EXPECT_FALSE(is_signed({{"X-Atoll-Timestamp", kStamp}}));
  EXPECT_TRUE(is_signed({{"X-Atoll-Signature", "sha256="}}));
  EXPECT_FALSE(check_delivery("s", {{"X-Atoll-Signature", "sha256="}}, "", kNow));
  EXPECT_NE(make_hook_secret(), make_hook_secret());
}

}  // namespace
}  // namespace atl::auth
