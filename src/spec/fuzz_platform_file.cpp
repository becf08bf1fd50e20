#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "spec/platform_file.h"

// Whatever is accepted must survive being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = atl::spec::parse_platform_file(text, "f");
  if (!file) return 0;
  const auto again = atl::spec::parse_platform_file(atl::spec::write_platform_file(*file), "f");
  if (!again || again->cohorts != file->cohorts || again->namespaces != file->namespaces ||
      again->nodes != file->nodes || again->policy != file->policy)
    std::abort();
  return 0;
}
