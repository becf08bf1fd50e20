#include "bin/upkeep.h"

#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace atl::bin {
namespace {

constexpr Duration kLookPause = milliseconds(50);  // a few milliseconds of upkeep at most in each
constexpr Duration kSnapshotPause = seconds(10);   // after one that failed or was just made
constexpr size_t kPruneRows = 500;

}  // namespace

Upkeep::Upkeep(Clock& clock, journal::SqliteJournal& journal, std::string home, Duration retention,
               std::function<void(std::vector<JobId>)> purge)
    : clock_(clock),
      journal_(journal),
      home_(std::move(home)),
      retention_(retention),
      purge_(std::move(purge)) {}

Upkeep::~Upkeep() {
  if (snapshot_ == 0) return;
  kill(snapshot_, SIGTERM);
  waitpid(snapshot_, nullptr, 0);
}

void Upkeep::operator()() {
  const Time now = clock_.now();
  if (now < look_at_) return;
  look_at_ = now + kLookPause;
  if (snapshot_ != 0) {
    reap_snapshot();
  } else if (now >= snapshot_not_before_ && journal_.snapshot_due()) {
    start_snapshot();
  }
  if (auto more = journal_.compact_some(); !more)
    spdlog::warn("compaction: {}", more.error().message);
  if (retention_.us == 0) return;
  auto pruned = journal_.prune(now - retention_, kPruneRows);
  if (!pruned)
    spdlog::warn("retention: {}", pruned.error().message);
  else if (!pruned->empty())
    purge_(std::move(*pruned));
}

void Upkeep::start_snapshot() {
  const std::string home = "--home=" + home_;
  const char* argv[] = {"nice",       "-n",   "19", "/proc/self/exe", "internal-snapshot",
                        home.c_str(), nullptr};
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return;
  self[length] = 0;
  argv[3] = self;
  snapshot_not_before_ = clock_.now() + kSnapshotPause;
  if (posix_spawnp(&snapshot_, "nice", nullptr, nullptr, const_cast<char**>(argv), environ) != 0)
    snapshot_ = 0;
}

void Upkeep::reap_snapshot() {
  int status = 0;
  if (waitpid(snapshot_, &status, WNOHANG) == 0) return;
  snapshot_ = 0;
  if (status != 0)
    spdlog::warn("the snapshot process ended with status {}; it is tried again", status);
}

}  // namespace atl::bin
