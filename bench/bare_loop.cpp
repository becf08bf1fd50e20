// The floor that real tasks are measured against: posix_spawn and wait of `true`, P at a time, with
// two output files opened for each, and nothing else. Prints tasks per second.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

extern char** environ;

namespace {

void spawn_one(const std::string& directory, int index) {
  const std::string out = directory + "/" + std::to_string(index) + ".out";
  const std::string err = directory + "/" + std::to_string(index) + ".err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const char* argv[] = {"true", nullptr};
  pid_t pid = 0;
  if (posix_spawnp(&pid, "true", &actions, nullptr, const_cast<char**>(argv), environ) != 0)
    _exit(1);
  posix_spawn_file_actions_destroy(&actions);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: bare_loop COUNT PARALLEL DIRECTORY\n"), 2;
  const int count = std::stoi(argv[1]);
  const int parallel = std::stoi(argv[2]);
  const auto begin = std::chrono::steady_clock::now();
  int started = 0;
  for (; started < parallel && started < count; ++started) spawn_one(argv[3], started);
  for (int ended = 0; ended < count; ++ended) {
    wait(nullptr);
    if (started < count) spawn_one(argv[3], started++);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::printf("%.0f\n", count / spent.count());
}
