#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "site/local/files.h"
#include "site/local/log_layout.h"
#include "site/local/log_store.h"

namespace atl::site {
namespace {

constexpr int kOpenFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;

int open_in(const std::string& directory, const std::string& path, int flags) {
  int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0 && errno == ENOENT && make_directories(directory, 0700)) {
    fd = ::open(path.c_str(), flags, 0600);
  }
  return fd;
}

bool pwrite_all(int fd, std::string_view bytes, int64_t at) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
    at += n;
  }
  return true;
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

LogWriter::LogWriter(std::string root, std::string writer)
    : root_(std::move(root)), writer_(std::move(writer)) {}

LogWriter::~LogWriter() {
  for (Stream& stream : streams_) close_fd(stream.fd);
  close_array();
}

void LogWriter::begin(AttemptId attempt, bool array, int64_t bytes_max) {
  for (Stream& stream : streams_) {
    close_fd(stream.fd);
    stream = {};
  }
  attempt_ = attempt;
  array_ = array;
  bytes_max_ = bytes_max;
}

void LogWriter::append(uint32_t stream, std::string_view bytes) {
  Stream& s = streams_[stream];
  const bool whole = s.kept == s.written;  // once something was dropped, nothing more is kept
  s.written += static_cast<int64_t>(bytes.size());
  if (!whole || s.kept >= bytes_max_) return;
  bytes = bytes.substr(0, static_cast<size_t>(bytes_max_ - s.kept));
  if (keep(stream, bytes)) s.kept += static_cast<int64_t>(bytes.size());
}

void LogWriter::finish() {
  for (uint32_t stream = 0; stream < kUseStream; ++stream) {
    const Stream& s = streams_[stream];
    if (s.kept == s.written) continue;
    keep(stream, "\n[atoll: " + std::to_string(s.written - s.kept) + " of " +
                     std::to_string(s.written) + " bytes were dropped here]\n");
  }
}

void LogWriter::store_use(std::string_view bytes, bool final) {
  if (array_ && final) {
    if (keep(kUseStream, bytes) && streams_[kUseStream].fd >= 0)
      ::unlink(log_live_use(root_, attempt_).c_str());
    return;
  }
  if (keep_in_file(kUseStream, bytes)) {
    static_cast<void>(!::ftruncate(streams_[kUseStream].fd, static_cast<off_t>(bytes.size())));
  }
}

bool LogWriter::keep(uint32_t stream, std::string_view bytes) {
  return array_ ? keep_in_array(stream, bytes) : keep_in_file(stream, bytes);
}

bool LogWriter::keep_in_file(uint32_t stream, std::string_view bytes) {
  Stream& s = streams_[stream];
  if (s.fd < 0) {
    s.fd = array_
               ? open_in(log_array(root_, attempt_.job), log_live_use(root_, attempt_), kOpenFlags)
               : open_in(log_bucket(root_, attempt_.job), log_file(root_, attempt_, stream),
                         kOpenFlags);
  }
  return s.fd >= 0 && pwrite_all(s.fd, bytes, s.kept);
}

bool LogWriter::keep_in_array(uint32_t stream, std::string_view bytes) {
  if (open_job_ != attempt_.job && !open_array()) return false;
  const LogRecord record{.index = attempt_.index,
                         .attempt = attempt_.attempt,
                         .stream = stream,
                         .length = static_cast<uint32_t>(bytes.size()),
                         .stream_offset = static_cast<uint64_t>(streams_[stream].kept),
                         .data_offset = static_cast<uint64_t>(data_at_)};
  if (!pwrite_all(data_fd_, bytes, data_at_)) return false;
  const std::string_view raw(reinterpret_cast<const char*>(&record), sizeof record);
  if (!pwrite_all(index_fd_, raw, index_at_)) return false;
  data_at_ += record.length;
  index_at_ += static_cast<int64_t>(sizeof record);
  return true;
}

bool LogWriter::open_array() {
  close_array();
  const std::string directory = log_array(root_, attempt_.job);
  data_fd_ = open_in(directory, directory + "/" + writer_ + ".data", kOpenFlags);
  index_fd_ = open_in(directory, directory + "/" + writer_ + ".index", kOpenFlags);
  struct stat data, index;
  if (data_fd_ < 0 || index_fd_ < 0 || ::fstat(data_fd_, &data) != 0 ||
      ::fstat(index_fd_, &index) != 0) {
    close_array();
    return false;
  }
  data_at_ = data.st_size;
  index_at_ = index.st_size - index.st_size % static_cast<int64_t>(sizeof(LogRecord));
  open_job_ = attempt_.job;
  return true;
}

void LogWriter::close_array() {
  close_fd(data_fd_);
  close_fd(index_fd_);
  open_job_ = {};
}

}  // namespace atl::site
