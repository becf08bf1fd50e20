// A page that is redrawn in place until q or Ctrl-C: ps --watch and top.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/session.h"

namespace atl::cli {

// Calls `make` every `interval` and shows what it returns; a failure is shown in its place and
// tried again, since a server that restarts comes back. Ends with 0, by q on a terminal or by
// Ctrl-C; another signal gives the terminal back too and is told as 128+n. Ctrl-Z gives it back for
// the while, and from the background nothing is shown. Where standard output is no terminal, the
// pages follow each other.
[[nodiscard]] Result<int> watch(Session& session, std::chrono::milliseconds interval,
                                const std::function<Result<std::string>()>& make);

// The lines that fit `rows` by `columns`, each ending with what erases the rest of its line.
std::string fit_page(const std::string& text, int rows);

}  // namespace atl::cli
