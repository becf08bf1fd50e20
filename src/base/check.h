// CHECK states a fact that must hold because of our own code. It stays on in production: a control
// plane that goes on with a broken state would make the damage durable, while an abort is healed by
// replay.
#pragma once

#include <string>
#include <string_view>

namespace atl {

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               std::string_view what);

}  // namespace atl

#define CHECK(condition, what)                                     \
  do {                                                             \
    if (!(condition)) [[unlikely]]                                 \
      ::atl::check_failed(#condition, __FILE__, __LINE__, (what)); \
  } while (false)
