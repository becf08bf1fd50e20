// The server's configuration file, atoll.yaml: docs/guides/configuration.md is its reference. An
// unknown key, a wrong type or an impossible value is an error with its line; nothing starts on a
// file that is half understood.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/payload.h"
#include "core/types.h"

namespace atl::bin {

struct SiteConfig {
  std::string kind = "local";  // or "simulated"
  std::optional<int64_t> cpu_milli;
  std::optional<int64_t> memory_bytes;
  std::vector<core::Device> devices;
  int32_t gpu_share_milli = 0;  // local: real GPUs are shared in steps of this; zero: they are not
  uint32_t nodes = 1;           // simulated: how many of that size
  core::Isolation isolation = core::Isolation::automatic;  // local: what jobs get that do not say
  std::optional<uint32_t> processes_max;
  std::optional<int64_t> log_bytes_max;
  bool cgroups = true;
};

struct Config {
  std::string host = "127.0.0.1";
  uint16_t port = 7380;
  bool listen_tcp = true;
  std::string tls_certificate;
  std::string tls_key;
  int threads = 2;
  int64_t body_bytes_max = 64 << 20;
  uint32_t connections_max = 1024;
  unsigned socket_mode =
      0;  // zero: 0600 for one user, 0666 when several share the server (peer credentials decide)
  Duration retention;        // of history, logs and job directories; zero: for ever
  std::string mail_command;  // reads a message on its standard input
  std::map<std::string, SiteConfig> sites;
  std::vector<std::string> watch;  // directories below which schedules may wait for files
};

// The built-in defaults: TCP on loopback, the local site.
Config default_config();

[[nodiscard]] Result<Config> parse_config(const std::string& text, const std::string& file_name);

// HOME/atoll.yaml when it is there, else the defaults; `explicit_path` must exist.
[[nodiscard]] Result<Config> load_config(const std::string& home, const std::string& explicit_path);

}  // namespace atl::bin
