// doctor: what is in force here, what is not, and why.
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "base/amount.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDiskLow = std::int64_t{1} << 30;
constexpr Duration kClockSkewMax = seconds(5);

// Collects {check, status, detail}, the same whether the server or this program found it out.
class Findings {
 public:
  Findings() : json_(text_) { json_.begin_array(); }
  void add(std::string_view check, std::string_view status, std::string_view detail) {
    json_.begin_object().member("check", check).member("status", status).member("detail", detail);
    json_.end_object();
  }
  void add(const Json& found) { json_.raw(found.compact()); }
  std::vector<Json> list() {
    json_.end_array();
    const auto parsed = Json::parse(text_);
    return parsed ? parsed->items() : std::vector<Json>{};
  }

 private:
  std::string text_;
  spec::JsonWriter json_;
};

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path ? path : "/usr/bin:/bin", ':')) {
    const std::string full = std::string(folder) + "/" + name;
    if (::access(full.c_str(), X_OK) == 0) return full;
  }
  return {};
}

void check_disk(Findings& findings, const std::string& home) {
  std::string folder = home;
  while (folder.size() > 1 && !fs::exists(folder)) folder = fs::path(folder).parent_path().string();
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0)
    return findings.add("disk", "fail", "cannot look at " + folder);
  const auto left =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  const bool writable = ::access(folder.c_str(), W_OK) == 0;
  findings.add("disk",
               !writable         ? "fail"
               : left < kDiskLow ? "warn"
                                 : "ok",
               format_bytes(left >> 20 << 20) + " free on " + folder +
                   (writable ? "" : ", which cannot be written"));
}

void check_cgroup(Findings& findings) {
  const bool v2 = fs::exists("/sys/fs/cgroup/cgroup.controllers");
  const bool v1 = fs::is_directory("/sys/fs/cgroup/memory");
  const std::string at = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
  if (!v1 && !v2) {
    return findings.add("cgroup", "warn", "none here: memory and cpu are limited by rlimits only");
  }
  const bool writable = ::access(at.c_str(), W_OK) == 0;
  findings.add(
      "cgroup", writable ? "ok" : "warn",
      std::string(v2 ? "version 2" : "version 1") +
          (writable ? ", writable" : ", not writable: limits are rlimits unless it is delegated"));
}

void check_sandbox(Findings& findings) {
  const std::string bwrap = find_program("bwrap");
  if (bwrap.empty()) {
    return findings.add(
        "sandbox", "warn",
        "bwrap is not installed: isolation `sandbox` is refused (apt install bubblewrap)");
  }
  const bool works =
      std::system((bwrap + " --ro-bind / / --unshare-pid true >/dev/null 2>&1").c_str()) == 0;
  findings.add("sandbox", works ? "ok" : "warn",
               works ? bwrap + " works"
                     : bwrap + " is there, but this kernel does not allow user namespaces");
}

void check_kernel(Findings& findings) {
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    findings.add("kernel", "ok",
                 std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine);
  }
}

void check_config(Findings& findings, Session& session, const std::string& home) {
  if (!session.hooks.check_config) return;
  const std::string wrong = session.hooks.check_config({.home = home, .config = {}, .listen = {}});
  const bool present = fs::exists(home + "/atoll.yaml");
  findings.add("config", wrong.empty() ? "ok" : "fail",
               !wrong.empty()
                   ? wrong
                   : home + "/atoll.yaml" + (present ? " is good" : " does not exist: defaults"));
}

void check_journal(Findings& findings, Session& session, const std::string& home) {
  if (!session.hooks.examine || !fs::exists(home + "/atoll.db")) return;
  const std::vector<std::string> problems = session.hooks.examine(home);
  if (problems.empty())
    findings.add("journal", "ok", "every record, payload and snapshot is whole");
  for (const std::string& problem : problems) findings.add("journal", "fail", problem);
}

void check_locally(Findings& findings, Session& session, const std::string& home) {
  check_config(findings, session, home);
  check_journal(findings, session, home);
  check_disk(findings, home);
  check_kernel(findings);
  check_cgroup(findings);
  check_sandbox(findings);
}

// The offset of the two clocks, by the Date of the answer, which has whole seconds.
void check_clock(Findings& findings, const http::Response& answer) {
  std::tm parts{};
  const std::string date(answer.headers.get("Date"));
  if (!::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts)) return;
  const Duration apart = wall_clock() - Time{::timegm(&parts) * std::int64_t{1'000'000}};
  const Duration skew{std::abs(apart.us)};
  findings.add("clock", skew > kClockSkewMax ? "warn" : "ok",
               skew > kClockSkewMax ? "server and this machine differ by " + format_duration(skew)
                                    : "server and this machine agree");
}

void check_version(Findings& findings, const http::Response& answer) {
  const auto version = Json::parse(answer.body);
  const std::string server = version ? version->text("version") : "";
  findings.add("version", server == ATOLL_VERSION ? "ok" : "warn",
               server == ATOLL_VERSION ? server
                                       : "the server is " + server +
                                             " and this program " ATOLL_VERSION
                                             ": restart with `atoll down && atoll up`");
}

// True when the server could be asked.
Result<bool> ask_server(Findings& findings, Session& session, Api& api) {
  auto answer = api.send({.method = "GET", .target = "//version"});
  if (!answer) {
    findings.add("server", "fail", answer.error().message);
    return false;
  }
  const auto ready = api.send({.method = "GET", .target = "//readyz"});
  findings.add(
      "server", ready ? "ok" : "fail",
      ready ? "answers on " + session.target().value_or(Target{}).url : ready.error().message);
  check_version(findings, *answer);
  check_clock(findings, *answer);
  const auto facts = api.get("/doctor");
  if (!facts) {
    findings.add("facts", "warn", "the server does not tell more: " + facts.error().message);
    return true;
  }
  for (const Json& fact : list_of(*facts)) findings.add(fact);
  return true;
}

Color status_color(const std::string& status) {
  return status == "ok" ? Color::good : status == "warn" ? Color::warning : Color::bad;
}

Result<int> doctor(Session& session) {
  const auto target = session.target();
  if (!target) return tl::unexpected(target.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  Findings findings;
  const auto asked = ask_server(findings, session, **api);
  if (!asked) return tl::unexpected(asked.error());
  if (!*asked && target->local) check_locally(findings, session, target->home);
  const std::vector<Json> list = findings.list();
  const View view{.columns = {{{.title = "STATUS"},
                               [](const Json& item) {
                                 return Cell{item.text("status"),
                                             status_color(item.text("status"))};
                               }},
                              {{.title = "CHECK"}, cell_text("check")},
                              {{.title = "DETAIL"}, cell_text("detail")}},
                  .name_key = "check"};
  print_list(session, view, list);
  for (const Json& item : list) {
    if (item.text("status") == "fail") return kExitFailure;
  }
  return kExitOk;
}

}  // namespace

void add_doctor_verb(Verbs& verbs) {
  verbs.add(nullptr, "doctor", "Check the installation and say what is in force, and why",
            "atoll doctor\natoll doctor -o json", doctor);
}

}  // namespace atl::cli
