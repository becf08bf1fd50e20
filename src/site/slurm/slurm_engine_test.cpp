#include "site/slurm/slurm_engine.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>

#include "base/text.h"

namespace atl::site {

SlurmEngine& SlurmEngine::of(const std::string& version) {
  static std::map<std::string, std::unique_ptr<SlurmEngine>> engines;
  std::unique_ptr<SlurmEngine>& engine = engines[version];
  if (!engine) engine.reset(new SlurmEngine(version));
  EXPECT_FALSE(engine->bin_.empty()) << "Slurm " << version << " did not start";
  return *engine;
}

SlurmEngine::SlurmEngine(const std::string& version) {
  std::array<int, 2> to{}, from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    ::setsid();
    ::execl("tests/engines/slurm_cluster", "slurm_cluster", "--version", version.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  in_ = to[1];
  out_ = from[0];
  boost::system::error_code error;
  const boost::json::value facts = boost::json::parse(read_line(), error);
  if (error || !facts.is_object()) return;
  bin_ = facts.at("bin").as_string().c_str();
  folder_ = facts.at("folder").as_string().c_str();
}

SlurmEngine::~SlurmEngine() {
  ::close(in_);
  ::close(out_);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

std::string SlurmEngine::read_line() {
  std::string line;
  char c = 0;
  while (::read(out_, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

void SlurmEngine::order(const std::string& line) {
  const std::string sent = line + "\n";
  ASSERT_EQ(::write(in_, sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
  EXPECT_EQ(read_line(), "ok") << line;
}

std::string SlurmEngine::shell(const std::string& line) const {
  const std::string command = "PATH='" + bin_ + "':$PATH; export SLURM_TIME_FORMAT=%s; " + line;
  std::string said;
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (!pipe) return said;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) said.append(buffer, n);
  ::pclose(pipe);
  return std::string(trim(said));
}

bool SlurmEngine::await(const std::string& line, const std::string& printed) const {
  for (int i = 0; i < 300; ++i) {
    if (shell(line) == printed) return true;
    ::usleep(200000);
  }
  return false;
}

SlurmPlace::SlurmPlace(const std::string& version) : engine_(SlurmEngine::of(version)) {
  static int count = 0;
  installation_ = "test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  home_ = "/tmp/atoll-slurm-" + installation_;
  std::filesystem::create_directories(home_);
}

SlurmPlace::~SlurmPlace() {
  engine_.shell("for j in $(squeue -h -o '%i %j' | grep ' atoll-" + installation_ +
                "-' | cut -d' ' -f1); do scancel --full -s KILL $j; scancel $j; done");
  std::filesystem::remove_all(home_);
}

SlurmOptions SlurmPlace::options() const {
  SlurmOptions options;
  options.home = home_;
  options.installation = installation_;
  options.directory = home_ + "/runs";
  options.bin = engine_.bin();
  options.poll = milliseconds(250);
  return options;
}

core::Payload SlurmPlace::sleeping(int milliseconds) {
  return {.argv = {"sleep", std::to_string(milliseconds / 1000.0)}, .directory = "/"};
}
core::Payload SlurmPlace::exiting(int code) {
  return {.argv = {"sh", "-c", "exit " + std::to_string(code)}, .directory = "/"};
}
core::Payload SlurmPlace::stubborn() {
  return {.argv = {"sh", "-c", "trap '' TERM; while :; do sleep 1; done"}, .directory = "/"};
}
std::optional<core::Payload> SlurmPlace::talking() {
  return core::Payload{.argv = {"echo", "hello"}, .directory = "/"};
}
core::Payload SlurmPlace::progressing() {
  return {.argv = {"sh", "-c", "echo '# atoll progress=50'; sleep 3"}, .directory = "/"};
}

namespace {

INSTANTIATE_TEST_SUITE_P(
    Slurm, SiteContract,
    testing::Values(
        ContractParam{"slurm_22_05", [] { return std::make_unique<SlurmPlace>("22.05"); }},
        ContractParam{"slurm_24_11", [] { return std::make_unique<SlurmPlace>("24.11"); }}),
    [](const testing::TestParamInfo<ContractParam>& info) { return info.param.name; });

}  // namespace
}  // namespace atl::site
