// Whatever bytes a target has, it is refused or comes out safe, and the router takes it.
#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "http/router.h"
#include "http/target.h"

namespace {

const atl::http::Router& router() {
  static const atl::http::Router made = [] {
    atl::http::Router routes;
    for (const char* pattern : {"/", "/a/{x}", "/a/{x}/b", "/{y}/c/{z...}"}) {
      routes.add("GET", pattern, [](std::shared_ptr<atl::http::Exchange>) {});
    }
    return routes;
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  const auto target = atl::http::parse_target(raw);
  if (!target) return 0;
  CHECK(atl::http::is_utf8(target->path), "path is UTF-8");
  CHECK(target->path == "*" || target->path.starts_with('/'), "path is absolute");
  CHECK((target->path + "/").find("/../") == std::string::npos, "path has no ..");
  CHECK(std::ranges::none_of(target->path, [](unsigned char c) { return c < 0x20; }),
        "no control characters");
  for (const auto& [name, value] : router().match("GET", target->raw_path).params) {
    CHECK(!value.empty() && atl::http::is_utf8(value), name);
  }
  return 0;
}
