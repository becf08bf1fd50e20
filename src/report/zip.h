// A zip archive made in memory. The same files give the same bytes: times are those of the caller.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::report {

struct ZipFile {
  std::string path;  // relative, with '/', UTF-8: see archive_path
  std::string bytes;
};

// `too_large` beyond kCrateBytesMax; otherwise it fails only for want of memory. Any thread.
[[nodiscard]] Result<std::string> make_zip(const std::vector<ZipFile>& files, Time modified);

// A path of a user as one that stays inside whatever folder the archive is unpacked into: without
// "..", roots, drives, backslashes and control characters. Never empty.
std::string archive_path(std::string_view path);

}  // namespace atl::report
