// What a run executes. Core carries only its digest; the bytes are a blob, durable before the event
// that names them, and only site drivers read them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/describe.h"

namespace atl::core {

enum class Isolation : uint8_t { automatic, none, sandbox };
BOOST_DESCRIBE_ENUM(Isolation, automatic, none, sandbox)

struct Payload {
  std::vector<std::string> argv;  // either a command …
  std::string script;             // … or a script with its own #! line, given to the run as a file
  std::vector<std::string> args;  // of the script
  std::map<std::string, std::string> env;
  std::string directory;  // where it runs; empty: the user's home
  std::string stdin_text;
  std::string stdin_file;
  Isolation isolation = Isolation::automatic;
  bool network = true;
  std::vector<std::string> writable;  // directories a sandbox may write, beside `directory`
  uint32_t processes_max = 0;         // zero: the site's default
  int64_t log_bytes_max = 0;          // per stream; zero: the site's default
  std::string venv;                   // a Python environment to activate
  uint64_t simulated_us = 0;          // how long a simulated site pretends to run it
  int32_t simulated_exit = 0;
  std::string simulated_start_error;
  // Of an array that goes through items: the one of each task, or as many values as there are keys.
  std::vector<std::string> items;
  std::vector<std::string> item_keys;
  std::map<std::string, std::string> secrets;  // variables by the names of secrets, never values
  bool operator==(const Payload&) const = default;
};

ATOLL_DESCRIBE(Payload, argv, script, args, env, directory, stdin_text, stdin_file, isolation,
               network, writable, processes_max, log_bytes_max, venv, simulated_us, simulated_exit,
               simulated_start_error, items, item_keys, secrets)

}  // namespace atl::core
