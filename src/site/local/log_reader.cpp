#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "site/local/files.h"
#include "site/local/log_layout.h"
#include "site/local/log_store.h"

namespace atl::site {
namespace {

constexpr size_t kScanRecords = 32768;  // 1 MiB of index at a time

struct Piece {
  uint64_t stream_offset;
  uint32_t length;
  std::string data_path;
  uint64_t data_offset;
};

// Reads up to `max` bytes at `offset`; fewer when the file ends.
std::string read_at(const std::string& path, uint64_t offset, size_t max) {
  std::string bytes;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return bytes;
  bytes.resize(max);
  size_t got = 0;
  while (got < max) {
    const ssize_t n = ::pread(fd, bytes.data() + got, max - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  ::close(fd);
  bytes.resize(got);
  return bytes;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* dir = ::opendir(directory.c_str());
  while (const dirent* entry = dir ? ::readdir(dir) : nullptr) {
    if (entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  if (dir) ::closedir(dir);
  return names;
}

void scan_index(const std::string& stem, const LogAddress& address, std::vector<Piece>& pieces) {
  const int fd = ::open((stem + ".index").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat about{};
  const bool known = ::fstat(fd, &about) == 0;
  const auto there = static_cast<size_t>(known ? about.st_size : 0) / sizeof(LogRecord) + 1;
  std::vector<LogRecord> records(std::min(there, size_t{kScanRecords}));
  const size_t bytes = records.size() * sizeof(LogRecord);
  for (off_t at = 0;; at += static_cast<off_t>(bytes)) {
    const ssize_t n = ::pread(fd, records.data(), bytes, at);
    const size_t count = n > 0 ? static_cast<size_t>(n) / sizeof(LogRecord) : 0;
    for (size_t i = 0; i < count; ++i) {
      const LogRecord& r = records[i];
      if (r.index != address.attempt.index || r.attempt != address.attempt.attempt ||
          r.stream != address.stream) {
        continue;
      }
      pieces.push_back({r.stream_offset, r.length, stem + ".data", r.data_offset});
    }
    if (n < static_cast<ssize_t>(bytes)) break;
  }
  ::close(fd);
}

std::vector<Piece> find_pieces(const std::string& directory, const LogAddress& address) {
  std::vector<Piece> pieces;
  for (const std::string& name : files_in(directory)) {
    if (!name.ends_with(".index")) continue;
    scan_index(directory + "/" + name.substr(0, name.size() - 6), address, pieces);
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.stream_offset < b.stream_offset; });
  return pieces;
}

LogChunk read_file_part(const std::string& path, int64_t size, int64_t offset, size_t max) {
  LogChunk chunk{.offset = offset, .size = size};
  if (offset < size) {
    const auto left = static_cast<size_t>(size - offset);
    chunk.bytes = read_at(path, static_cast<uint64_t>(offset), std::min(max, left));
  }
  return chunk;
}

LogChunk read_pieces(const std::vector<Piece>& pieces, int64_t offset, size_t max) {
  LogChunk chunk{.offset = offset};
  for (const Piece& piece : pieces) {
    const auto first = static_cast<int64_t>(piece.stream_offset);
    const int64_t end = first + piece.length;
    chunk.size = std::max(chunk.size, end);
    const int64_t next = chunk.offset + static_cast<int64_t>(chunk.bytes.size());
    if (next < first || next >= end || chunk.bytes.size() >= max) continue;
    const auto skip = static_cast<uint64_t>(next - first);
    const size_t want = std::min<size_t>(max - chunk.bytes.size(), piece.length - skip);
    chunk.bytes += read_at(piece.data_path, piece.data_offset + skip, want);
  }
  return chunk;
}

}  // namespace

Result<LogChunk> read_log(const std::string& root, const LogAddress& address, int64_t offset,
                          size_t max) {
  if (offset < 0) return fail(ErrorCode::invalid, "a log offset is not negative", "offset");
  struct stat info;
  const std::string path = log_file(root, address.attempt, address.stream);
  if (address.attempt.index == 0 && ::stat(path.c_str(), &info) == 0) {
    return read_file_part(path, info.st_size, offset, max);
  }
  const std::vector<Piece> pieces = find_pieces(log_array(root, address.attempt.job), address);
  const std::string live = log_live_use(root, address.attempt);
  if (pieces.empty() && address.stream == kUseStream && ::stat(live.c_str(), &info) == 0)
    return read_file_part(live, info.st_size, offset, max);
  return read_pieces(pieces, offset, max);
}

void purge_logs(const std::string& root, JobId job) {
  const std::string bucket = log_bucket(root, job);
  const std::string prefix = std::to_string(job.value) + ".";
  const std::string array = log_array(root, job);
  for (const std::string& name : files_in(array)) ::unlink((array + "/" + name).c_str());
  ::rmdir(array.c_str());
  for (const std::string& name : files_in(bucket)) {
    if (name.starts_with(prefix)) ::unlink((bucket + "/" + name).c_str());
  }
  ::rmdir(bucket.c_str());
}

}  // namespace atl::site
