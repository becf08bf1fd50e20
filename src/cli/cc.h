// `atoll cc workflow`: the habits of the Cloudmesh compute coordinator. For the sources of this
// room only.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/json.h"
#include "cli/session.h"

namespace atl::cli {

// What cc's arguments say. Names may be several: a,b[1-3].
struct CcFlags {
  std::string name;
  std::string job;
  std::string filename;
  std::string dependencies;
  std::string output;
  std::string ns;
  std::vector<std::string> attributes;  // script=a.sh
};

[[nodiscard]] Result<int> cc_add(Session& session, const CcFlags& flags);
[[nodiscard]] Result<int> cc_delete(Session& session, const CcFlags& flags);
[[nodiscard]] Result<int> cc_list(Session& session, const CcFlags& flags);
[[nodiscard]] Result<int> cc_run(Session& session, const CcFlags& flags);
[[nodiscard]] Result<int> cc_link(Session& session, const CcFlags& flags);
[[nodiscard]] Result<int> cc_show(Session& session, const CcFlags& flags);
[[nodiscard]] Result<int> cc_graph(Session& session, const CcFlags& flags);

}  // namespace atl::cli
