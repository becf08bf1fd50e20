#include "http/chunk_decoder.h"

#include <gtest/gtest.h>

#include <string>

namespace atl::http {
namespace {

using Progress = ChunkDecoder::Progress;

struct Decoded {
  Progress last;
  std::string body;
  std::size_t unused;
};

Decoded decode(std::string_view bytes, std::size_t piece) {
  ChunkDecoder decoder;
  std::string body;
  std::size_t taken = 0, available = 0;
  for (;;) {
    std::string_view rest = bytes.substr(taken, available - taken), data;
    const Progress progress = decoder.next(rest, data);
    taken = available - rest.size();
    body += data;
    const bool starved = progress == Progress::need_more && available == bytes.size();
    if (progress == Progress::need_more) available = std::min(bytes.size(), available + piece);
    if (starved || progress == Progress::done || progress == Progress::malformed) {
      return {progress, body, bytes.size() - taken};
    }
  }
}

TEST(ChunkDecoder, PiecesOfAnySizeMeanTheSame) {
  const std::string bytes = "3\r\nabc\r\n0A ;x=\"y\"\r\n0123456789\r\n0\r\nT: v\r\n\r\nnext";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Decoded decoded = decode(bytes.substr(0, bytes.size() - 4), piece);
    EXPECT_EQ(decoded.last, Progress::done);
    EXPECT_EQ(decoded.body, "abc0123456789");
  }
  EXPECT_EQ(decode(bytes, bytes.size()).unused, 4u);
}

TEST(ChunkDecoder, MalformedChunksAreRefused) {
  for (const char* bad :
       {"\r\n", "x\r\n", "-1\r\n", "0x1\r\n", "1 2\r\n", "+1\r\n", "1\nab", "1\rx", "1\r\nab\r\n",
        "1\r\na\n", "11111111111111111\r\n", "0\r\nT: v\n\r\n"}) {
    EXPECT_EQ(decode(bad, 1).last, Progress::malformed) << bad;
    EXPECT_EQ(decode(bad, 100).last, Progress::malformed) << bad;
  }
}

TEST(ChunkDecoder, LinesAndTrailersAreBounded) {
  EXPECT_EQ(decode("1;" + std::string(5000, 'x'), 64).last, Progress::malformed);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 20'000; ++i) trailers += "A:b\r\n";
  EXPECT_EQ(decode(trailers, 64).last, Progress::malformed);
}

}  // namespace
}  // namespace atl::http
