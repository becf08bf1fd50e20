// The readiness protocol of systemd (Type=notify): a datagram to the socket named in the
// environment. Nothing happens when the variable is absent.
#pragma once

#include <string_view>

namespace atl::bin {

void notify_systemd(std::string_view state);

}  // namespace atl::bin
