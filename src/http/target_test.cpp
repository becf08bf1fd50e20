#include "http/target.h"

#include <gtest/gtest.h>

namespace atl::http {
namespace {

using namespace std::string_literals;

TEST(Target, PathAndQueryAreDecoded) {
  const Target target = parse_target("/a%20b/%C3%A4?x=1&y=a+b%26c&flag&=v&&x=2").value();
  EXPECT_EQ(target.path, "/a b/ä");
  const Pairs expected = {{"x", "1"}, {"y", "a b&c"}, {"flag", ""}, {"", "v"}, {"x", "2"}};
  EXPECT_EQ(target.query, expected);
}

TEST(Target, AbsoluteFormLosesItsAuthority) {
  EXPECT_EQ(parse_target("http://host:80/a?b=c").value().path, "/a");
  EXPECT_EQ(parse_target("http://host").value().path, "/");
  EXPECT_EQ(parse_target("*").value().path, "*");
}

TEST(Target, HostilePathsAreRefused) {
  const std::string hostile[] = {"",
                                 "a",
                                 "/%",
                                 "/%4",
                                 "/%zz",
                                 "/%00",
                                 "/a%0ab",
                                 "/a\x7f"s,
                                 "/..",
                                 "/a/../b",
                                 "/a/./b",
                                 "/%2e%2e/etc/passwd",
                                 "/a/%2E",
                                 "/a%2f..%2fb",
                                 "/%c0%ae%c0%ae/",
                                 "/%c0%af",
                                 "/%e0%80%af",
                                 "/%ed%a0%80",
                                 "/%f4%90%80%80",
                                 "/%ff",
                                 "/%c3",
                                 "/?a=%00",
                                 "/?%c0%80=1",
                                 "/?a=%"};
  for (const std::string& raw : hostile) {
    const auto target = parse_target(raw);
    ASSERT_FALSE(target) << raw;
    EXPECT_EQ(target.error().code, ErrorCode::invalid);
  }
}

TEST(Target, TooManyParametersAreRefused) {
  std::string raw = "/?";
  for (int i = 0; i < 300; ++i) raw += "a&";
  EXPECT_FALSE(parse_target(raw));
}

TEST(Target, EncodingIsTheInverseOfDecoding) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  EXPECT_EQ(percent_decode(percent_encode(every)), every);
  EXPECT_EQ(percent_encode("a/b c~"), "a%2Fb%20c~");
}

}  // namespace
}  // namespace atl::http
