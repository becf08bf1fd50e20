// A place where POSIX shell scripts run: this machine, or another one behind ssh. What the drivers
// of machines that exist share; they know nothing else of how a host is reached.
//
// Blocking, and from any thread at once. The script is run by `sh`, whatever the account's own
// shell is, and finds `input` on its stdin. What a login banner or a profile prints never gets into
// the answer, and an answer is whole or an error: a connection that is cut in the middle is told
// apart from a script that ended.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace atl::site {

struct ShellCommand {
  std::string script;  // POSIX sh; at most kShellScriptMax bytes and no NUL
  std::string input;   // bytes on stdin behind the script
  Duration timeout = seconds(60);
  size_t out_max = 16 << 20;  // of stdout
};

inline constexpr size_t kShellScriptMax = 64
                                          << 10;  // it is read byte by byte; put more into `input`

// What the script said, and how it ended.
struct Said {
  int exit_code = 0;
  std::string out;
  std::string err;
};

class Shell {
 public:
  virtual ~Shell() = default;

  // Errors, each with a sentence that says what to change:
  //   unavailable   the host was not reached, or the connection was cut: nobody knows whether the
  //                 script ran; it may be repeated if the script may be
  //   timeout       it was begun and did not end in its time; it may go on over there
  //   unauthorized  no key was accepted, or a password is wanted
  //   conflict      the host's key is another than the one that is known
  //   invalid       its key is not known yet, or the ssh configuration cannot be read
  //   too_large     it said more than out_max
  [[nodiscard]] virtual Result<Said> run(const ShellCommand& command) = 0;

  // For messages: the host as the user named it.
  virtual std::string name() const = 0;

  // Lets go of the connection; run() opens another.
  virtual void close() {}

  // For good: what is under way ends soon as unavailable, and so does everything later.
  virtual void interrupt() {}
};

// The script's text is in single quotes: 'it'\''s'.
std::string shell_quote(std::string_view text);

}  // namespace atl::site
