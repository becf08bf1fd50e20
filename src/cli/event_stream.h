// A server-sent event stream over as many connections as it takes: after a break it goes on behind
// the last event that arrived whole, so nothing is lost or doubled.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/api.h"
#include "http/sse.h"

namespace atl::cli {

struct Patience {
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds last_pause{2'000};
  std::chrono::milliseconds away_max{std::chrono::minutes(5)};  // without hearing anything
  std::chrono::milliseconds silence{
      45'000};  // three heartbeats; then the connection is taken for dead
};

// Until `take` returns false. `after` is the Last-Event-ID to begin with. A refusal other than
// "unavailable" or "exhausted" ends it at once. `stop` is asked whenever the server is heard, by
// its heartbeats too, and between connections; true ends it well.
[[nodiscard]] Result<void> follow_stream(Api& api, const std::string& path, std::string after,
                                         const std::function<bool(const http::Event&)>& take,
                                         const Patience& patience = {},
                                         const std::function<bool()>& stop = {});

}  // namespace atl::cli
