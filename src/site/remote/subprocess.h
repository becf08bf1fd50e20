// Runs one program to its end, with bytes on its stdin and a bound on what it may say.
//
// It gets a session of its own, so a program that wants a password finds no terminal to ask on, and
// everything it started is ended with it when its time is over. Blocking; from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::site {

struct Subprocess {
  std::vector<std::string> argv;  // argv[0] is looked for in PATH
  std::string_view input;         // must live until run_subprocess() returns
  // The next piece of input behind `input`; empty ends it. Called on the caller's thread.
  std::function<std::string()> more;
  Duration timeout = seconds(60);
  size_t out_max = 16 << 20;                       // of stdout; more is an error
  size_t err_max = 64 << 10;                       // of stderr; more is dropped
  const std::atomic<bool>* interrupted = nullptr;  // once true, it is ended as if timed out
};

struct SubprocessEnd {
  int exit_code = 0;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

// Errors: timeout (it was ended), too_large (so much on stdout, it was ended), unavailable (it
// could not be started).
[[nodiscard]] Result<SubprocessEnd> run_subprocess(const Subprocess& what);

}  // namespace atl::site
