// Any bytes on the warden's socket, in any cuts: no crash, and what is understood says the same
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/wire.h"
#include "site/local/frame.h"
#include "site/local/ledger.h"
#include "site/local/protocol.h"

namespace {

using namespace atl;
using namespace atl::site;

template <class Message>
void round_trip(std::string_view bytes) {
  const Result<Message> message = wire::decode<Message>(bytes);
  if (!message) return;
  const Result<Message> again = wire::decode<Message>(wire::encode(*message));
  if (!again || *again != *message) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t cut = bytes.empty() ? 0 : data[0] % bytes.size();
  FrameReader reader;
  for (const std::string_view part : {bytes.substr(0, cut), bytes.substr(cut)}) {
    reader.append(part);
    while (const std::optional<std::string_view> frame = reader.next()) {
      round_trip<Order>(*frame);
      round_trip<Notice>(*frame);
    }
  }
  round_trip<Order>(bytes);
  round_trip<Notice>(bytes);
  round_trip<Launch>(bytes);
  round_trip<LedgerEntry>(bytes);
  return 0;
}
