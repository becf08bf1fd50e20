// atoll-warden --directory DIR --installation ID [--idle-exit SECONDS] [--no-cgroups]
// [--foreground]
//
// atoll-warden --join ...   is join.h, --inside ... is inside.h
//
// Detaches from whoever started it and serves until told to end. Exit code 3: another warden serves
// the directory.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "site/local/files.h"
#include "site/local/inside.h"
#include "site/local/join.h"
#include "site/local/warden.h"

namespace {

using namespace atl;
using namespace atl::site;

struct Arguments {
  WardenOptions options;
  bool foreground = false;
};

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--foreground")
      arguments.foreground = true;
    else if (word == "--no-cgroups")
      arguments.options.cgroups = false;
    else if (i + 1 == argc)
      return false;
    else if (word == "--directory")
      arguments.options.directory = argv[++i];
    else if (word == "--installation")
      arguments.options.installation = argv[++i];
    else if (word == "--idle-exit") {
      arguments.options.idle_exit = seconds(parse_int(argv[++i]).value_or(60));
    } else
      return false;
  }
  return !arguments.options.directory.empty() &&
         check_identifier(arguments.options.installation, "installation").has_value();
}

void default_signals() {
  // By system call: the C library hides 32 and 33, which whoever started us may have ignored.
  struct {
    void* handler;
    unsigned long flags, restorer, mask;
  } standard = {};
  for (int one = 1; one < NSIG; ++one) ::syscall(SYS_rt_sigaction, one, &standard, nullptr, 8);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Two forks and a session: no terminal, no parent that could be waited for or hang us up.
void detach(const std::string& directory) {
  if (::fork() != 0) ::_exit(0);
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  const int null = ::open("/dev/null", O_RDWR);
  int log = ::open((directory + "/warden.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (log < 0) log = null;
  ::dup2(null, 0);
  ::dup2(log, 1);
  ::dup2(log, 2);
  ::close_range(3, ~0U, 0);
}

}  // namespace

int main(int argc, char** argv) {
  // Without the usual farewell: half in another namespace, nothing should be begun any more.
  if (argc > 1 && std::string_view(argv[1]) == "--join") ::_exit(join_sandbox(argc, argv));
  if (argc > 1 && std::string_view(argv[1]) == "--inside") ::_exit(run_inside(argc, argv));
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: atoll-warden --directory DIR --installation ID [--idle-exit SECONDS] "
                 "[--no-cgroups] [--foreground]\n");
    return 2;
  }
  default_signals();
  static_cast<void>(make_directories(arguments.options.directory, 0700));
  if (!arguments.foreground) detach(arguments.options.directory);
  if (::chdir("/") != 0) return 1;
  Warden warden(arguments.options);
  if (const Result<void> opened = warden.open(); !opened) {
    std::fprintf(stderr, "atoll-warden: %s\n", opened.error().message.c_str());
    return opened.error().code == ErrorCode::conflict ? 3 : 1;
  }
  warden.run();
  return 0;
}
