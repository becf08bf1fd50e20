// The shell of another machine, through the system's `ssh` and the user's own configuration of it:
// aliases, keys, agents, ProxyJump and known_hosts are ssh's business.
//
// One connection per host (a ControlMaster of our own), opened by the first exchange, shared by at
// most kExchangesMax at once (sshd allows ten), and opened again when it was cut or its process
// killed. It leaves by itself when nobody has used it for a minute, so a killed server leaves
// nothing behind. No question is ever asked: a password or an unknown host key is an error.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "site/remote/shell.h"

namespace atl::site {

struct SshShellOptions {
  std::string host;    // an alias of the configuration, a name or user@name
  std::string config;  // for `ssh -F`; empty: the user's own
  std::string program = "ssh";
  Duration connect_timeout = seconds(10);
  Duration alive_interval = seconds(5);  // three unanswered looks end the connection
};

class SshShell : public Shell {
 public:
  static constexpr int kExchangesMax = 8;

  explicit SshShell(SshShellOptions options);
  ~SshShell() override;

  Result<Said> run(const ShellCommand& command) override;
  std::string name() const override { return options_.host; }
  void close() override;
  void interrupt() override { interrupted_ = true; }

  // The socket of the connection's process, for tests that look for it.
  const std::string& control_path() const { return control_path_; }

 private:
  class Turn;  // one of the kExchangesMax

  std::vector<std::string> base_arguments() const;
  [[nodiscard]] Result<void> connect(Duration timeout);
  bool connected() const;
  void leave(const char* how);

  const SshShellOptions options_;
  std::string directory_;  // of the socket, private
  std::string control_path_;
  std::mutex connecting_;
  std::atomic<bool> interrupted_ = false;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  int exchanges_ = 0;
};

// What ssh said on stderr as an error of Shell::run. Pure.
Error ssh_error(const std::string& host, std::string_view said);

}  // namespace atl::site
