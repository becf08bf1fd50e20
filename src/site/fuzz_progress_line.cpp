// Any output of a program, in any cuts: no crash, the same progress as in one piece, and never more
// than its bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "site/progress_line.h"

namespace {

using namespace atl;
using namespace atl::site;

Progress scan(std::string_view bytes, size_t step) {
  Progress progress;
  ProgressScanner scanner;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size())))
    scanner.feed(bytes.substr(0, step), progress);
  scanner.finish(progress);
  return progress;
}

void check(const Progress& progress) {
  const bool good = progress.percent_milli.value_or(0) <= kPercentMilliMax &&
                    progress.status.size() <= kProgressStatusMax &&
                    progress.message.size() <= kProgressMessageMax && valid_utf8(progress.message);
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Progress whole = scan(bytes, bytes.size() + 1);
  check(whole);
  if (scan(bytes, data[0] % 64 + 1) != whole) std::abort();
  return 0;
}
