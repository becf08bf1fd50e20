// Which server a command is for: the named contexts that `login` keeps, and the order in which
// flags, environment and contexts decide.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/terminal.h"

namespace atl::cli {

struct Context {
  std::string url;
  std::string token;
  std::string ns;       // the namespace meant when none is named
  std::string ca_file;  // PEM, for a server whose authority the system does not know
  bool operator==(const Context&) const = default;
};

struct Contexts {
  std::string current;  // empty: the local socket
  std::map<std::string, Context> named;
  bool operator==(const Contexts&) const = default;
};

// As seen from the working directory, tidied; also of what does not exist.
std::string absolute_path(const std::string& path);

std::string contexts_path(const Environment& environment);  // $XDG_CONFIG_HOME/atoll/contexts.yaml

// No file is no contexts. `invalid` names the file, the line and what is wrong.
[[nodiscard]] Result<Contexts> load_contexts(const std::string& path);

// Replaces the file in one step; it holds tokens, so only its owner may read it.
[[nodiscard]] Result<void> save_contexts(const std::string& path, const Contexts& contexts);

struct TargetFlags {
  std::string home;     // --home
  std::string url;      // --url
  std::string context;  // --context; "local" is the socket
};

// Where requests go, with whose token.
struct Target {
  std::string url;  // "unix:HOME/atoll.sock" when local
  std::string token;
  std::string ns;
  std::string ca_file;
  std::string context;  // the name, when one was used
  std::string home;     // absolute, local or not
  bool local = false;
};

std::string default_home(const Environment& environment);

// --url, --context, ATOLL_URL, a home that was named, the current context, the local socket: the
// first that is said wins. ATOLL_TOKEN is used unless a context was named.
[[nodiscard]] Result<Target> resolve_target(const TargetFlags& flags, const Contexts& contexts,
                                            const Environment& environment);

// A token must not cross a network in the clear.
[[nodiscard]] Result<void> check_transport(const std::string& url, bool has_token);

}  // namespace atl::cli
