#include "site/local/environment.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "site/local/files.h"
#include "site/local/inside.h"
#include "site/local/remains.h"

namespace atl::site {
namespace {

constexpr const char* kRootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr const char* kUserPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games";

using Environment = std::map<std::string, std::string>;

void add_login(Environment& env, const Launch& launch) {
  const Account& account = launch.account;
  env["HOME"] = account.home.empty() ? "/" : account.home;
  env["USER"] = env["LOGNAME"] = account.name;
  env["SHELL"] = account.shell.empty() ? "/bin/sh" : account.shell;
  env["PATH"] = account.uid == 0 ? kRootPath : kUserPath;
  env["LANG"] = launch.lang.empty() ? "C.UTF-8" : launch.lang;
}

void add_task(Environment& env, const Launch& launch) {
  env["ATOLL_JOB_ID"] = std::to_string(launch.attempt.job.value);
  env["ATOLL_JOB_NAME"] = launch.name;
  env["ATOLL_NAMESPACE"] = launch.ns;
  env["ATOLL_ATTEMPT"] = std::to_string(launch.attempt.attempt - launch.recalls);
  env["ATOLL_JOB_DIR"] = launch.job_dir;
  env["ATOLL_CHECKPOINT_DIR"] = checkpoint_directory(launch);
  env["ATOLL_CHECKPOINT_NOTE"] = checkpoint_note(launch);
  env["ATOLL_NOTICE_FILE"] = notice_file(launch);
  env[kProgressFileVariable] = progress_file(launch);
  if (launch.array) env["ATOLL_ARRAY_INDEX"] = std::to_string(launch.attempt.index);
  if (launch.resumed) env["ATOLL_RESUMED"] = "1";
  env["OMP_NUM_THREADS"] = std::to_string(std::max<int64_t>(1, launch.cpu_milli / 1000));
}

// Whether the leading comments have a line for Slurm.
bool has_slurm_lines(std::string_view script) {
  while (script.starts_with('#') || script.starts_with('\n')) {
    if (script.starts_with("#SBATCH")) return true;
    const size_t end = script.find('\n');
    if (end == std::string_view::npos) return false;
    script.remove_prefix(end + 1);
  }
  return false;
}

// What scripts written for Slurm read about themselves.
void add_slurm(Environment& env, const Launch& launch) {
  if (!has_slurm_lines(launch.payload.script)) return;
  env["SLURM_JOB_ID"] = env["ATOLL_JOB_ID"];
  env["SLURM_JOB_NAME"] = launch.name;
  env["SLURM_CPUS_PER_TASK"] = env["OMP_NUM_THREADS"];
  env["SLURM_SUBMIT_DIR"] =
      launch.payload.directory.empty() ? env["HOME"] : launch.payload.directory;
  if (!launch.array) return;
  env["SLURM_ARRAY_JOB_ID"] = env["ATOLL_JOB_ID"];
  env["SLURM_ARRAY_TASK_ID"] = env["ATOLL_ARRAY_INDEX"];
}

// A task given no gpu must not find one: the empty list hides all from CUDA, and "void" and "none"
// say the same to container runtimes and ROCm.
void add_gpus(Environment& env, const Launch& launch) {
  if (!launch.gpus_present) return;
  const bool none = launch.gpus.empty();
  env["CUDA_VISIBLE_DEVICES"] = launch.gpus;
  env["NVIDIA_VISIBLE_DEVICES"] = none ? "void" : launch.gpus;
  env["ROCR_VISIBLE_DEVICES"] = none ? "none" : launch.gpus;
  env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
}

void add_venv(Environment& env, const Launch& launch) {
  if (launch.payload.venv.empty()) return;
  env["VIRTUAL_ENV"] = launch.payload.venv;
  env["PATH"] = launch.payload.venv + "/bin:" + env["PATH"];
  env.erase("PYTHONHOME");
}

// Part of the system, or what the sandbox has of its own: never bound over, so it stays read-only
// or private.
bool belongs_to_system(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string();
  static constexpr std::string_view kAlone[] = {"/", "/tmp", "/var", "/var/tmp", "/run"};
  if (error || std::ranges::find(kAlone, real) != std::end(kAlone)) return true;
  static constexpr std::string_view kWhole[] = {"/usr", "/etc", "/boot", "/proc", "/sys", "/dev"};
  return std::ranges::any_of(kWhole, [&](std::string_view top) {
    return real == top || (real.starts_with(top) && real[top.size()] == '/');
  });
}

// Whether the sandbox that bwrap's arguments describe shows the path where we see it.
bool is_shown(const std::vector<std::string>& bwrap, std::string_view path) {
  for (size_t i = 0; i + 2 < bwrap.size(); ++i) {
    if (bwrap[i] != "--ro-bind" && bwrap[i] != "--bind" && bwrap[i] != "--symlink") continue;
    const std::string& top = bwrap[i + 2];
    if (path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/'))
      return true;
  }
  return false;
}

bool is_executable_there(const Launch& launch, const std::vector<std::string>& bwrap,
                         const std::string& path) {
  if (!is_shown(bwrap, path)) return false;
  char real[PATH_MAX];
  struct stat info;
  if (!::realpath(path.c_str(), real) || !is_shown(bwrap, real) || ::stat(real, &info) != 0 ||
      !S_ISREG(info.st_mode)) {
    return false;
  }
  const bool own = launch.account.uid == ::geteuid() && ::access(real, X_OK) == 0;
  return own || (info.st_mode & S_IXOTH) != 0;
}

// The program of a "#!" line; empty when there is none.
std::string interpreter_of(std::string_view text) {
  if (!text.starts_with("#!")) return {};
  text = text.substr(2, text.find('\n') - 2);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return std::string(text.substr(0, text.find_first_of(" \t\r")));
}

std::string first_bytes(const std::string& path) {
  char bytes[256];
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const ssize_t n = fd < 0 ? -1 : ::read(fd, bytes, sizeof bytes);
  if (fd >= 0) ::close(fd);
  return n > 0 ? std::string(bytes, static_cast<size_t>(n)) : std::string();
}

// Whether the command is found and executable inside, as far as can be told from outside. A
// doubtful one is looked at inside, by kExplain, which costs a shell.
bool surely_runs(const Launch& launch, const std::vector<std::string>& bwrap,
                 const std::string& name) {
  const auto interpreted = [&](std::string_view text) {
    const std::string program = interpreter_of(text);
    return program.empty() || is_executable_there(launch, bwrap, program);
  };
  if (!launch.payload.script.empty()) return interpreted(launch.payload.script);
  const std::vector<std::string> environment = build_environment(launch);
  for (std::string file : executable_candidates(name, environment_value(environment, "PATH"))) {
    if (!file.starts_with('/')) file = launch.payload.directory + "/" + file;
    if (is_executable_there(launch, bwrap, file)) return interpreted(first_bytes(file));
  }
  return false;
}

// Ends as Task::fail_spawn does, where bwrap would say "execvp" and end with 1.
constexpr const char* kExplain = R"(end() { echo "atoll: $2: $3" >&2; exit "$1"; }
file=$1
case $1 in
*/*) ;;
*) file=$(command -v -- "$1")
   case $file in
   */*) ;;
   *) IFS=:; for d in $PATH; do [ -f "$d/$1" ] && end 126 "$1" "Permission denied"; done; file= ;;
   esac ;;
esac
[ -e "$file" ] || end 127 "$1" "command not found"
[ -f "$file" ] && [ -x "$file" ] || end 126 "$1" "Permission denied"
IFS= read -r line <"$file" 2>/dev/null
case $line in
'#!'*) line=${line#??}; set -f; unset IFS; for program in $line; do break; done; set +f
  [ -e "$program" ] || end 126 "$1" "its interpreter was not found"
  [ -x "$program" ] || end 126 "$1" "Permission denied" ;;
esac
exec "$@")";

}  // namespace

std::string checkpoint_directory(const Launch& launch) {
  return launch.array ? launch.job_dir + "/" + std::to_string(launch.attempt.index)
                      : launch.job_dir;
}

std::string checkpoint_note(const Launch& launch) {
  return checkpoint_directory(launch) + "/checkpointed";
}

std::string notice_file(const Launch& launch) { return checkpoint_directory(launch) + "/notice"; }

std::string progress_file(const Launch& launch) {
  return checkpoint_directory(launch) + "/progress";
}

// The tasks of an array share one script, unless each has an item of its own put into it.
bool shares_script(const Launch& launch) {
  return launch.array && !launch.payload.env.contains("ATOLL_ITEM");
}

std::string script_path(const Launch& launch) {
  return (shares_script(launch) ? launch.job_dir : checkpoint_directory(launch)) + "/script";
}

std::vector<std::string> build_environment(const Launch& launch) {
  Environment env;
  add_login(env, launch);
  add_task(env, launch);
  add_slurm(env, launch);
  add_gpus(env, launch);
  for (const auto& [name, value] : launch.variables) env[name] = value;
  for (const auto& [key, value] : launch.payload.env) env[key] = value;
  env[kMarkerVariable] = launch.installation;
  add_venv(env, launch);
  std::vector<std::string> lines;
  lines.reserve(env.size());
  for (const auto& [key, value] : env) lines.push_back(key + "=" + value);
  return lines;
}

std::string_view environment_value(const std::vector<std::string>& environment,
                                   std::string_view key) {
  for (const std::string& line : environment) {
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=') {
      return std::string_view(line).substr(key.size() + 1);
    }
  }
  return {};
}

std::vector<std::string> build_command(const Launch& launch) {
  if (launch.payload.script.empty()) return launch.payload.argv;
  std::vector<std::string> command = {script_path(launch)};
  command.insert(command.end(), launch.payload.args.begin(), launch.payload.args.end());
  return command;
}

std::vector<std::string> executable_candidates(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> candidates;
  if (name.empty()) return candidates;
  for (const std::string_view entry : split(path, ':')) {
    candidates.push_back(entry.empty() ? name : std::string(entry) + "/" + name);
  }
  return candidates;
}

std::vector<std::string> wrap_in_sandbox(const Launch& launch,
                                         const std::vector<std::string>& command) {
  std::vector<std::string> args = {"/usr/bin/bwrap", "--die-with-parent", "--unshare-pid",
                                   "--as-pid-1",     "--unshare-ipc",     "--unshare-uts",
                                   "--new-session",  "--cap-drop",        "ALL"};
  if (!launch.payload.network) args.push_back("--unshare-net");
  const auto add = [&](std::initializer_list<std::string> more) { args.insert(args.end(), more); };
  for (const char* path : {"/usr", "/etc", "/opt", "/lib", "/lib64", "/lib32", "/bin", "/sbin",
                           "/run/systemd/resolve"}) {
    char target[512];
    const ssize_t n = ::readlink(path, target, sizeof target);
    if (n > 0)
      add({"--symlink", std::string(target, static_cast<size_t>(n)), path});
    else if (is_directory(path))
      add({"--ro-bind", path, path});
  }
  add({"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"});
  if (launch.gpus_present && !launch.gpus.empty()) {
    add({"--dev-bind-try", "/dev/nvidiactl", "/dev/nvidiactl", "--dev-bind-try", "/dev/nvidia-uvm",
         "/dev/nvidia-uvm"});
    for (const std::string_view index : split(launch.gpus, ',')) {
      if (index.find('/') != std::string_view::npos) continue;  // a slice
      const std::string node = "/dev/nvidia" + std::string(index);
      add({"--dev-bind-try", node, node});
    }
  }
  if (!launch.payload.venv.empty()) add({"--ro-bind", launch.payload.venv, launch.payload.venv});
  for (const std::string& path : launch.payload.writable) add({"--bind", path, path});
  const std::string& directory =
      launch.payload.directory.empty() ? launch.account.home : launch.payload.directory;
  if (!directory.empty() && !belongs_to_system(directory)) add({"--bind", directory, directory});
  add({"--bind", launch.job_dir, launch.job_dir});
  if (!directory.empty()) add({"--chdir", directory});
  const bool runs = surely_runs(launch, args, command[0]);
  args.push_back("--");
  const std::vector<std::string> inside = inside_command();
  args.insert(args.end(), inside.begin(), inside.end());
  if (!runs) add({"/bin/sh", "-c", kExplain, "sh"});
  args.insert(args.end(), command.begin(), command.end());
  return args;
}

Result<void> check_launch(const Launch& launch) {
  const core::Payload& payload = launch.payload;
  if (payload.argv.empty() && payload.script.empty()) {
    return fail(ErrorCode::invalid, "there is neither a command nor a script to run");
  }
  if (!payload.venv.empty() && ::access((payload.venv + "/bin/python").c_str(), X_OK) != 0) {
    return fail(ErrorCode::invalid,
                "the Python environment " + quote(payload.venv) +
                    " has no bin/python: give the directory that `python -m venv` made");
  }
  if (payload.isolation != core::Isolation::sandbox) return {};
  if (::access("/usr/bin/bwrap", X_OK) != 0) {
    return fail(
        ErrorCode::unavailable,
        "a sandbox was asked for and /usr/bin/bwrap is missing: install the package bubblewrap");
  }
  for (const std::string& path : payload.writable) {
    if (!is_directory(path)) {
      return fail(ErrorCode::invalid, "the writable directory " + quote(path) + " does not exist");
    }
    if (belongs_to_system(path)) {
      return fail(ErrorCode::invalid, quote(path) +
                                          " cannot be made writable in a sandbox, which has its "
                                          "own /tmp and a read-only system: name a directory of "
                                          "yours");
    }
  }
  return {};
}

}  // namespace atl::site
