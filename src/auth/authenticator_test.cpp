#include "auth/authenticator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "auth/token.h"
#include "core/core.h"

namespace atl::auth {
namespace {

class Identify : public testing::Test {
 protected:
  void happen(core::EventBody body) {
    core::apply(state, core::Event{Time{1000}, UserId{1}, std::move(body)});
  }

  void SetUp() override {
    happen(core::UserCreated{UserId{1}, "root", true, {}});
    happen(core::UserCreated{UserId{2}, "ada", false, 1000});
    happen(core::UserCreated{UserId{3}, "eve", false, 1001});
    happen(core::UserChanged{UserId{3}, true, false, 1001});
    happen(core::NamespaceCreated{NamespaceId{1}, "default"});
    happen(
        core::TokenCreated{TokenId{1}, UserId{2}, good.hash, "", Time{}, true, {NamespaceId{1}}});
    happen(core::TokenCreated{TokenId{2}, UserId{2}, old.hash, "", Time{5000}, false, {}});
    directory.refresh(state);
  }

  http::Request with_token(const std::string& value) {
    http::Request request;
    request.headers.add("authorization", value);
    return request;
  }
  http::Request from_account(uint32_t uid) {
    http::Request request;
    request.peer.unix_socket = true;
    request.peer.uid = uid;
    return request;
  }

  NewToken good = make_token();
  NewToken old = make_token();
  Time now{4000};
  core::State state;
  Directory directory;
  Authenticator authenticator{directory, {.server_uid = 77, .now = [this] { return now; }}};
};

TEST_F(Identify, ATokenNarrowsItsUser) {
  const auto actor = authenticator.identify(with_token("Bearer " + good.secret));
  ASSERT_TRUE(actor);
  EXPECT_EQ(actor->user, UserId{2});
  EXPECT_TRUE(actor->read_only);
  EXPECT_EQ(actor->namespaces.size(), 1u);
  EXPECT_TRUE(authenticator.identify(with_token("bearer  " + good.secret)));
}

TEST_F(Identify, ATokenMayHaveTheShapeOfAJwt) {
  const std::string jwt = as_jwt(good.secret, "ada", "atoll", Time{});
  EXPECT_EQ(std::count(jwt.begin(), jwt.end(), '.'), 2);
  EXPECT_EQ(authenticator.identify(with_token("Bearer " + jwt))->user, UserId{2});
  http::Request request;
  request.headers.add("X-Tapis-Token", jwt);
  EXPECT_EQ(authenticator.identify(request)->user, UserId{2});
  http::Request forged;
  forged.headers.add("X-Tapis-Token", jwt.substr(0, jwt.rfind('.') + 1));
  EXPECT_FALSE(authenticator.identify(forged)) << "claims alone are worth nothing";
}

TEST_F(Identify, ATokenExpires) {
  EXPECT_TRUE(authenticator.identify(with_token("Bearer " + old.secret)));
  now = Time{5000};
  EXPECT_EQ(authenticator.identify(with_token("Bearer " + old.secret)).error().code,
            ErrorCode::unauthorized);
}

TEST_F(Identify, ARevokedTokenIsNobodysAtOnce) {
  const core::Events events{core::Event{Time{2000}, UserId{2}, core::TokenRevoked{TokenId{1}}}};
  core::apply(state, events[0]);
  directory.on_commit(state, events);
  EXPECT_FALSE(authenticator.identify(with_token("Bearer " + good.secret)));
}

TEST_F(Identify, NobodyIsBehindOddHeaders) {
  for (const std::string& odd :
       {std::string(), std::string("Bearer"), std::string("Bearer "), "Basic " + good.secret,
        "Bearer " + good.secret + "x", "Bearer " + std::string(100000, 'a')}) {
    EXPECT_EQ(authenticator.identify(with_token(odd)).error().code, ErrorCode::unauthorized)
        << odd.substr(0, 20);
  }
  EXPECT_FALSE(authenticator.identify(http::Request{}));
}

TEST_F(Identify, TheSocketsAccountIsTheUser) {
  EXPECT_EQ(authenticator.identify(from_account(1000))->user, UserId{2});
  EXPECT_EQ(authenticator.identify(from_account(0))->user, UserId{1});
  EXPECT_EQ(authenticator.identify(from_account(77))->user, UserId{1});
  EXPECT_EQ(authenticator.identify(from_account(1001)).error().code, ErrorCode::forbidden);
  const auto stranger = authenticator.identify(from_account(4711));
  EXPECT_EQ(stranger.error().code, ErrorCode::unauthorized);
  EXPECT_NE(stranger.error().message.find("--uid 4711"), std::string::npos);
}

TEST_F(Identify, TakesLessThanFiftyMicroseconds) {
  const http::Request request = with_token("Bearer " + good.secret);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(authenticator.identify(request));
  const auto each = (std::chrono::steady_clock::now() - start) / 1000;
  EXPECT_LT(each, std::chrono::microseconds(50));
}

TEST(Token, IsLongAndNeverTheSame) {
  const NewToken a = make_token();
  const NewToken b = make_token();
  EXPECT_TRUE(a.secret.starts_with("atl_"));
  EXPECT_EQ(a.secret.size(), 47u);
  EXPECT_NE(a.secret, b.secret);
  EXPECT_EQ(a.hash, hash_token(a.secret));
}

}  // namespace
}  // namespace atl::auth
