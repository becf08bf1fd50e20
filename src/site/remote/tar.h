// Tar archives in memory, as they travel through a shell. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace atl::site {

struct TarFile {
  std::string path;
  std::string bytes;
  unsigned mode = 0600;
  Time modified;  // zero: 1970
};

class TarWriter {
 public:
  TarWriter();
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;
  void add(const TarFile& file);
  std::string finish();

 private:
  struct Impl;
  Impl* impl_;
};

// Hands out the regular files of the archive, their paths without a leading "./"; everything else
// in it is passed over. The path is as the other side wrote it: check it before it is used.
[[nodiscard]] Result<void> read_tar(std::string_view bytes,
                                    const std::function<Result<void>(TarFile&)>& take);

}  // namespace atl::site
