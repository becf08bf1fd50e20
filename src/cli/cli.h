// The command line: verbs over the API. It talks HTTP to a server and links none of it; the few
// verbs that are the server itself are handed in as hooks by src/bin.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace atl::cli {

struct UpOptions {
  std::string home;    // absolute
  std::string config;  // the configuration file; empty: HOME/atoll.yaml when it exists
  std::string listen;  // HOST:PORT that overrules the configuration; empty: as configured
};

// Each returns an exit code and has told the person whatever went wrong.
struct Hooks {
  // Runs the server until it is told to stop. It writes its pid to HOME/server.pid, holds
  // HOME/lock, and answers /readyz on HOME/atoll.sock.
  std::function<int(const UpOptions&)> serve;
  // Unpacks a backup into HOME; only while no server runs there.
  std::function<int(const std::string& file, const std::string& home)> restore;
  // The hidden verb internal-snapshot: writes a snapshot from the journal in HOME.
  std::function<int(const std::string& home)> snapshot;
  // What is wrong with the configuration file, in a sentence that names its line; empty when it is
  // good. For `doctor` while no server runs. May be absent.
  std::function<std::string(const UpOptions&)> check_config;
  // What is damaged in HOME, as sentences; empty when all is well. Reads everything.
  std::function<std::vector<std::string>(const std::string& home)> examine;
};

// The whole program behind main(): parses, runs one verb, returns the exit code.
int run_cli(int argc, char** argv, const Hooks& hooks);

}  // namespace atl::cli
