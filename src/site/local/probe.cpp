#include "site/local/probe.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "site/local/cgroup.h"
#include "site/local/devices.h"
#include "site/local/files.h"

extern char** environ;

namespace atl::site {
namespace {

int run_quietly(const char* const* argv) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, argv[0], &actions, nullptr, const_cast<char* const*>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 1;
  if (error == 0) ::waitpid(pid, &status, 0);
  return error == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

void probe_cgroups(LocalFacts& facts) {
  const CgroupBase base = make_cgroup_base("probe-" + std::to_string(::getpid()));
  facts.cgroup_version = base.version;
  facts.cgroup_why = base.version == 0
                         ? base.why + "; limits are rlimits instead"
                         : "limits are control groups of version " + std::to_string(base.version);
  remove_cgroup_base(base);
}

void probe_sandbox(LocalFacts& facts) {
  const char* argv[] = {"/usr/bin/bwrap",
                        "--ro-bind",
                        "/",
                        "/",
                        "--unshare-pid",
                        "--dev",
                        "/dev",
                        "--proc",
                        "/proc",
                        "--die-with-parent",
                        "--",
                        "/bin/true",
                        nullptr};
  if (::access(argv[0], X_OK) != 0) {
    facts.sandbox_why = "/usr/bin/bwrap is missing: install the package bubblewrap";
    return;
  }
  facts.sandbox = run_quietly(argv) == 0;
  facts.sandbox_why = facts.sandbox
                          ? "bubblewrap works"
                          : "bubblewrap is installed, but the kernel refuses its namespaces";
}

}  // namespace

core::NodeCapacity machine_capacity() {
  core::NodeCapacity node;
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  node.name = name;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const bool known = ::sched_getaffinity(0, sizeof cpus, &cpus) == 0;
  node.cpu_milli = (known ? CPU_COUNT(&cpus) : ::sysconf(_SC_NPROCESSORS_ONLN)) * 1000L;
  node.memory_bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
  return node;
}

LocalFacts probe_local(const std::string& nvml) {
  LocalFacts facts;
  probe_cgroups(facts);
  probe_sandbox(facts);
  facts.root = ::geteuid() == 0;
  facts.root_why = facts.root
                       ? "the server runs as root: work runs under the submitter's account"
                       : "the server does not run as root: all work runs under its own account";
  const FoundDevices found = find_nvidia_gpus(nvml);
  facts.gpus = static_cast<int>(found.devices.size());
  facts.gpus_why = found.devices.empty() ? found.why : "found by NVML";
  return facts;
}

}  // namespace atl::site
