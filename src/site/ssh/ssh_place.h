// Real ssh hosts for tests (tests/engines/ssh_hosts.py), a server's home, and drivers on both.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "site/contract_test.h"
#include "site/ssh/ssh_driver.h"

namespace atl::site {

class SshPlace : public ContractPlace {
 public:
  explicit SshPlace(std::vector<std::string> specs = {"h1"}) {
    static std::atomic<int> count = 0;
    home_ = "/tmp/atoll-ssh-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
    std::filesystem::create_directories(home_);
    for (const std::string& spec : specs) hosts_.push_back(spec.substr(0, spec.find(':')));
    begin(specs);
  }
  ~SshPlace() override {
    ::close(to_);
    ::close(from_);
    ::waitpid(pid_, nullptr, 0);
    std::filesystem::remove_all(home_);
  }

  SshOptions options() const {
    return {.site = "lab",
            .home = home_,
            .installation = "test-1",
            .hosts = hosts_,
            .ssh_config = home_ + "/hosts/config",
            .poll = milliseconds(300),
            .connect_timeout = seconds(2)};
  }
  const std::string& home() const { return home_; }
  // The home of the account on a host, when it has not one of its own file system.
  std::string host_home(const std::string& host) const {
    return home_ + "/hosts/" + host + "/home";
  }

  // cut, heal, kill or boot a host.
  void order(const std::string& verb, const std::string& host) {
    const std::string line = verb + " " + host + "\n";
    ASSERT_EQ(::write(to_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    ASSERT_EQ(read_line(), "ok");
  }

  std::unique_ptr<SiteDriver> driver() override { return std::make_unique<SshDriver>(options()); }
  core::Payload sleeping(int milliseconds) override {
    return {.argv = {"sleep", std::to_string(milliseconds / 1000.0)}, .directory = "/"};
  }
  core::Payload exiting(int code) override { return shell("exit " + std::to_string(code)); }
  core::Payload stubborn() override { return shell("trap '' TERM; while :; do sleep 1; done"); }
  std::optional<core::Payload> talking() override {
    return core::Payload{.argv = {"echo", "hello"}, .directory = "/"};
  }
  core::Payload progressing() override { return shell("echo '# atoll progress=50'; sleep 2"); }
  bool outlives_driver() override { return true; }

  static core::Payload shell(const std::string& text) {
    return {.argv = {"sh", "-c", text}, .directory = "/"};
  }

 private:
  void begin(const std::vector<std::string>& specs) {
    int in[2], out[2];
    ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
    std::vector<std::string> words = {"/usr/bin/python3", "tests/engines/ssh_hosts.py",
                                      home_ + "/hosts"};
    words.insert(words.end(), specs.begin(), specs.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    ASSERT_EQ(::posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    ASSERT_EQ(read_line(), "ready")
        << "the hosts did not start; this test needs root, sshd and unshare";
  }

  std::string read_line() const {
    std::string line;
    for (char c; ::read(from_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

  std::string home_;
  std::vector<std::string> hosts_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

}  // namespace atl::site
