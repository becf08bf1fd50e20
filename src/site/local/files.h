// Whole-file and descriptor helpers of the local site.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace atl::site {

[[nodiscard]] std::optional<std::string> read_file(const std::string& path);
[[nodiscard]] bool write_file(const std::string& path, std::string_view text);
[[nodiscard]] bool write_all(int fd, std::string_view bytes);
// Makes the directory and those above it.
[[nodiscard]] bool make_directories(const std::string& path, unsigned mode);
// Removes a directory and everything below it, following no links. Best effort.
void remove_tree(const std::string& path);
bool is_directory(const std::string& path);
bool is_empty_directory(const std::string& path);

// Reads a small text file through an open descriptor, from its start; for files of /proc and
// cgroups.
[[nodiscard]] std::string reread(int fd);
// The number after `key` and a space in "key number" lines; -1 when it is not there.
int64_t number_after(std::string_view text, std::string_view key);

int64_t monotonic_us();
Time wall_now();
Time boot_time();  // of the machine

// The start of a process in clock ticks since boot, which with the pid names it for good; zero when
// there is none.
uint64_t process_start(int pid);

}  // namespace atl::site
