#include <cstddef>
#include <cstdint>

#include "spec/directives.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view script(reinterpret_cast<const char*>(data), size);
  const auto read = atl::spec::read_directives(script);
  if (read) static_cast<void>(atl::spec::to_submission(read->spec));
  return 0;
}
