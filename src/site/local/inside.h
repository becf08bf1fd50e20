// The first process inside a sandbox. bubblewrap says 128 + n of a command that a signal ended,
// which a command may also say by itself; this one, in the place of bubblewrap's own, keeps what
// wait() said where the keeper finds it.
//
//   bwrap … --as-pid-1 -- /proc/self/fd/4 --inside COMMAND…
//
// It is a sealed copy of this same program in memory, reached by a descriptor.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace atl::site {

// Descriptors that bwrap passes on; the command does not get them.
inline constexpr int kStatusFd = 3;   // a file in memory, for the wait status
inline constexpr int kProgramFd = 4;  // the program

// What to put in front of the command.
std::vector<std::string> inside_command();

// Starts the command, waits for it, and returns what a shell would; other processes of the sandbox
// end with it.
int run_inside(int argc, char** argv);

// The keeper's side of the descriptors.
class InsideFiles {
 public:
  InsideFiles() = default;
  InsideFiles(const InsideFiles&) = delete;
  InsideFiles& operator=(const InsideFiles&) = delete;
  ~InsideFiles();
  [[nodiscard]] bool open();
  // In the order in which they become descriptors 3 and 4.
  std::vector<int> passed() const { return {status_, program_}; }
  // The command's wait status, or nothing when its end was not seen, as when the whole sandbox was
  // killed.
  std::optional<int> status() const;

 private:
  int status_ = -1;
  int program_ = -1;
};

}  // namespace atl::site
