// Any bytes are a list of parts that lie within them, or an error.
#include "base/check.h"
#include "http/multipart.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view type = bytes.substr(0, bytes.find('\n'));
  const std::string_view body = bytes.substr(std::min(size, type.size() + 1));
  const auto parts = atl::http::parse_multipart(type, body);
  if (!parts) return 0;
  for (const atl::http::Part& part : *parts) {
    if (part.body.empty()) continue;
    CHECK(part.body.data() >= body.data(), "a part begins before its body");
    CHECK(part.body.data() + part.body.size() <= body.data() + body.size(), "a part ends behind");
  }
  return 0;
}
