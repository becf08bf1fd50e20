#include "http/chunk_decoder.h"

#include <algorithm>
#include <charconv>

namespace atl::http {
namespace {

// "1a", or "1a;name=value" whose extensions mean nothing to us.
bool parse_size(std::string_view line, std::uint64_t& size) {
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, size, 16);
  if (error != std::errc()) return false;
  const std::string_view rest(stop, static_cast<std::size_t>(end - stop));
  const std::size_t text = std::min(rest.find_first_not_of(" \t"), rest.size());
  return text == rest.size() || rest[text] == ';';
}

}  // namespace

ChunkDecoder::Progress ChunkDecoder::next(std::string_view& bytes, std::string_view& data) {
  data = {};
  switch (state_) {
    case State::size:
      return take_size(bytes);
    case State::data:
      return take_data(bytes, data);
    case State::data_end:
      return take_data_end(bytes);
    case State::trailer:
      return take_trailer(bytes);
    case State::done:
      return Progress::done;
  }
  return Progress::malformed;
}

// A line may not have a CR or LF of its own: readers that disagree on where it ends can be played
// against each other.
ChunkDecoder::Progress ChunkDecoder::take_line(std::string_view& bytes, std::string_view& line) {
  const std::size_t end = bytes.find_first_of("\r\n");
  const std::size_t length = std::min(end, bytes.size());
  if (length > kLineMax) return Progress::malformed;
  if (length + 1 >= bytes.size()) {
    const bool may_become_a_line = length == bytes.size() || bytes[length] == '\r';
    return may_become_a_line ? Progress::need_more : Progress::malformed;
  }
  if (bytes[length] != '\r' || bytes[length + 1] != '\n') return Progress::malformed;
  line = bytes.substr(0, length);
  bytes.remove_prefix(length + 2);
  return Progress::taken;
}

ChunkDecoder::Progress ChunkDecoder::take_size(std::string_view& bytes) {
  std::string_view line;
  if (const Progress progress = take_line(bytes, line); progress != Progress::taken)
    return progress;
  if (!parse_size(line, left_)) return Progress::malformed;
  announced_ = left_ > UINT64_MAX - announced_ ? UINT64_MAX : announced_ + left_;
  state_ = left_ == 0 ? State::trailer : State::data;
  return Progress::taken;
}

ChunkDecoder::Progress ChunkDecoder::take_data(std::string_view& bytes, std::string_view& data) {
  if (bytes.empty()) return Progress::need_more;
  data = bytes.substr(0, left_);
  bytes.remove_prefix(data.size());
  left_ -= data.size();
  if (left_ == 0) state_ = State::data_end;
  return Progress::taken;
}

ChunkDecoder::Progress ChunkDecoder::take_data_end(std::string_view& bytes) {
  std::string_view line;
  const Progress progress = take_line(bytes, line);
  if (progress != Progress::taken) return progress;
  state_ = State::size;
  return line.empty() ? Progress::taken : Progress::malformed;
}

ChunkDecoder::Progress ChunkDecoder::take_trailer(std::string_view& bytes) {
  std::string_view line;
  if (const Progress progress = take_line(bytes, line); progress != Progress::taken)
    return progress;
  if (line.empty()) {
    state_ = State::done;
    return Progress::done;
  }
  trailer_bytes_ += line.size() + 2;
  return trailer_bytes_ > kTrailerBytesMax ? Progress::malformed : Progress::taken;
}

}  // namespace atl::http
