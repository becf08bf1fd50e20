#include "site/remote/ssh_shell.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "base/text.h"
#include "site/remote/framing.h"
#include "site/remote/subprocess.h"

namespace atl::site {
namespace {

constexpr Duration kLeaveTimeout = seconds(5);
constexpr const char* kPersist = "60";  // seconds without an exchange, then the connection leaves

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The line that says most: ssh ends with it, unless a farewell of the connection comes behind.
std::string last_line(std::string_view said) {
  std::string_view last;
  for (std::string_view line : split(said, '\n')) {
    line = trim(line);
    if (line.empty() || line.starts_with("Warning:") || line.starts_with("Connection to "))
      continue;
    last = line;
  }
  return std::string(last.empty() ? trim(said) : last);
}

}  // namespace

Error ssh_error(const std::string& host, std::string_view said) {
  const std::string by_hand = "`ssh " + host + "`";
  if (has(said, "REMOTE HOST IDENTIFICATION HAS CHANGED"))
    return {
        ErrorCode::conflict,
        "the key of " + host +
            " is another than the one in known_hosts: if the machine was set up anew, remove the "
            "old key with `ssh-keygen -R` and accept the new one with " +
            by_hand + "; if not, somebody may be in between",
        {}};
  if (has(said, "Host key verification failed"))
    return {ErrorCode::invalid,
            "the key of " + host + " is not known yet: run " + by_hand +
                " once as the server's account and accept it",
            {}};
  if (has(said, "Permission denied") || has(said, "Too many authentication failures"))
    return {ErrorCode::unauthorized,
            host + " accepts no key of the server's account (" + last_line(said) +
                "): put one into its authorized_keys or into an agent, so that " + by_hand +
                " asks no password",
            {}};
  if (has(said, "Bad configuration option") || has(said, "Bad owner or permissions") ||
      has(said, "Can't open user config file") || has(said, "terminating, ") ||
      has(said, "argument of type"))
    return {ErrorCode::invalid, "the ssh configuration cannot be used: " + last_line(said), {}};
  if (has(said, "Could not resolve hostname"))
    return {ErrorCode::unavailable,
            "no address is known of " + host +
                ": write its name as in the ssh configuration, or add a Host entry there",
            {}};
  const std::string why = last_line(said);
  return {ErrorCode::unavailable, host + " is not reached" + (why.empty() ? "" : ": " + why), {}};
}

// Takes part when fewer than kExchangesMax do.
class SshShell::Turn {
 public:
  explicit Turn(SshShell& shell) : shell_(shell) {
    std::unique_lock lock(shell_.mutex_);
    shell_.changed_.wait(lock, [&] { return shell_.exchanges_ < kExchangesMax; });
    ++shell_.exchanges_;
  }
  ~Turn() {
    const std::lock_guard lock(shell_.mutex_);
    --shell_.exchanges_;
    shell_.changed_.notify_one();
  }

 private:
  SshShell& shell_;
};

// A unix socket's path has at most 107 bytes, and ssh binds one of 17 more first: the data
// directory of the server may be too deep, /tmp is not.
SshShell::SshShell(SshShellOptions options) : options_(std::move(options)) {
  char made[] = "/tmp/atoll-ssh-XXXXXX";
  if (::mkdtemp(made)) directory_ = made;
  control_path_ = directory_ + "/c";
}

SshShell::~SshShell() {
  close();
  if (directory_.empty()) return;
  ::unlink(control_path_.c_str());
  ::rmdir(directory_.c_str());
}

std::vector<std::string> SshShell::base_arguments() const {
  std::vector<std::string> argv = {options_.program};
  if (!options_.config.empty()) argv.insert(argv.end(), {"-F", options_.config});
  const auto option = [&](const std::string& text) { argv.insert(argv.end(), {"-o", text}); };
  option("BatchMode=yes");
  option("ControlPath=" + control_path_);
  option("ConnectTimeout=" + std::to_string(options_.connect_timeout.us / 1'000'000));
  option("ServerAliveInterval=" + std::to_string(options_.alive_interval.us / 1'000'000));
  option("ServerAliveCountMax=3");
  option("ForwardX11=no");
  option("ForwardAgent=no");
  option("ClearAllForwardings=yes");
  option("PermitLocalCommand=no");
  option("RequestTTY=no");
  return argv;
}

bool SshShell::connected() const {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, control_path_.c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool open = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return open;
}

Result<void> SshShell::connect(Duration timeout) {
  const std::lock_guard lock(connecting_);
  if (directory_.empty())
    return fail(ErrorCode::unavailable, "no directory for connections can be made in /tmp");
  if (connected()) return {};
  ::unlink(control_path_.c_str());  // of a process that was killed
  std::vector<std::string> argv = base_arguments();
  for (const char* word : {"-o", "ControlMaster=yes", "-o", "RemoteCommand=none", "-fN"})
    argv.emplace_back(word);
  argv.insert(argv.end(), {"-o", std::string("ControlPersist=") + kPersist, "--", options_.host});
  Result<SubprocessEnd> ended =
      run_subprocess({.argv = argv, .timeout = timeout, .interrupted = &interrupted_});
  if (!ended && ended.error().code == ErrorCode::timeout)
    return fail(ErrorCode::unavailable,
                options_.host + " is not reached: no answer within " + format_duration(timeout));
  if (!ended) return tl::unexpected(ended.error());
  if (ended->exit_code != 0) return tl::unexpected(ssh_error(options_.host, ended->err));
  return {};
}

Result<Said> SshShell::run(const ShellCommand& command) {
  const Turn turn(*this);
  if (Result<void> there = connect(options_.connect_timeout + seconds(10)); !there)
    return tl::unexpected(there.error());
  const std::string mark = new_mark();
  const std::string input = framed_input(command, mark);
  std::vector<std::string> argv = base_arguments();
  for (const char* word : {"-o", "ControlMaster=no", "-o", "RemoteCommand=none", "-T", "--"})
    argv.emplace_back(word);
  argv.insert(argv.end(), {options_.host, framed_command(mark)});
  Result<SubprocessEnd> ended = run_subprocess({.argv = argv,
                                                .input = input,
                                                .timeout = command.timeout,
                                                .out_max = command.out_max + (64 << 10),
                                                .interrupted = &interrupted_});
  if (!ended) {
    // Most likely the network was cut; the next exchange tries another way. Others go on.
    if (ended.error().code == ErrorCode::timeout) leave("stop");
    return fail(ended.error().code, options_.host + ": " + ended.error().message);
  }
  std::optional<Said> said = unframe(ended->out, mark);
  if (said) {
    said->err = std::move(ended->err);
    return std::move(*said);
  }
  if (ended->exit_code == 255) return tl::unexpected(ssh_error(options_.host, ended->err));
  const std::string_view noise = before_frame(ended->out, mark);
  return fail(ErrorCode::unavailable,
              options_.host + " ended the exchange with " + std::to_string(ended->exit_code) +
                  (noise.empty() && ended->err.empty()
                       ? ""
                       : " and said " + quote(noise.empty() ? trim(ended->err) : noise)));
}

void SshShell::leave(const char* how) {
  const std::lock_guard lock(connecting_);
  if (!connected()) return;
  std::vector<std::string> argv = base_arguments();
  argv.insert(argv.end(), {"-O", how, "--", options_.host});
  static_cast<void>(run_subprocess({.argv = argv, .timeout = kLeaveTimeout}));
  ::unlink(control_path_.c_str());
}

void SshShell::close() { leave("exit"); }

}  // namespace atl::site
