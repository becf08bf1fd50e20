#include <cstddef>
#include <cstdint>

#include "spec/timing/timing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& read :
       {atl::spec::parse_cron(text, "UTC"), atl::spec::parse_calendar(text, "Europe/Berlin")}) {
    if (read) static_cast<void>(atl::spec::next_times(*read, atl::Time{1}, 3));
  }
  return 0;
}
