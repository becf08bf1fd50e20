#include "spec/site_spec.h"

#include <gtest/gtest.h>

namespace atl::spec {
namespace {

std::string made(std::string_view json) {
  const auto wish = parse_json<SiteWish>(json);
  if (!wish) return wish.error().field + ": " + wish.error().message;
  const auto command = to_command(*wish);
  if (!command) return command.error().field + ": " + command.error().message;
  return command->name + " " + command->kind + " " + command->definition;
}

TEST(SiteSpec, TheDefinitionIsWhatWasSaid) {
  EXPECT_EQ(made(R"({"name":"lab","ssh":{"hosts":["gpu1","ada@gpu2"],"lease":"1h"}})"),
            R"(lab ssh {"hosts":["gpu1","ada@gpu2"],"lease":"1h"})");
  EXPECT_EQ(made(R"({"name":"c","slurm":{}})"), "c slurm {}");
  EXPECT_EQ(made(R"({"name":"s","simulated":{"nodes":2,"devices":{"gpu:a100":4}}})"),
            R"(s simulated {"nodes":2,"devices":{"gpu:a100":4}})");
}

TEST(SiteSpec, AndReadsTheSameAgain) {
  const auto again = parse_json<SshSite>(R"({"hosts":["a"],"poll":"500ms"})");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->poll, milliseconds(500));
  EXPECT_EQ(to_json(*again), R"({"hosts":["a"],"poll":"500ms"})");
}

TEST(SiteSpec, WhatCannotBeIsRefusedWithItsField) {
  EXPECT_EQ(made(R"({"name":"x"})"), "kind: say what kind of site it is: ssh, slurm or simulated");
  EXPECT_EQ(made(R"({"name":"x","slurm":{},"simulated":{}})"),
            "kind: a site is of one kind: ssh, slurm or simulated");
  EXPECT_EQ(made(R"({"name":"x","ssh":{"hosts":["-oProxyCommand=id"]}})"),
            "ssh.hosts: \"-oProxyCommand=id\" is no host name: write an alias of the ssh "
            "configuration, a name or user@name");
  EXPECT_EQ(made(R"({"name":"x","ssh":{"hosts":["a","a"]}})"),
            "ssh.hosts: host \"a\" is named twice");
  EXPECT_EQ(made(R"({"name":"x","ssh":{"hosts":["a"],"ssh_config":"my_config"}})"),
            "ssh.ssh_config: ssh.ssh_config is a file on the server: write its whole path, from /");
  EXPECT_EQ(made(R"({"name":"x","ssh":{"hosts":["a"],"lease":"1s"}})"),
            "ssh.lease: ssh.lease is 1s; it must be between 10s and 30d");
  EXPECT_TRUE(made(R"({"name":"x","ssh":{"hosts":[]}})").starts_with("ssh.hosts: "));
  EXPECT_TRUE(made(R"({"name":"x","ssh":{"host":"a"}})").starts_with("ssh.host: "));
  EXPECT_TRUE(
      made(R"({"name":"x","slurm":{"placement":"nobody"}})").starts_with("slurm.placement: "));
  EXPECT_TRUE(
      made(R"({"name":"x","simulated":{"devices":{"gpu":0}}})").starts_with("simulated.devices: "));
}

}  // namespace
}  // namespace atl::spec
