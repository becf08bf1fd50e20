// Composition only: the command line, with the verbs that are the server itself handed in.
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

#include "bin/config.h"
#include "bin/server.h"
#include "bin/systemd.h"
#include "cli/cli.h"
#include "journal/backup.h"
#include "journal/snapshot_file.h"
#include "journal/verify.h"

namespace atl::bin {
namespace {

int complain(const Error& error) {
  std::cerr << "atoll: " << error.message << "\n";
  return error.code == ErrorCode::invalid ? 2 : 1;
}

Result<Config> config_for(const cli::UpOptions& options) {
  auto config = load_config(options.home, options.config);
  if (!config || options.listen.empty()) return config;
  const auto overruled = parse_config("listen: " + options.listen + "\n", "--listen");
  if (!overruled) return overruled;
  config->host = overruled->host;
  config->port = overruled->port;
  config->listen_tcp = overruled->listen_tcp;
  return config;
}

// Threads inherit the mask, so it is set before any of them starts.
int stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

void allow_many_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int serve(const cli::UpOptions& options) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("atoll"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  const auto config = config_for(options);
  if (!config) return complain(config.error());
  allow_many_files();
  umask(0077);  // payloads and tokens are nobody else's business, however open the directory is
  const int signals = stop_signals();
  auto server = Server::start({options.home, *config});
  if (!server) return complain(server.error());
  spdlog::info("serving {}/atoll.sock {}", options.home, (*server)->url());
  notify_systemd("READY=1");
  signalfd_siginfo info{};
  while (read(signals, &info, sizeof info) < 0 && errno == EINTR) {
  }
  spdlog::info("stopping on signal {}; work that was running goes on", info.ssi_signo);
  notify_systemd("STOPPING=1");
  (*server)->stop();
  return 0;
}

int restore(const std::string& file, const std::string& home) {
  const auto restored = journal::restore(file, home);
  return restored ? 0 : complain(restored.error());
}

int snapshot(const std::string& home) {
  const auto made = journal::make_snapshot(home);
  return made ? 0 : complain(made.error());
}

std::string check_config(const cli::UpOptions& options) {
  const auto config = config_for(options);
  return config ? "" : config.error().message;
}

std::vector<std::string> examine_journal(const std::string& home) {
  auto health = journal::examine(home);
  if (!health) return {health.error().message};
  return std::move(health->problems);
}

}  // namespace
}  // namespace atl::bin

int main(int argc, char** argv) {
  using namespace atl;
  return cli::run_cli(
      argc, argv,
      {bin::serve, bin::restore, bin::snapshot, bin::check_config, bin::examine_journal});
}
