// Files of a job between this machine and a host: as tar archives through the shell, large ones in
// pieces. Only what differs in size or time is sent, a cut one goes on where it was, and what came
// has the checksum it had. Regular files only; links stay where they are.
#pragma once

#include <string>

#include "base/result.h"
#include "site/remote/shell.h"

namespace atl::site {

struct Transferred {
  size_t files = 0;
  int64_t bytes = 0;
};

// Both directories with everything below them; the target is made, and what is only there stays.
// `remote` is an absolute path. May be repeated. Errors are those of Shell::run, and besides:
// too_large (more than kFilesListedMax files), exhausted (no room), conflict (the files change
// while they are read).
[[nodiscard]] Result<Transferred> get_files(Shell& shell, const std::string& remote,
                                            const std::string& local);
[[nodiscard]] Result<Transferred> put_files(Shell& shell, const std::string& local,
                                            const std::string& remote);

}  // namespace atl::site
