// backup and restore, and the hidden verb by which the server starts a snapshot of itself.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "base/amount.h"
#include "cli/contexts.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

constexpr std::chrono::minutes kBackupPatience{60};  // a large database takes its time

// A directory that is not there, when the server is on this machine; elsewhere it says so itself.
Result<void> check_place(const Target& target, const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(absolute_path(file)).parent_path();
  std::error_code error;
  const auto kind = std::filesystem::status(folder, error).type();
  using std::filesystem::file_type;
  if (!target.local || (kind != file_type::not_found && kind != file_type::regular)) return {};
  return fail(ErrorCode::invalid,
              "cannot write " + absolute_path(file) + ": " + folder.string() +
                  (kind == file_type::regular ? " is not a directory" : " does not exist") +
                  "; make it, or name another");
}

// Of a file that a server on this machine has written.
std::optional<std::int64_t> size_here(const Target& target, const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (!target.local || error) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

Json backup_document(const std::string& file, std::optional<std::int64_t> bytes) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_object().member("file", file).key("bytes");
  bytes ? json.number(*bytes) : json.null();
  json.end_object();
  return Json::parse(text).value_or(Json());
}

Json restore_document(const std::string& file, const std::string& home) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_object().member("file", file).member("home", home).end_object();
  return Json::parse(text).value_or(Json());
}

// The server writes the file, so the path is one on its machine.
Result<int> backup(Session& session, const std::string& file) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  if (auto ok = check_place((*api)->target(), file); !ok) return tl::unexpected(ok.error());
  http::Call call{.method = "POST", .target = "/admin/backup"};
  spec::JsonWriter json(call.body);
  json.begin_object().member("file", absolute_path(file)).end_object();
  call.headers.set("Content-Type", "application/json");
  call.timeout = kBackupPatience;
  const auto done = [&] {
    const SlowLine slow(session.terminal, "writing " + absolute_path(file));
    return (*api)->send(std::move(call));
  }();
  if (!done) return tl::unexpected(done.error());
  const auto bytes = size_here((*api)->target(), file);
  print_one(session, backup_document(absolute_path(file), bytes), "file", [&] {
    return printable(absolute_path(file)) + (bytes ? " (" + format_bytes(*bytes) + ")" : "") + "\n";
  });
  return kExitOk;
}

// Whether it is a database of ours, by the name and the application in the header of SQLite's
// format. Looked at here, before anything is made for it.
Result<void> check_backup(const std::string& file) {
  constexpr std::string_view kName("SQLite format 3\0", 16);
  constexpr std::string_view kApplication = "ATOL";
  constexpr std::size_t kApplicationAt = 68;
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return fail(ErrorCode::invalid,
                file + " is a directory: name a file that `atoll backup` wrote");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail(ErrorCode::invalid, "cannot read " + file + ": " + std::strerror(errno));
  std::string header(kApplicationAt + kApplication.size(), '\0');
  stream.read(header.data(), std::ssize(header));
  if (header.starts_with(kName) && header.ends_with(kApplication)) return {};
  return fail(ErrorCode::invalid,
              file + " is not a backup of Atoll: name a file that `atoll backup` wrote");
}

// Those of the path that are not there yet, the lowest first.
std::vector<std::filesystem::path> missing_directories(const std::string& home) {
  std::vector<std::filesystem::path> missing;
  std::error_code error;
  for (std::filesystem::path at = absolute_path(home);
       at.has_relative_path() && !std::filesystem::exists(at, error); at = at.parent_path())
    missing.push_back(at);
  return missing;
}

Result<int> restore(Session& session, const std::string& file) {
  const auto target = session.target();
  if (!target) return tl::unexpected(target.error());
  if (!session.hooks.restore) return fail(ErrorCode::internal, "this program has no server in it");
  if (const pid_t pid = server_pid(target->home); pid != 0) {
    return fail(ErrorCode::conflict, "a server (process " + std::to_string(pid) + ") runs on " +
                                         target->home + ": stop it first with `atoll down`");
  }
  if (auto ok = check_backup(absolute_path(file)); !ok) return tl::unexpected(ok.error());
  const auto made = missing_directories(target->home);
  const int code = session.hooks.restore(absolute_path(file), target->home);
  // What was made for nothing goes, when nothing is in it.
  std::error_code error;
  for (const auto& directory : made)
    if (code != kExitOk) std::filesystem::remove(directory, error);
  if (code == kExitOk) {
    print_one(session, restore_document(absolute_path(file), target->home), "home", [&] {
      return printable("restored " + absolute_path(file) + " into " + target->home +
                       "; start it with `atoll up --home " + target->home + "`") +
             "\n";
    });
  }
  return code;
}

Result<int> snapshot(Session& session) {
  const auto target = session.target();
  if (!target) return tl::unexpected(target.error());
  if (!session.hooks.snapshot) return fail(ErrorCode::internal, "this program has no server in it");
  return session.hooks.snapshot(target->home);
}

}  // namespace

void add_backup_verbs(Verbs& verbs) {
  auto file = std::make_shared<std::string>();
  CLI::App* verb = verbs.add(nullptr, "backup", "Write everything the server knows to one file",
                             "atoll backup /srv/backups/$(date +%F).atoll",
                             [file](Session& session) { return backup(session, *file); });
  verb->add_option("FILE", *file, "A path on the server's machine")->required();

  auto from = std::make_shared<std::string>();
  verb = verbs.add(nullptr, "restore", "Bring a backup back into a new data directory",
                   "atoll restore /srv/backups/2026-11-15.atoll --home /srv/atoll\n"
                   "atoll up --home /srv/atoll",
                   [from](Session& session) { return restore(session, *from); });
  verb->add_option("FILE", *from, "A file that `atoll backup` wrote")->required();

  verbs.add(nullptr, "internal-snapshot", "", "", snapshot)->group("");
}

}  // namespace atl::cli
