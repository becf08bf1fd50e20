// What an event of the warden's epoll belongs to.
#pragma once

#include <cstdint>

namespace atl::site {

inline constexpr uint64_t kListenerTag = 0;
inline constexpr uint64_t kServerTag = 1;
inline constexpr uint64_t kSignalTag = 2;
inline constexpr uint64_t kFirstSlotTag = 16;

}  // namespace atl::site
