// A request means the same whether its bytes come at once or in pieces, and never more than the
// limits.
#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "http/request_parser.h"

namespace {

using atl::http::RequestParser;
using Progress = RequestParser::Progress;

const atl::http::Limits kLimits{.header_bytes = 512, .header_count = 8, .body_bytes = 256};

struct Outcome {
  Progress last = Progress::need_more;
  std::string text;
};

Outcome read_in_pieces(std::string_view bytes, std::size_t piece) {
  RequestParser parser(kLimits);
  std::size_t taken = 0, available = 0;
  Outcome outcome;
  while (outcome.last != Progress::done && outcome.last != Progress::refused) {
    std::string_view rest = bytes.substr(taken, available - taken);
    const std::size_t before = rest.size();
    outcome.last = parser.parse(rest);
    taken += before - rest.size();
    if (outcome.last != Progress::need_more) continue;
    if (available == bytes.size()) break;
    available = std::min(bytes.size(), available + piece);
  }
  const auto& request = parser.request();
  CHECK(request.body.size() <= kLimits.body_bytes, "body is bounded");
  CHECK(request.headers.size() <= kLimits.header_count, "headers are bounded");
  if (outcome.last == Progress::done)
    outcome.text = request.method + " " + request.target + "\n" + request.body;
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = read_in_pieces(bytes, bytes.size() + 1);
  const Outcome pieces = read_in_pieces(bytes, piece);
  const bool both_done = whole.last == Progress::done && pieces.last == Progress::done;
  if (both_done) CHECK(whole.text == pieces.text, "pieces change nothing");
  CHECK((whole.last == Progress::done) == (pieces.last == Progress::done), "pieces change nothing");
  return 0;
}
