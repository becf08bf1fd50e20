// Where the output of local tasks lies, written by keepers and read by the driver.
//
//   <root>/<job / 1000>/<job>.<attempt>.out|err|use          a job that is not an array; made with
//   the first byte <root>/<job / 1000>/<job>.array/<writer>.data and .index  an array: what one
//   keeper wrote for all its tasks
//
// In an array each piece of output is appended to the writer's .data, then a record of 32 bytes to
// its .index:
//   u32 index, u32 attempt, u32 stream, u32 length, u64 offset in the stream, u64 offset in .data
//   (little endian)
// A reader looks through the indices of the job, so a running task is read like an ended one, a
// million tasks make a few files, and a torn record at the end of an index is ignored. Stream 2
// (`use`) holds the encoded samples; while a task of an array runs they are in a file of its own,
// <job>.array/<index>.<attempt>.use, so that replacing them leaves nothing behind.
//
// The beginning of a stream is kept up to a limit; what follows is counted, and when the task ends
// a marker line says how much was dropped. A full disk counts as dropped too: output never changes
// how a task ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "site/driver.h"

namespace atl::site {

inline constexpr uint32_t kUseStream = 2;

struct LogAddress {
  AttemptId attempt;
  uint32_t stream = 0;  // LogStream, or kUseStream
};

// The files that one keeper appends to. Keeps those of the last array open, because the next task
// is likely of it.
class LogWriter {
 public:
  LogWriter(std::string root, std::string writer);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  ~LogWriter();

  // Begins a task; its streams take bytes until the next begin().
  void begin(AttemptId attempt, bool array, int64_t bytes_max);
  void append(uint32_t stream, std::string_view bytes);
  // Appends the markers; returns the bytes the task wrote to each stream, kept or not.
  void finish();
  int64_t written(uint32_t stream) const { return streams_[stream].written; }
  // Replaces the samples of the task (those of an array move to its shared files at the end).
  void store_use(std::string_view bytes, bool final);

 private:
  struct Stream {
    int fd = -1;
    int64_t written = 0;
    int64_t kept = 0;
  };
  bool keep(uint32_t stream, std::string_view bytes);
  bool keep_in_file(uint32_t stream, std::string_view bytes);
  bool keep_in_array(uint32_t stream, std::string_view bytes);
  bool open_array();
  void close_array();

  const std::string root_;
  const std::string writer_;
  AttemptId attempt_;
  bool array_ = false;
  int64_t bytes_max_ = 0;
  Stream streams_[3];
  JobId open_job_;
  int data_fd_ = -1, index_fd_ = -1;
  int64_t data_at_ = 0, index_at_ = 0;
};

// At most `max` bytes from `offset`; an attempt that wrote nothing has an empty log. Thread-safe.
[[nodiscard]] Result<LogChunk> read_log(const std::string& root, const LogAddress& address,
                                        int64_t offset, size_t max);

// Removes every file of the job.
void purge_logs(const std::string& root, JobId job);

}  // namespace atl::site
