#include "cli/contexts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "http/test_support.h"

namespace atl::cli {
namespace {

using http::testing::TempDir;

Environment with(std::map<std::string, std::string> variables) {
  auto kept = std::make_shared<std::map<std::string, std::string>>(std::move(variables));
  return [kept](const char* name) {
    const auto found = kept->find(name);
    return found == kept->end() ? nullptr : found->second.c_str();
  };
}

const Contexts kTwo{
    .current = "lab",
    .named = {
        {"lab", {.url = "https://lab.example", .token = "t1", .ns = "vision", .ca_file = ""}},
        {"tunnel", {.url = "http://localhost:7380", .token = "t2", .ns = "", .ca_file = ""}}}};

TEST(Contexts, AreKeptForTheirOwnerOnly) {
  const TempDir dir;
  const std::string path = dir / "atoll/contexts.yaml";
  EXPECT_EQ(load_contexts(path).value(), Contexts{});
  ASSERT_TRUE(save_contexts(path, kTwo));
  EXPECT_EQ(load_contexts(path).value(), kTwo);
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(Contexts, SayWhereTheirFileIsWrong) {
  const TempDir dir;
  std::ofstream(dir / "c.yaml") << "contexts:\n  lab: [\n";
  const auto broken = load_contexts(dir / "c.yaml");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("c.yaml:3"), std::string::npos) << broken.error().message;
  std::ofstream(dir / "d.yaml") << "contexts:\n  lab: 3\n";
  EXPECT_FALSE(load_contexts(dir / "d.yaml"));
}

TEST(Target, IsTheLocalSocketByDefault) {
  const auto target = resolve_target({}, {}, with({{"HOME", "/home/ada"}})).value();
  EXPECT_EQ(target.url, "unix:/home/ada/.local/share/atoll/atoll.sock");
  EXPECT_TRUE(target.local);
  EXPECT_EQ(resolve_target({}, {}, with({{"XDG_DATA_HOME", "/data"}})).value().home, "/data/atoll");
  EXPECT_EQ(resolve_target({}, {}, with({{"XDG_DATA_HOME", "data"}, {"HOME", "/h"}})).value().home,
            "/h/.local/share/atoll");
}

TEST(Target, TheFirstThatIsSaidWins) {
  const auto env =
      with({{"HOME", "/h"}, {"ATOLL_URL", "https://env.example"}, {"ATOLL_TOKEN", "te"}});
  EXPECT_EQ(
      resolve_target({.home = "", .url = "https://flag.example", .context = "tunnel"}, kTwo, env)
          .value()
          .url,
      "https://flag.example");
  const auto named =
      resolve_target({.home = "", .url = "", .context = "tunnel"}, kTwo, env).value();
  EXPECT_EQ(named.url, "http://localhost:7380");
  EXPECT_EQ(named.token, "t2");
  EXPECT_EQ(resolve_target({}, kTwo, env).value().url, "https://env.example");
  EXPECT_EQ(resolve_target({.home = "/srv/a/", .url = "", .context = ""}, kTwo, env).value().url,
            "unix:/srv/a/atoll.sock");
  const auto home = with({{"HOME", "/h"}, {"ATOLL_HOME", "/srv/b"}});
  EXPECT_EQ(resolve_target({}, kTwo, home).value().url, "unix:/srv/b/atoll.sock");
  EXPECT_EQ(
      resolve_target({.home = "", .url = "", .context = "local"}, kTwo, with({{"HOME", "/h"}}))
          .value()
          .url,
      "unix:/h/.local/share/atoll/atoll.sock");
}

TEST(Target, TheCurrentContextGivesTokenAndNamespace) {
  const auto current = resolve_target({}, kTwo, with({{"HOME", "/h"}})).value();
  EXPECT_EQ(current.url, "https://lab.example");
  EXPECT_EQ(current.token, "t1");
  EXPECT_EQ(current.ns, "vision");
  EXPECT_EQ(resolve_target({}, kTwo, with({{"HOME", "/h"}, {"ATOLL_TOKEN", "te"}})).value().token,
            "te");
}

TEST(Target, AnUnknownContextIsExplained) {
  const auto target = resolve_target({.home = "", .url = "", .context = "labb"}, kTwo, with({}));
  ASSERT_FALSE(target);
  EXPECT_NE(target.error().message.find("did you mean lab?"), std::string::npos);
}

TEST(Transport, ATokenNeverCrossesANetworkInTheClear) {
  EXPECT_FALSE(check_transport("http://lab.example", true));
  EXPECT_TRUE(check_transport("http://lab.example", false));
  EXPECT_TRUE(check_transport("https://lab.example", true));
  EXPECT_TRUE(check_transport("http://localhost:7380", true));
  EXPECT_TRUE(check_transport("http://127.0.0.1:7380", true));
  EXPECT_TRUE(check_transport("unix:/x/atoll.sock", true));
}

}  // namespace
}  // namespace atl::cli
