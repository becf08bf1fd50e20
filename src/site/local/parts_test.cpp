// The small parts of the local site, each by itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <thread>

#include "site/local/cgroup.h"
#include "site/local/devices.h"
#include "site/local/environment.h"
#include "site/local/files.h"
#include "site/local/frame.h"
#include "site/local/log_store.h"
#include "site/local/probe.h"
#include "site/local/protocol.h"
#include "site/local/remains.h"
#include "site/local/samples.h"

namespace atl::site {
namespace {

std::string fresh_directory(const std::string& name) {
  const std::string path = "/tmp/atoll-parts-" + std::to_string(::getpid()) + "-" + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

TEST(Frame, ComesWholeThroughAnyCut) {
  std::string bytes;
  put_frame(bytes, Order(Hello{1, "x"}));
  put_frame(bytes, Order(StopTask{{JobId{1}, 2, 3}, seconds(4)}));
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader;
    int frames = 0;
    reader.append(std::string_view(bytes).substr(0, cut));
    while (reader.next()) ++frames;
    reader.append(std::string_view(bytes).substr(cut));
    while (reader.next()) ++frames;
    EXPECT_EQ(frames, 2);
  }
}

TEST(Frame, AnAbsurdLengthBreaksTheStream) {
  FrameReader reader;
  reader.append("\xff\xff\xff\xff----");
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_TRUE(reader.broken());
}

TEST(Protocol, KeepsFalseAndZeroOfALaunch) {
  Launch launch{.attempt = {JobId{7}, 0, 1}};
  launch.payload.network = false;
  const Result<Launch> back = wire::decode<Launch>(wire::encode(launch));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, launch);
}

TEST(Protocol, SkipsFieldsOfANewerVersion) {
  std::string bytes = wire::encode(Hello{1, "x"});
  wire::put_varint(bytes, 60 * 2 + 1);
  wire::put(bytes, std::string("from the future"));
  ASSERT_TRUE(wire::decode<Hello>(bytes).has_value());
  EXPECT_EQ(wire::decode<Hello>(bytes)->installation, "x");
}

TEST(Samples, HalveWhenFullAndKeepTheGrid) {
  Sampler sampler;
  for (int64_t second = 1; second <= 5000; ++second) {
    if (seconds(second) < sampler.due()) continue;
    sampler.add({.at = seconds(second), .cpu = seconds(second), .memory_bytes = second});
  }
  Timeline line = sampler.timeline();
  EXPECT_LE(line.points.size(), Sampler::kPointsMax);
  EXPECT_GE(line.points.size(), Sampler::kPointsMax / 2 - 1);
  EXPECT_EQ(line.interval, seconds(16));
  EXPECT_LE(seconds(5000) - line.points.back().at, Sampler::kLiveEvery);
  line.points.pop_back();  // the one that says what is used now
  for (size_t i = 1; i < line.points.size(); ++i) {
    EXPECT_EQ(line.points[i].at - line.points[i - 1].at, line.interval);
  }
}

TEST(LogStore, ReadsOneTaskOutOfManyPieces) {
  const std::string root = fresh_directory("logs");
  LogWriter writer(root, "slot-0");
  for (uint32_t index = 0; index < 100; ++index) {
    writer.begin({JobId{12}, index, 1}, true, 1000);
    for (int piece = 0; piece < 3; ++piece)
      writer.append(0, std::to_string(index) + "." + std::to_string(piece) + " ");
    writer.finish();
  }
  const LogAddress address{{JobId{12}, 42, 1}, 0};
  EXPECT_EQ(read_log(root, address, 0, 100)->bytes, "42.0 42.1 42.2 ");
  EXPECT_EQ(read_log(root, address, 4, 3)->bytes, " 42");
  EXPECT_EQ(read_log(root, address, 4, 3)->size, 15);
  EXPECT_EQ(read_log(root, {{JobId{12}, 42, 2}, 0}, 0, 9)->bytes, "");
  purge_logs(root, JobId{12});
  EXPECT_TRUE(std::filesystem::is_empty(root) || !std::filesystem::exists(root + "/0"));
  std::filesystem::remove_all(root);
}

TEST(LogStore, ATornIndexRecordIsIgnoredAndOverwritten) {
  const std::string root = fresh_directory("torn");
  {
    LogWriter writer(root, "slot-0");
    writer.begin({JobId{1}, 0, 1}, true, 100);
    writer.append(0, "one");
  }
  {
    std::ofstream torn(root + "/0/1.array/slot-0.index", std::ios::app);
    torn << "torn";
  }
  {
    LogWriter writer(root, "slot-0");
    writer.begin({JobId{1}, 1, 1}, true, 100);
    writer.append(0, "two");
  }
  EXPECT_EQ(read_log(root, {{JobId{1}, 0, 1}, 0}, 0, 9)->bytes, "one");
  EXPECT_EQ(read_log(root, {{JobId{1}, 1, 1}, 0}, 0, 9)->bytes, "two");
  std::filesystem::remove_all(root);
}

TEST(Environment, ThePayloadWinsOverDefaultsNotOverTheMarker) {
  Launch launch{.attempt = {JobId{7}, 3, 2}, .array = true, .installation = "i"};
  launch.payload.env = {{"OMP_NUM_THREADS", "9"}, {"ATOLL_INSTALLATION", "forged"}};
  const std::vector<std::string> env = build_environment(launch);
  EXPECT_EQ(environment_value(env, "OMP_NUM_THREADS"), "9");
  EXPECT_EQ(environment_value(env, "ATOLL_INSTALLATION"), "i");
  EXPECT_EQ(environment_value(env, "ATOLL_ARRAY_INDEX"), "3");
}

TEST(Environment, LooksAlongThePath) {
  EXPECT_EQ(executable_candidates("x", "/a:/b"), (std::vector<std::string>{"/a/x", "/b/x"}));
  EXPECT_EQ(executable_candidates("./x", "/a"), (std::vector<std::string>{"./x"}));
  EXPECT_TRUE(executable_candidates("", "/a").empty());
}

// No machine here has the controllers in version 2, so its files are laid out as plain ones and
// read back.
TEST(Cgroup, VersionTwoWritesItsOwnFiles) {
  const std::string root = fresh_directory("cg") + "/";
  std::filesystem::create_directories(root + "proc/self");
  std::filesystem::create_directories(root + "cg/unit/atoll-i/slot-0");
  std::ofstream(root + "proc/self/mounts") << "cgroup2 /cg cgroup2 rw 0 0\n";
  std::ofstream(root + "proc/self/cgroup") << "0::/unit\n";
  std::ofstream(root + "cg/unit/cgroup.controllers") << "cpu memory pids\n";
  for (const char* at : {"cg/unit", "cg/unit/atoll-i", "cg/unit/atoll-i/slot-0"}) {
    for (const char* file :
         {"cgroup.procs", "cgroup.subtree_control", "memory.max", "memory.swap.max", "memory.stat",
          "memory.events", "cpu.max", "cpu.stat", "pids.max"}) {
      std::ofstream(root + at + "/" + file);
    }
  }
  const std::string slot_path = root + "cg/unit/atoll-i/slot-0/";
  std::ofstream(slot_path + "cpu.stat") << "usage_usec 1234\nuser_usec 1\n";
  std::ofstream(slot_path + "memory.stat") << "anon 4096\nfile 9\nshmem 77\n";
  std::ofstream(slot_path + "memory.events") << "low 0\noom 2\noom_kill 3\n";
  const CgroupBase base = make_cgroup_base("i", root);
  ASSERT_EQ(base.version, 2) << base.why;
  CgroupSlot slot(base, 0);
  ASSERT_TRUE(slot.make());
  slot.set_limits({.memory_bytes = 64 << 20, .cpu_milli = 1500, .processes = 10});
  EXPECT_EQ(*read_file(slot_path + "memory.max"), "67108864");
  EXPECT_EQ(*read_file(slot_path + "memory.swap.max"), "0");
  EXPECT_EQ(*read_file(slot_path + "cpu.max"), "150000 100000");
  EXPECT_EQ(*read_file(slot_path + "pids.max"), "11");
  EXPECT_EQ(slot.cpu_us(), 1234);
  EXPECT_EQ(slot.memory_bytes(), 4096);
  EXPECT_EQ(slot.shared_bytes(), 77);
  EXPECT_EQ(slot.new_oom_kills(), 3);
  EXPECT_EQ(slot.new_oom_kills(), 0);
  std::filesystem::remove_all(root);
}

TEST(Cgroup, VersionTwoTellsThePeakOfATask) {
  const std::string root = fresh_directory("peak");
  std::filesystem::create_directories(root + "/slot-0");
  const std::string file = root + "/slot-0/memory.peak";
  std::ofstream(file) << "9000\n";
  std::ofstream(root + "/slot-0/memory.stat") << "anon 1\nfile 3000\nshmem 1000\n";
  CgroupBase base{.version = 2, .memory = root};
  CgroupSlot slot(base, 0);
  ASSERT_TRUE(slot.make());
  slot.mark_peak();  // the plain file now says 0000, as if nothing were in use
  EXPECT_TRUE(read_file(file)->starts_with("0"));
  std::ofstream(file) << "12000\n";
  EXPECT_EQ(slot.memory_peak(), 10000);
  EXPECT_EQ(slot.memory_peak(11000), 10000);
  EXPECT_EQ(slot.memory_peak(12000), 12000);
  CgroupSlot none;
  none.mark_peak();
  EXPECT_EQ(none.memory_peak(), -1);
  std::filesystem::remove_all(root);
}

// A child in a group of plain files, and a thread that does what the kernel would: it kills the
// child when cgroup.kill says so, and lists it no longer once it is dead.
class FakeGroup {
 public:
  explicit FakeGroup(bool can_kill) : slot_(root_ + "/atoll-i/slot-0") {
    std::filesystem::create_directories(slot_);
    if (can_kill) std::ofstream(slot_ + "/cgroup.kill") << "";
    std::ofstream(slot_ + "/pids.max") << "max";
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) ::pause();
    }
    std::ofstream(slot_ + "/cgroup.procs") << child_ << "\n";
    kernel_ = std::thread([this] {
      while (::waitpid(child_, nullptr, WNOHANG) == 0) {
        if (read_file(slot_ + "/cgroup.kill").value_or("") == "1") ::kill(child_, SIGKILL);
        ::usleep(1000);
      }
      std::ofstream(slot_ + "/cgroup.procs") << "";
    });
  }
  ~FakeGroup() {
    kernel_.join();
    std::filesystem::remove_all(root_);
  }
  CgroupBase base() const { return {.version = 2, .pids = root_ + "/atoll-i"}; }
  std::string text(const char* file) const { return read_file(slot_ + "/" + file).value_or(""); }

 private:
  const std::string root_ = fresh_directory("kill");
  const std::string slot_;
  pid_t child_ = -1;
  std::thread kernel_;
};

TEST(Cgroup, IsKilledAtOneStrokeWhereTheKernelCan) {
  const FakeGroup group(true);
  end_cgroup_members(group.base().directories());
  EXPECT_EQ(group.text("cgroup.kill"), "1");
  EXPECT_EQ(group.text("pids.max"), "max") << "killed one by one";
  EXPECT_EQ(group.text("cgroup.procs"), "");
  CgroupSlot slot(group.base(), 0);
  EXPECT_TRUE(slot.kill_members());
}

TEST(Cgroup, IsKilledOneByOneElsewhere) {
  const FakeGroup group(false);
  end_cgroup_members(group.base().directories());
  EXPECT_TRUE(group.text("pids.max").starts_with("0"));
  EXPECT_EQ(group.text("cgroup.procs"), "");
  CgroupSlot slot(group.base(), 0);
  EXPECT_FALSE(slot.kill_members());
}

// On the real tree, with names as the journal makes them.
class Sweep : public testing::Test {
 protected:
  void SetUp() override {
    own_ = make_cgroup_base("test-" + std::to_string(::getpid()));
    if (own_.version == 0) GTEST_SKIP() << own_.why;
    char where[64] = {};
    static_cast<void>(!::readlink("/proc/self/ns/pid", where, sizeof where - 1));
    if (std::string(where) != "pid:[4026531836]") GTEST_SKIP() << "inside a pid namespace";
  }
  void TearDown() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    end_cgroup_members(own_.directories());
    for (const CgroupBase& base : made_) end_cgroup_members(base.directories());
  }
  const CgroupBase& make(const std::string& tail) {
    char name[32];
    std::snprintf(name, sizeof name, "%014x%s", static_cast<unsigned>(::getpid()), tail.c_str());
    name_ = name;
    const CgroupBase& base = made_.emplace_back(make_cgroup_base(name));
    CgroupSlot slot(base, 0);
    EXPECT_TRUE(slot.make());
    return base;
  }
  bool stands(const CgroupBase& base) {
    size_t found = 0;
    for (const std::string& one : base.directories()) found += std::filesystem::exists(one);
    EXPECT_TRUE(found == 0 || found == base.directories().size()) << found;
    return found > 0;
  }
  // Lives until it is killed, and has no children, who would look like it; `words` are what ps
  // shows of it.
  void begin_child(const std::vector<std::string>& words, CgroupSlot* inside) {
    child_ = ::fork();
    if (child_ != 0) return;
    if (inside && !inside->enter()) ::_exit(1);
    std::vector<char*> argv;
    std::vector<std::string> all = {"sh", "-c", "echo ready; kill -STOP $$"};
    all.insert(all.end(), words.begin(), words.end());
    for (std::string& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::dup2(ready_[1], 1);
    ::execv("/bin/sh", argv.data());
    ::_exit(1);
  }
  void await_child() {
    char line[6];
    ASSERT_EQ(::read(ready_[0], line, sizeof line), 6);
  }
  void open_pipe() { ASSERT_EQ(::pipe2(ready_, O_CLOEXEC), 0); }

  CgroupBase own_;
  std::list<CgroupBase> made_;
  std::string name_;
  int ready_[2] = {-1, -1};
  pid_t child_ = -1;
};

TEST_F(Sweep, RemovesEmptyGroupsOfWardensThatAreGone) {
  const CgroupBase& gone = make("aa-1");
  const CgroupBase& not_ours = make("-other");
  sweep_groups(own_.directories());
  EXPECT_FALSE(stands(gone));
  EXPECT_TRUE(stands(not_ours));
  EXPECT_TRUE(stands(own_));
}

TEST_F(Sweep, KeepsTheGroupOfALivingWarden) {
  const CgroupBase& alive = make("bb-1");
  open_pipe();
  begin_child({"atoll-warden", "--installation", name_}, nullptr);
  await_child();
  sweep_groups(own_.directories());
  EXPECT_TRUE(stands(alive));
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
  sweep_groups(own_.directories());
  EXPECT_FALSE(stands(alive));
}

TEST_F(Sweep, KillsNothing) {
  const CgroupBase& used = make("cc-1");
  CgroupSlot slot(used, 0);
  ASSERT_TRUE(slot.make());
  open_pipe();
  begin_child({}, &slot);
  await_child();
  sweep_groups(own_.directories());
  EXPECT_TRUE(stands(used));
  EXPECT_EQ(::kill(child_, 0), 0);
  EXPECT_FALSE(slot.members().empty());
}

// CUDA shows nothing to a program that names a device twice.
TEST(Devices, SeveralPartsOfOneDeviceAreOneToThePrograms) {
  core::HeldDevice some{"gpu0", "gpu", "t4", 300, 300, int64_t{4} << 30};
  core::HeldDevice more{"gpu0", "gpu", "t4", 400, 400, int64_t{5} << 30};
  core::HeldDevice other{"gpu1", "gpu", "t4", 500, 500, int64_t{6} << 30};
  EXPECT_EQ(visible_gpus({some, more, other}), "0,1");
  const auto env = parts_environment({some, more, other});
  EXPECT_EQ(env.at("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "50");
  EXPECT_EQ(env.at("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=9216M,1=6144M");
  EXPECT_EQ(parts_environment({other, other}).count("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), 0u)
      << "together they are all of it";
}

TEST(Devices, ModelsAreTheWordsPeopleAskFor) {
  EXPECT_EQ(gpu_model("NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(gpu_model("Tesla V100-PCIE-16GB"), "v100");
  EXPECT_EQ(gpu_model("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(gpu_model("NVIDIA GeForce RTX 4090"), "rtx-4090");
}

// A double, because no machine of ours has a GPU: a library with the few functions that are used.
TEST(Devices, AreFoundThroughNvml) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const FoundDevices found =
      find_nvidia_gpus(self.parent_path() / std::filesystem::path("libatoll_fake_nvml.so"));
  ASSERT_EQ(found.devices.size(), 2u) << found.why;
  EXPECT_EQ(found.devices[1].unit, "gpu1");
  EXPECT_EQ(found.devices[1].model, "a100");
  EXPECT_EQ(found.devices[1].memory_bytes, 80LL << 30);
  EXPECT_FALSE(find_nvidia_gpus("libno-such-library.so").why.empty());
}

TEST(Probe, SaysWhyForEachFact) {
  const LocalFacts facts = probe_local();
  EXPECT_FALSE(facts.cgroup_why.empty());
  EXPECT_FALSE(facts.sandbox_why.empty());
  EXPECT_FALSE(facts.root_why.empty());
  EXPECT_FALSE(facts.gpus_why.empty());
  EXPECT_GT(machine_capacity().cpu_milli, 0);
  EXPECT_GT(machine_capacity().memory_bytes, 0);
}

}  // namespace
}  // namespace atl::site
