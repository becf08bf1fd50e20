#include "api/cloudmesh_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/text.h"

namespace atl::api {
namespace {

constexpr size_t kPathMax = 1024;

struct Free {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, Free>;

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::invalid, "the archive " + why, "archive");
}

Result<Reader> open_archive(std::string_view bytes) {
  Reader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_xz(reader.get());
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return refuse("is no tar file, plain or compressed with gzip or xz");
  // One compressed file within another can hold any amount of work and come to nothing.
  if (archive_filter_count(reader.get()) > 2) return refuse("is compressed more than once");
  return reader;
}

// Its path below the directory, without "./" in front; empty for the top itself.
Result<std::string> safe_path(archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (!name) name = archive_entry_pathname(entry);
  if (!name) return refuse("has a name in it that is not UTF-8");
  const std::string path = name;
  if (path.size() > kPathMax || !valid_utf8(path)) return refuse("has a name that is too long");
  if (path.starts_with('/')) return refuse("has an absolute path in it: " + quote(path));
  std::string safe;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") return refuse("has a path in it that leaves it: " + quote(path));
    for (const char c : part) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        return refuse("has a control character in the name " + quote(path));
    }
    if (part.empty() || part == ".") continue;
    safe += (safe.empty() ? "" : "/") + std::string(part);
  }
  return safe;
}

Result<void> write_file(archive* reader, archive_entry* entry, const std::string& path,
                        size_t& left) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const mode_t mode = (archive_entry_perm(entry) & 0100) != 0 ? 0755 : 0644;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0 && errno == EEXIST) return refuse("has two entries for one file");
  if (fd < 0)
    return fail(ErrorCode::unavailable, "cannot write " + path + ": " + std::strerror(errno));
  Result<void> done;
  char buffer[64 << 10];
  for (;;) {
    const la_ssize_t got = archive_read_data(reader, buffer, sizeof buffer);
    if (got < 0) done = refuse("is damaged");
    if (got > 0 && static_cast<size_t>(got) > left) done = refuse("holds more than 256Mi");
    if (got <= 0 || !done) break;
    left -= static_cast<size_t>(got);
    if (::write(fd, buffer, static_cast<size_t>(got)) != got) {
      done = fail(ErrorCode::unavailable, "cannot write " + path + ": " + std::strerror(errno));
      break;
    }
  }
  ::close(fd);
  return done;
}

// Looks at an entry without writing anything: a hostile archive costs no disk.
Result<void> check_entry(archive_entry* entry, size_t& left) {
  const auto path = safe_path(entry);
  if (!path) return tl::unexpected(path.error());
  const auto type = archive_entry_filetype(entry);
  if (archive_entry_hardlink(entry) || (type != AE_IFREG && type != AE_IFDIR))
    return refuse("has something in it that is neither a file nor a folder: " + quote(*path));
  const la_int64_t size = archive_entry_size(entry);
  if (size < 0 || static_cast<uint64_t>(size) > left) return refuse("holds more than 256Mi");
  left -= static_cast<size_t>(size);
  return {};
}

Result<void> write_entry(archive* reader, archive_entry* entry, const std::string& directory,
                         size_t& left) {
  const auto path = safe_path(entry);
  if (!path) return tl::unexpected(path.error());
  if (path->empty()) return {};
  const std::string target = directory + "/" + *path;
  if (archive_entry_filetype(entry) == AE_IFREG) return write_file(reader, entry, target, left);
  std::error_code error;
  std::filesystem::create_directories(target, error);
  if (error) return refuse("has a folder in it that cannot be made: " + quote(*path));
  return {};
}

using TakeEntry = std::function<Result<void>(archive* reader, archive_entry* entry)>;

Result<void> each_entry(std::string_view bytes, size_t most, const TakeEntry& take) {
  auto reader = open_archive(bytes);
  if (!reader) return tl::unexpected(reader.error());
  for (size_t entries = 0;; ++entries) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(reader->get(), &entry);
    if (status == ARCHIVE_EOF) return {};
    if (status < ARCHIVE_WARN) return refuse("is no tar file, or it is damaged");
    if (entries == most) return refuse("has more than 10,000 entries");
    if (auto ok = take(reader->get(), entry); !ok) return ok;
  }
}

}  // namespace

Result<void> unpack(std::string_view bytes, const std::string& directory,
                    const ArchiveBounds& bounds) {
  size_t left = bounds.bytes;
  auto checked = each_entry(bytes, bounds.entries, [&](archive*, archive_entry* entry) {
    return check_entry(entry, left);
  });
  if (!checked) return checked;
  left = bounds.bytes;
  return each_entry(bytes, bounds.entries, [&](archive* reader, archive_entry* entry) {
    return write_entry(reader, entry, directory, left);
  });
}

}  // namespace atl::api
