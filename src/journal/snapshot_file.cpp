#include "journal/snapshot_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/core.h"
#include "journal/home.h"
#include "journal/load.h"
#include "journal/schema.h"

namespace atl::journal {
namespace {

constexpr size_t kSnapshotsKept = 2;  // one to use, one to fall back to

std::string directory(const std::string& home) { return home + "/snapshots"; }

Result<void> write_durably(const std::string& path, const core::State& state,
                           const SnapshotHead& head) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return io_error("cannot make", path);
  auto written = encode_snapshot(
      state, head, [&](std::string_view bytes) { return write_all(fd.get(), bytes, path); });
  if (written && fsync(fd.get()) != 0) written = io_error("cannot sync", path);
  return written;
}

// Keeps the newest ones up to `newest`; anything beyond it is not of this journal.
void remove_old(const std::string& home, uint64_t newest) {
  size_t kept = 0;
  for (const uint64_t sequence : list_snapshots(home)) {
    if (sequence <= newest && ++kept <= kSnapshotsKept) continue;
    unlink(snapshot_path(home, sequence).c_str());
  }
}

// What a snapshot process left behind when it was killed. One that is still being written has a
// process.
void remove_abandoned(const std::string& home) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory(home), error)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".partial")) continue;
    const std::string pid = name.substr(0, name.find('.'));
    if (access(("/proc/" + pid).c_str(), F_OK) != 0) unlink(entry.path().c_str());
  }
}

}  // namespace

std::string snapshot_path(const std::string& home, uint64_t sequence) {
  return directory(home) + "/" + std::to_string(sequence) + ".snap";
}

std::vector<uint64_t> list_snapshots(const std::string& home) {
  std::vector<uint64_t> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory(home), error)) {
    const std::string name = entry.path().filename();
    uint64_t sequence = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), sequence);
    if (code == std::errc() && std::string_view(end) == ".snap") all.push_back(sequence);
  }
  std::ranges::sort(all, std::greater());
  return all;
}

Result<Snapshot> read_snapshot(const std::string& home, uint64_t sequence) {
  const std::string path = snapshot_path(home, sequence);
  const MappedFile file(path);
  auto snapshot = decode_snapshot(file.bytes());
  if (!snapshot) {
    return fail(ErrorCode::invalid, path + " is damaged: " + snapshot.error().message);
  }
  if (snapshot->head.sequence != sequence) {
    return fail(ErrorCode::invalid,
                path + " holds commit " + std::to_string(snapshot->head.sequence));
  }
  return snapshot;
}

Result<void> write_snapshot(const std::string& home, const core::State& state,
                            const SnapshotHead& head) {
  if (auto made = make_directory(directory(home)); !made) return made;
  remove_abandoned(home);
  const std::string partial = directory(home) + "/" + std::to_string(getpid()) + ".partial";
  const std::string path = snapshot_path(home, head.sequence);
  auto written = write_durably(partial, state, head);
  if (written && rename(partial.c_str(), path.c_str()) != 0)
    written = io_error("cannot rename to", path);
  if (!written) {
    unlink(partial.c_str());
    return written;
  }
  if (auto synced = sync_directory(directory(home)); !synced) return synced;
  remove_old(home, head.sequence);
  return {};
}

Result<uint64_t> make_snapshot(const std::string& home) {
  auto database = Database::open(database_path(home), {.query_only = true});
  if (!database) return tl::unexpected(database.error());
  if (auto ours = check_schema(**database); !ours) return tl::unexpected(ours.error());
  const auto loaded = load_state(**database, home);
  if (!loaded) return tl::unexpected(loaded.error());
  const uint64_t sequence = loaded->loaded.sequence;
  if (loaded->loaded.replayed == 0) return sequence;
  const SnapshotHead head{
      .version = kSnapshotVersion, .sequence = sequence, .chain = loaded->chain};
  if (auto written = write_snapshot(home, loaded->loaded.state, head); !written) {
    return tl::unexpected(written.error());
  }
  return sequence;
}

}  // namespace atl::journal
