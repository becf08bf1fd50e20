#include "spec/job_spec.h"

#include <gtest/gtest.h>

#include "base/wire.h"

namespace atl::spec {
namespace {

Result<NewJob> submit(const char* json) {
  const auto spec = parse_json<JobSpec>(json);
  if (!spec) return tl::unexpected(spec.error());
  return to_submission(*spec);
}

TEST(JobSpec, DefaultsAreOneCoreAndOneGibibyte) {
  const auto made = submit(R"({"command": ["/usr/bin/python3", "x.py"]})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->job.name, "python3");
  EXPECT_EQ(made->job.ns, "default");
  EXPECT_EQ(made->job.terms.resources.cpu_milli, 1000);
  EXPECT_EQ(made->job.terms.resources.memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(made->job.indices.size(), 1u);
  EXPECT_FALSE(made->job.array);
  EXPECT_EQ(made->job.payload, sha256(made->payload_bytes));
  EXPECT_EQ(*wire::decode<core::Payload>(made->payload_bytes), made->payload);
}

TEST(JobSpec, WithoutANetworkItRunsInASandbox) {
  const auto made = submit(R"({"command": ["x"], "network": false})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->payload.isolation, core::Isolation::sandbox);
  const auto refused = submit(R"({"command": ["x"], "network": false, "isolation": "none"})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "network");
}

TEST(JobSpec, EverythingReachesTheCore) {
  const auto made =
      submit(R"({"script": "#!/bin/sh\n", "args": ["x"], "array": "1-10:3%2", "gpus": "a100:2,h100",
    "devices": ["nic:1"], "after": [3, "after_failure:4"], "retries": {"max": 2, "exit_codes": [75], "on_timeout": true},
    "labels": {"b": "2", "a": "1"}, "time": "02:00:00", "grace": 5, "hold": true, "keep": true, "site": "local",
    "isolation": "sandbox", "network": false, "processes": 9, "log_limit": "1Mi", "notify": {"mail": "a@b.c"}})");
  ASSERT_TRUE(made) << made.error().message;
  const core::SubmitJob& job = made->job;
  EXPECT_EQ(job.indices.size(), 4u);
  EXPECT_EQ(job.terms.parallel_max, 2u);
  ASSERT_EQ(job.terms.resources.devices.size(), 3u);
  EXPECT_EQ(job.terms.resources.devices[0], (core::DeviceRequest{"gpu", "a100", 2}));
  EXPECT_EQ(job.dependencies[1].kind, core::DependencyKind::after_failure);
  EXPECT_EQ(job.terms.retry.exit_codes, std::vector<int32_t>{75});
  EXPECT_EQ(job.labels[0].key, "a");
  EXPECT_EQ(job.terms.wall, hours(2));
  EXPECT_TRUE(job.held);
  EXPECT_EQ(made->payload.isolation, core::Isolation::sandbox);
  EXPECT_FALSE(made->payload.network);
  EXPECT_EQ(made->payload.processes_max, 9u);
}

struct Refusal {
  const char* json;
  const char* field;
};
class Refused : public testing::TestWithParam<Refusal> {};
TEST_P(Refused, NamesItsField) {
  const auto made = submit(GetParam().json);
  ASSERT_FALSE(made) << GetParam().json;
  EXPECT_EQ(made.error().field, GetParam().field) << made.error().message;
}
const Refusal kRefusals[] = {
    {R"({})", "command"},
    {R"({"command": ["a"], "script": "b"})", "script"},
    {R"({"command": [""]})", "command"},
    {R"({"command": ["a"], "args": ["b"]})", "args"},
    {R"({"command": ["a"], "directory": "../etc"})", "directory"},
    {R"({"command": ["a"], "env": {"A=B": "c"}})", "env"},
    {R"({"command": ["a"], "env": {"1A": "c"}})", "env"},
    {R"({"command": ["a"], "env": {"A\n": "c"}})", "env"},
    {R"({"command": ["a"], "env": {"A B": "c"}})", "env"},
    {R"({"command": ["a"], "directory": "/tmp/\u0001"})", "directory"},
    {R"({"command": ["a"], "writable": ["/a\nb"]})", "writable"},
    {R"({"command": ["a"], "memory": 0})", "memory"},
    {R"({"command": ["a"], "memory": "1023Ki"})", "memory"},
    {R"({"command": ["a"], "gpus": "a100:0"})", "gpus"},
    {R"({"command": ["a"], "gpus": "gpu:0,h100:0"})", "gpus"},
    {R"({"command": ["a"], "retries": {"on_timeout": true}})", "retries.max"},
    {R"({"command": ["a"], "array": "5-1"})", "array"},
    {R"({"command": ["a"], "array": "1-10%0"})", "array"},
    {R"({"command": ["a"], "array": "0-99999999999"})", "array"},
    {R"({"command": ["a"], "gpus": "a100:-2"})", "gpus"},
    {R"({"command": ["a"], "gpus": "a100,a100"})", "devices"},
    {R"({"command": ["a"], "gpus": "0.0001"})", "gpus"},
    {R"({"command": ["a"], "gpus": "a100:1g.5gb:2:3"})", "gpus"},
    {R"({"command": ["a"], "gpus": "2:1g.5gb:0.5"})", "gpus"},
    {R"({"command": ["a"], "gpus": "5Ki"})", "devices"},
    {R"({"command": ["a"], "gpu": 1, "gpus": 2})", "gpu"},
    {R"({"command": ["a"], "retries": {"exit_codes": [0]}})", "retries.exit_codes"},
    {R"({"command": ["a"], "notify": {"webhook": "ftp://x"}})", "notify.webhook"},
    {R"({"command": ["a"], "notify": {"mail": "-x@y"}})", "notify.mail"},
    {R"({"command": ["a"], "stdin": "x", "stdin_file": "y"})", "stdin"},
};
INSTANTIATE_TEST_SUITE_P(Table, Refused, testing::ValuesIn(kRefusals));

TEST(JobSpec, NoGpusAndOddButRealNamesAreFine) {
  const auto made = submit(
      R"({"command": ["a"], "gpus": 0, "memory": "1Mi", "env": {"BASH_FUNC_module%%": "() { :; }", "_": ""}})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->job.terms.resources.devices.empty());
}

TEST(JobSpec, RefusalsSayWhatToWrite) {
  EXPECT_EQ(submit(R"({"command": ["a"], "memory": 0})").error().message,
            "memory is 0; it must be at least 1Mi");
  EXPECT_EQ(submit(R"({"command": ["a"], "gpus": "a100:0"})").error().message,
            "gpus has \"a100:0\", which is no GPU at all: write a count of at least 1, or leave "
            "it out");
  EXPECT_EQ(submit(R"({"command": ["a"], "directory": "/tmp/\u0001"})").error().message,
            "directory is \"/tmp/\\x01\"; a path has no control characters");
  EXPECT_EQ(submit(R"({"command": ["a"], "retries": {"backoff": "1s"}})").error().message,
            "retries.max is missing, and the rest of retries means nothing without it: say how "
            "often it is retried, such as 3");
}

// As one word each: kind, model, part, how many.
std::string devices_of(const std::string& json) {
  const auto made = submit(json.c_str());
  if (!made) return made.error().message;
  std::string out;
  for (const core::DeviceRequest& request : made->job.terms.resources.devices)
    out += (out.empty() ? "" : " ") + device_text(request);
  return out;
}

TEST(JobSpec, PartsOfDevicesAreCountedAndListed) {
  const auto gpus = [](const std::string& text) {
    return devices_of(R"({"command": ["a"], "gpus": ")" + text + "\"}");
  };
  EXPECT_EQ(gpus("3g.20gb:2"), "gpu:3g.20gb:2");
  EXPECT_EQ(gpus("a100:1g.5gb:3"), "gpu:a100:1g.5gb:3");
  EXPECT_EQ(gpus("0.25:2"), "gpu:0.25:2");
  EXPECT_EQ(gpus("10Gi"), "gpu:10Gi");
  EXPECT_EQ(gpus("1g.5gb,a100:1"), "gpu:1g.5gb gpu:a100:1");
  EXPECT_EQ(gpus("a100|v100:0.5"), "gpu:a100|v100:0.5");
  EXPECT_EQ(gpus("2.0"), "gpu:2");
  EXPECT_EQ(gpus("4090:1"), "gpu:4090:1");
  EXPECT_EQ(gpus("3090Ti:2"), "gpu:3090Ti:2") << "a model, not memory";
  EXPECT_EQ(devices_of(R"({"command": ["a"], "devices": ["fpga:0.5:2", "gpu:a100:10Gi:2"]})"),
            "fpga:0.5:2 gpu:a100:10Gi:2");
}

TEST(JobSpec, OneWordForGpusIsAsGoodAsTheOther) {
  EXPECT_EQ(devices_of(R"({"command": ["a"], "gpu": 0.25})"), "gpu:0.25");
  EXPECT_EQ(devices_of(R"({"command": ["a"], "gpu": ["a100", "v100", "any"]})"),
            "gpu:a100|v100|any:1");
}

TEST(JobSpec, RefusalsOfDevicesSayWhatToWrite) {
  const auto gpus = [](const std::string& text) {
    return devices_of(R"({"command": ["a"], "gpus": ")" + text + "\"}");
  };
  EXPECT_EQ(gpus("0.0001"),
            "gpus: \"0.0001\" is not a share of a device: write a number from 0.001 to 1, in "
            "steps of 0.001, such as 0.25");
  EXPECT_EQ(gpus("|"),
            "devices lists models as \"|\", where one is missing; write a100|v100, or a100|any");
  EXPECT_EQ(gpus("99999999999"), "devices has a count of 99999999999; the most is 100000");
  EXPECT_EQ(gpus("3g.20gb,3g.20gb"), "devices names \"gpu:3g.20gb\" twice; write gpu:3g.20gb:2");
  EXPECT_EQ(gpus("1g.5gb|a100:1"),
            "devices lists \"1g.5gb\" as a model, and it is a part of one; write "
            "MODEL|MODEL:PART, and a comma between two requests");
  EXPECT_EQ(gpus("5Ki"), "devices asks for 5120 bytes of a device's memory; the least is 1Mi");
}

TEST(JobSpec, StandardInputOfTheTopCounts) {
  JobSpec base, top;
  base.stdin_file = "f";
  top.stdin_text = "t";
  overlay(base, top);
  EXPECT_FALSE(base.stdin_file);
  EXPECT_EQ(base.stdin_text, "t");
}

TEST(JobSpec, IsDescribedAsItWasAskedFor) {
  const auto made = submit(
      R"({"command": ["a"], "env": {"X": "1"}, "retries": 2, "time": "1h", "labels": {"k": "v"}})");
  core::Job job;
  job.name = made->job.name;
  job.labels = made->job.labels;
  const JobSpec spec = describe_job(job, made->job.terms, made->payload, "default");
  const auto again = to_submission(spec);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->job.terms, made->job.terms);
  EXPECT_EQ(again->job.payload, made->job.payload);
  EXPECT_EQ(again->job.labels, made->job.labels);
}

TEST(JobSpec, Sha256IsTheRealOne) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace atl::spec
