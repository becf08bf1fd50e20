#include "bin/config.h"

#include <gtest/gtest.h>

namespace atl::bin {
namespace {

TEST(Config, AnEmptyFileIsTheDefaults) {
  const auto config = parse_config("", "atoll.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->port, 7380);
  EXPECT_EQ(config->host, "127.0.0.1");
  EXPECT_EQ(config->retention, Duration{});
  EXPECT_EQ(config->sites.at("local").kind, "local");
}

TEST(Config, ReadsEverythingItDocuments) {
  const auto config = parse_config(R"(
listen: 127.0.0.1:9000
threads: 4
body_limit: 1Mi
connections: 10
retention: 90d
mail_command: sendmail -t
watch: [/data/incoming, /srv]
sites:
  local:
    cpus: 3.5
    memory: 8Gi
    isolation: sandbox
    processes: 100
    log_limit: 1Mi
    cgroups: false
    devices:
      - {kind: gpu, model: a100, count: 2, memory: 40Gi, simulated: true}
  demo: {kind: simulated, nodes: 10, cpus: 64}
)",
                                   "atoll.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->port, 9000);
  EXPECT_EQ(config->retention, hours(24 * 90));
  EXPECT_EQ(config->watch, (std::vector<std::string>{"/data/incoming", "/srv"}));
  const SiteConfig& local = config->sites.at("local");
  EXPECT_EQ(local.cpu_milli, 3500);
  EXPECT_EQ(local.isolation, core::Isolation::sandbox);
  ASSERT_EQ(local.devices.size(), 2u);
  EXPECT_EQ(local.devices[1].unit, "gpu1");
  EXPECT_EQ(config->sites.at("demo").nodes, 10u);
}

TEST(Config, EveryMistakeIsNamedWithItsPlace) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"watch: /data\n", "f:1:8: expected a list of directories such as [/data/incoming]"},
      {"watch: [/data/../etc]\n", "f:1:9: expected a whole path such as /data/incoming"},
      {"watch: [data]\n", "f:1:9: expected a whole path such as /data/incoming"},
      {"listen: 1\nretentoin: 1d\n", "f:2:1: unknown key \"retentoin\"; did you mean retention?"},
      {"listen: nowhere:99999\n", "f:1:9: expected ADDRESS:PORT"},
      {"listen: 0.0.0.0:7380\n", "f:1:9: only a loopback address may be served without TLS"},
      {"tls: {key: k}\n", "f:1:6: TLS needs both"},
      {"sites:\n  local:\n    cpus: many\n", "f:3:11: \"many\" is not a number of cores"},
      {"sites:\n  Bad Name: {}\n", "f:2:3: site \"Bad Name\" must be"},
      {"sites:\n  local:\n    devices: [{kind: gpu}]\n",
       "f:3:15: only devices with `simulated: true`"},
      {"threads: [1]\n", "f:1:10: expected a single value"},
      {"a: [1\n", "f:2:1: "},
      {"- 1\n", "f:1:1: expected a mapping"},
  };
  for (const auto& c : cases) {
    const auto config = parse_config(c.text, "f");
    ASSERT_FALSE(config) << c.text;
    EXPECT_EQ(config.error().message.substr(0, std::string(c.message).size()), c.message);
  }
}

TEST(Config, ABombOfAliasesIsRefusedOrReadInBoundedTime) {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) bomb += (i ? ",*" : "*") + before;
    bomb += "]\n";
  }
  EXPECT_FALSE(parse_config(bomb, "f"));
  EXPECT_EQ(parse_config(std::string(2 << 20, ' '), "f").error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace atl::bin
