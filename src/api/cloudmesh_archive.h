// Unpacks what somebody has sent: a tar file, plain or compressed with gzip or xz. Nothing in it is
// trusted: only plain files and folders below the directory come out of it, and no more than the
// bounds say, however small it was.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::api {

struct ArchiveBounds {
  size_t bytes = 256u << 20;  // of all files together
  size_t entries = 10'000;
};

// Into an empty directory of the caller's. `invalid` names the entry that is refused: all of them
// are looked at before the first one is written. Of a damaged archive some files may be there.
[[nodiscard]] Result<void> unpack(std::string_view archive, const std::string& directory,
                                  const ArchiveBounds& bounds = {});

}  // namespace atl::api
