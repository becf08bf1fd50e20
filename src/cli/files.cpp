// files and cp: the directory of files that belongs to a job.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "base/amount.h"
#include "base/text.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/selectors.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUploadMax = 256u << 20;   // what the server takes in one body
constexpr std::size_t kUploadFilesMax = 10'000;  // a request each; more are faster as one archive

std::string encode_path(std::string_view path) {
  std::string out;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty()) out += "/" + encode(part);
  }
  return out;
}

std::string file_path(const std::string& id, const std::string& path) {
  return job_path(id) + "/files" + encode_path(path);
}

std::string trimmed(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  while (path.starts_with('/')) path.erase(0, 1);
  return path == "." ? "" : path;
}

bool is_below(const std::string& path, const std::string& folder) {
  return folder.empty() || path == folder || path.starts_with(folder + "/");
}

Result<std::vector<Json>> list_files(Api& api, const std::string& id, const std::string& below) {
  auto all = api.list(job_path(id) + "/files");
  if (!all) return all;
  const std::string folder = trimmed(below);
  std::erase_if(*all, [&](const Json& file) { return !is_below(file.text("path"), folder); });
  if (all->empty() && !folder.empty())
    return fail(ErrorCode::not_found, "job " + id + " has no file " + quote(below));
  return all;
}

View file_view() {
  return {.columns = {{{.title = "SIZE", .align = Align::right},
                       [](const Json& file) {
                         return Cell{file.text("kind") == "directory"
                                         ? ""
                                         : format_bytes(file["size_bytes"].integer())};
                       }},
                      {{.title = "MODIFIED"}, cell_time("modified")},
                      {{.title = "PATH", .least = 10},
                       [](const Json& file) {
                         const bool folder = file.text("kind") == "directory";
                         return Cell{file.text("path") + (folder ? "/" : ""),
                                     folder ? Color::waiting : Color::plain};
                       }}},
          .name_key = "path"};
}

Result<int> files(Session& session, const std::string& word, const std::string& path) {
  auto id = one_job(session, word);
  if (!id) return tl::unexpected(id.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto list = list_files(**api, *id, path);
  if (!list) return tl::unexpected(list.error());
  print_list(session, file_view(), *list);
  return kExitOk;
}

struct Place {
  std::string job;  // empty: here
  std::string path;
};

// "12:out/model.pt" or "last:": a job, a colon, a path. Anything else is a path here.
Place parse_place(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || !parse_wanted(std::string_view(text).substr(0, colon)))
    return {"", text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string shown_progress(const std::string& name, std::int64_t done, std::int64_t total) {
  const std::int64_t percent = total > 0 ? done * 100 / total : 100;
  return name + "  " + format_bytes(done >> 10 << 10) + " of " + format_bytes(total) + "  " +
         std::to_string(percent) + "%";
}

// Under another name until it is whole, so that half a file is never taken for one.
Result<void> download(Session& session, Api& api, const std::string& id, const Json& file,
                      const fs::path& to) {
  std::error_code error;
  if (to.has_parent_path()) fs::create_directories(to.parent_path(), error);
  const std::string part = to.string() + ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  if (!out)
    return fail(ErrorCode::unavailable, "cannot write " + part + ": " + std::strerror(errno));
  StatusLine status(session.terminal);
  std::int64_t done = 0;
  const std::int64_t total = file["size_bytes"].integer();
  http::Call call{.method = "GET", .target = file_path(id, file.text("path"))};
  call.headers.set("Accept", "*/*");
  call.on_data = [&](std::string_view bytes) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    done += static_cast<std::int64_t>(bytes.size());
    status.show(shown_progress(file.text("path"), done, total));
    return out.good();
  };
  const auto got = api.send(std::move(call));
  out.close();
  if (got && out) fs::rename(part, to, error);
  if (got && out && !error) return {};
  fs::remove(part, error);
  if (!got) return tl::unexpected(got.error());
  return fail(ErrorCode::unavailable, "cannot write " + to.string() + ": is the disk full?");
}

// One file, as bytes and nothing else, on standard output.
Result<int> copy_to_output(Session& session, Api& api, const std::string& id,
                           const std::string& path) {
  const auto list = list_files(api, id, path);
  if (!list) return tl::unexpected(list.error());
  const std::string name = trimmed(path);
  if (list->size() != 1 || list->front().text("path") != name ||
      list->front().text("kind") != "file") {
    return fail(ErrorCode::invalid, quote(id + ":" + path) +
                                        " is not one file, and - takes one: name it, or copy to a "
                                        "directory");
  }
  http::Call call{.method = "GET", .target = file_path(id, name)};
  call.headers.set("Accept", "*/*");
  call.on_data = [&](std::string_view bytes) {
    session.out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return session.out.good();
  };
  const auto got = api.send(std::move(call));
  session.out.flush();
  if (!session.out) return fail(ErrorCode::unavailable, "cannot write to standard output");
  if (!got) return tl::unexpected(got.error());
  return kExitOk;
}

// A name from the server stays below the directory it is copied to.
Result<fs::path> target_of(const fs::path& to, const std::string& name) {
  const fs::path clean = fs::path(name).lexically_normal();
  const bool escapes = clean.is_absolute() || clean.empty() || *clean.begin() == "..";
  if (escapes)
    return fail(ErrorCode::internal, "the server named a file outside of the job: " + quote(name));
  return to / clean;
}

Result<int> copy_from(Session& session, Api& api, const std::string& id, const std::string& path,
                      const fs::path& to) {
  const auto list = list_files(api, id, path);
  if (!list) return tl::unexpected(list.error());
  const std::string folder = trimmed(path);
  const bool one = list->size() == 1 && list->front().text("path") == folder &&
                   list->front().text("kind") != "directory";
  for (const Json& file : *list) {
    if (file.text("kind") != "file") continue;
    const std::string name = file.text("path");
    const std::string base = folder.empty() ? "" : fs::path(folder).parent_path().string();
    auto target = one && !fs::is_directory(to)
                      ? Result<fs::path>(to)
                      : target_of(to, base.empty() ? name : name.substr(base.size() + 1));
    if (!target) return tl::unexpected(target.error());
    if (auto ok = download(session, api, id, file, *target); !ok) return tl::unexpected(ok.error());
    if (session.for_people()) session.out << printable(target->string()) << "\n";
  }
  return kExitOk;
}

Result<int> copy_file_to(Session& session, Api& api, const std::string& from, const std::string& id,
                         std::string path) {
  std::error_code error;
  const auto size = fs::file_size(from, error);
  if (error) return fail(ErrorCode::invalid, "cannot read " + quote(from) + ": " + error.message());
  if (size > kUploadMax) {
    return fail(ErrorCode::too_large, quote(from) + " is larger than " + format_bytes(kUploadMax) +
                                          ": put it where the job can read it instead");
  }
  std::ifstream file(from, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (path.empty() || path.ends_with('/')) path += fs::path(from).filename().string();
  const std::string what =
      "sending " + from + "  " + format_bytes(static_cast<std::int64_t>(bytes.size()));
  http::Call call{
      .method = "PUT", .target = file_path(id, trimmed(path)), .body = std::move(bytes)};
  call.headers.set("Content-Type", "application/octet-stream");
  call.timeout = std::chrono::minutes(10);
  const auto sent = [&] {
    const SlowLine slow(session.terminal, what);
    return api.send(std::move(call));
  }();
  if (!sent) return tl::unexpected(sent.error());
  if (session.for_people()) session.out << printable(id + ":" + trimmed(path)) << "\n";
  return kExitOk;
}

// The files below a directory, by their paths in it. Links to directories are not followed.
Result<std::vector<std::string>> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    if (names.size() == kUploadFilesMax) {
      return fail(ErrorCode::too_large, quote(folder.string()) + " has more than " +
                                            std::to_string(kUploadFilesMax) +
                                            " files: pack them into one with `tar czf` and copy "
                                            "that");
    }
    names.push_back(at->path().lexically_relative(folder).string());
  }
  if (error)
    return fail(ErrorCode::invalid,
                "cannot read " + quote(folder.string()) + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// As `cp -r` does: into `path` when that ends with a slash or is empty, else under that name.
Result<int> copy_folder_to(Session& session, Api& api, const std::string& from,
                           const std::string& id, std::string path) {
  fs::path folder = fs::path(from).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "results/"
  const std::string name = folder.filename().string();
  const bool named = !name.empty() && name != "." && name != "..";
  if ((path.empty() || path.ends_with('/')) && named) path += name;
  const auto names = files_below(folder);
  if (!names) return tl::unexpected(names.error());
  if (names->empty()) session.say(from + " has no files to copy");
  for (const std::string& file : *names) {
    const std::string target = trimmed(path).empty() ? file : trimmed(path) + "/" + file;
    const auto sent = copy_file_to(session, api, (folder / file).string(), id, target);
    if (!sent) return sent;
  }
  return kExitOk;
}

Result<int> copy_to(Session& session, Api& api, const std::string& from, const std::string& id,
                    const std::string& path) {
  std::error_code error;
  return fs::is_directory(from, error) ? copy_folder_to(session, api, from, id, path)
                                       : copy_file_to(session, api, from, id, path);
}

Result<int> copy(Session& session, const std::string& from, const std::string& to) {
  const Place source = parse_place(from);
  const Place target = parse_place(to);
  if (source.job.empty() == target.job.empty()) {
    return fail(
        ErrorCode::invalid,
        "one of the two must be in a job: atoll cp ID:PATH LOCAL, or atoll cp LOCAL ID:PATH");
  }
  auto id = one_job(session, source.job.empty() ? target.job : source.job);
  if (!id) return tl::unexpected(id.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  if (target.path == "-" && target.job.empty())
    return copy_to_output(session, **api, *id, source.path);
  return source.job.empty() ? copy_to(session, **api, source.path, *id, target.path)
                            : copy_from(session, **api, *id, source.path, target.path);
}

}  // namespace

void add_files_verbs(Verbs& verbs) {
  auto id = std::make_shared<std::string>();
  auto path = std::make_shared<std::string>();
  CLI::App* verb =
      verbs.add(nullptr, "files", "List the files that belong to a job (checkpoints, notes)",
                "atoll files 12\natoll files last checkpoints",
                [id, path](Session& session) { return files(session, *id, *path); });
  verb->add_option("ID", *id, "12 or last")->required();
  verb->add_option("PATH", *path, "Only below this");

  auto from = std::make_shared<std::string>();
  auto to = std::make_shared<std::string>();
  verb = verbs.add(nullptr, "cp", "Copy files out of a job, or into it",
                   "atoll cp 12:checkpoints/last.pt .\natoll cp 12: results/\natoll cp config.json "
                   "12:\natoll cp data/ 12:\natoll cp "
                   "12:log.txt - | less",
                   [from, to](Session& session) { return copy(session, *from, *to); });
  verb->add_option("FROM", *from, "ID:PATH, or a path here")->required();
  verb->add_option("TO", *to, "A path here, - for standard output, or ID:PATH")->required();
}

}  // namespace atl::cli
