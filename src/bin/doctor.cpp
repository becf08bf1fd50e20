#include "bin/doctor.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "base/amount.h"
#include "journal/verify.h"
#include "site/local/probe.h"

namespace atl::bin {
namespace {

constexpr int64_t kDiskLow = int64_t{1} << 30;
constexpr int64_t kDiskEmpty = int64_t{64} << 20;

api::Check journal_check(const std::string& home, const runtime::Health& health, bool thorough) {
  if (health.read_only) return {"journal", "fail", "read-only: " + health.why};
  if (thorough) {
    const auto found = journal::examine(home);
    if (!found) return {"journal", "fail", found.error().message};
    if (!found->problems.empty()) {
      std::string all;
      for (const std::string& problem : found->problems) all += (all.empty() ? "" : "; ") + problem;
      return {"journal", "fail", all};
    }
    return {"journal", "ok",
            "takes writes; " + std::to_string(health.sequence) +
                " commits; every record, payload and snapshot is whole"};
  }
  return {"journal", "ok", "takes writes; " + std::to_string(health.sequence) + " commits"};
}

api::Check disk_check(const std::string& home) {
  struct statvfs fs{};
  if (statvfs(home.c_str(), &fs) != 0)
    return {"disk", "fail", "cannot look at the file system of " + home};
  const int64_t free = static_cast<int64_t>(fs.f_bavail) * static_cast<int64_t>(fs.f_frsize);
  const char* status = free < kDiskEmpty ? "fail" : free < kDiskLow ? "warn" : "ok";
  return {"disk", status, format_bytes(free) + " free under " + home};
}

api::Check retention_check(const Config& config) {
  if (config.retention.us == 0)
    return {"retention", "ok", "history, logs and job directories are kept for ever"};
  return {"retention", "ok",
          "kept for " + format_duration(config.retention) + " after a job has ended"};
}

api::Check network_check(const Config& config) {
  if (!config.listen_tcp) return {"network", "ok", "only the Unix socket is served"};
  if (!config.tls_certificate.empty())
    return {"network", "ok", "TLS on " + config.host + ":" + std::to_string(config.port)};
  return {"network", "ok", "loopback only, because no TLS certificate is configured"};
}

}  // namespace

std::vector<api::Check> examine(const std::string& home, const Config& config,
                                const IsolationChoice& isolation, const runtime::Health& health,
                                bool thorough) {
  const site::LocalFacts facts = site::probe_local();
  return {journal_check(home, health, thorough),
          disk_check(home),
          retention_check(config),
          network_check(config),
          {"isolation", "ok", std::string(enum_name(isolation.level)) + ": " + isolation.why},
          {"sandbox", facts.sandbox ? "ok" : "warn", facts.sandbox_why},
          {"cgroups", facts.cgroup_version > 0 ? "ok" : "warn", facts.cgroup_why},
          {"accounts", facts.root ? "ok" : "warn", facts.root_why},
          {"gpus", "ok", facts.gpus_why}};
}

}  // namespace atl::bin
