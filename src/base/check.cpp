#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace atl {

void check_failed(const char* condition, const char* file, int line, std::string_view what) {
  std::fprintf(stderr, "CHECK failed at %s:%d: %s: %.*s\n", file, line, condition,
               static_cast<int>(what.size()), what.data());
  std::fflush(nullptr);
  std::abort();
}

}  // namespace atl
