#include "site/remote/local_shell.h"

#include "site/remote/framing.h"
#include "site/remote/subprocess.h"

namespace atl::site {

Result<Said> LocalShell::run(const ShellCommand& command) {
  const std::string mark = new_mark();
  const std::string input = framed_input(command, mark);
  Result<SubprocessEnd> ended = run_subprocess({.argv = {program_, "-c", framed_program(mark)},
                                                .input = input,
                                                .timeout = command.timeout,
                                                .out_max = command.out_max + 1024});
  if (!ended) return tl::unexpected(ended.error());
  std::optional<Said> said = unframe(ended->out, mark);
  if (!said)
    return fail(ErrorCode::unavailable, "the shell of this machine was ended in the middle");
  said->err = std::move(ended->err);
  return std::move(*said);
}

}  // namespace atl::site
