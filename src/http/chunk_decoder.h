// The chunked transfer coding, read strictly and with bounds. Internal.
//
// Beast 1.81 has one of its own, which trips over an assertion when a last chunk arrives in unlucky
// pieces and sets no bound on what it keeps waiting for; fuzz_request found both.
#pragma once

#include <cstdint>
#include <string_view>

namespace atl::http {

class ChunkDecoder {
 public:
  enum class Progress { need_more, taken, done, malformed };

  // Takes bytes from the front of `bytes` and removes them. After `taken`, `data` is what they
  // brought of the body, if anything. Trailers are skipped.
  Progress next(std::string_view& bytes, std::string_view& data);

  // The sizes of all chunks announced so far: known before their bytes come.
  std::uint64_t announced() const { return announced_; }

  static constexpr std::size_t kLineMax =
      4 * 1024;  // a chunk's size and extensions, or one trailer
  static constexpr std::size_t kTrailerBytesMax = 16 * 1024;  // all trailers together

 private:
  enum class State { size, data, data_end, trailer, done };

  Progress take_line(std::string_view& bytes, std::string_view& line);
  Progress take_size(std::string_view& bytes);
  Progress take_data(std::string_view& bytes, std::string_view& data);
  Progress take_data_end(std::string_view& bytes);
  Progress take_trailer(std::string_view& bytes);

  State state_ = State::size;
  std::uint64_t left_ = 0;  // of the current chunk
  std::uint64_t announced_ = 0;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace atl::http
