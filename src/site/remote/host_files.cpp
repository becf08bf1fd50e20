#include "site/remote/host_files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <vector>

#include "base/text.h"
#include "site/local/files.h"
#include "site/remote/tar.h"
#include "site/safe_files.h"

namespace atl::site {
namespace {

constexpr int64_t kPiece = 8 << 20;  // of one exchange; also what is held in memory
constexpr size_t kFilesPerExchange = 500;
constexpr int kTriesMax = 3;  // of files that change while they are read
constexpr Duration kPieceTimeout = seconds(300);

struct HostFile {
  std::string path;
  int64_t size = 0;
  int64_t modified_s = 0;
};

tl::unexpected<Error> said_no(Shell& shell, const Said& said, const std::string& doing) {
  const std::string why(trim(said.err.empty() ? said.out : said.err));
  const bool full =
      why.find("No space left") != std::string::npos || why.find("quota") != std::string::npos;
  return fail(full ? ErrorCode::exhausted : ErrorCode::conflict,
              shell.name() + " could not " + doing + ": " + why.substr(0, 200));
}

// A directory that is not there has no files.
Result<std::vector<HostFile>> list_host(Shell& shell, const std::string& remote) {
  Result<Said> said = shell.run(
      {.script =
           "cd " + shell_quote(remote) +
           " 2>/dev/null || exit 0\nfind . -type f -exec stat -c '%s %Y %n' '{}' + | head -n " +
           std::to_string(kFilesListedMax + 1)});
  if (!said) return tl::unexpected(said.error());
  std::vector<HostFile> files;
  for (const std::string_view line : split(said->out, '\n')) {
    const size_t first = line.find(' ');
    const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) continue;
    const auto size = parse_int(line.substr(0, first));
    const auto modified = parse_int(line.substr(first + 1, second - first - 1));
    std::string_view path = line.substr(second + 1);
    if (!size || !modified || !path.starts_with("./") || !check_path(std::string(path.substr(2))))
      continue;
    files.push_back({std::string(path.substr(2)), *size, *modified});
  }
  if (files.size() > kFilesListedMax)
    return fail(ErrorCode::too_large, remote + " on " + shell.name() + " has more than " +
                                          std::to_string(kFilesListedMax) +
                                          " files: leave fewer, or pack them into an archive");
  return files;
}

bool same_here(const std::string& local, const HostFile& file) {
  Result<OpenFile> mine = open_below(local, file.path);
  struct stat info;
  return mine && ::fstat(mine->fd.get(), &info) == 0 && info.st_size == file.size &&
         info.st_mtim.tv_sec == file.modified_s;
}

void set_modified(int fd, int64_t modified_s) {
  const timespec times[2] = {{0, UTIME_OMIT}, {modified_s, 0}};
  ::futimens(fd, times);
}

Result<void> keep(const std::string& local, const TarFile& file) {
  if (Result<void> wrote = write_below(local, file.path, file.bytes); !wrote) return wrote;
  Result<OpenFile> mine = open_below(local, file.path);
  if (!mine) return tl::unexpected(mine.error());
  if ((file.mode & 0100) != 0) ::fchmod(mine->fd.get(), 0700);
  set_modified(mine->fd.get(), file.modified.us / 1'000'000);
  return {};
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {
    unsigned char digest[32];
    EVP_DigestFinal_ex(context_.get(), digest, nullptr);
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : digest) text += {kDigits[byte >> 4], kDigits[byte & 15]};
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

std::string sha256_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

std::string sha256_of_file(int fd) {
  Sha256 sum;
  char bytes[65536];
  off_t at = 0;
  for (ssize_t n; (n = ::pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
    sum.add({bytes, static_cast<size_t>(n)});
  return sum.hex();
}

// The checksum of one file over there; empty where nobody makes them.
Result<std::string> host_sum(Shell& shell, const std::string& path) {
  Result<Said> said = shell.run(
      {.script = "command -v sha256sum >/dev/null || exit 0\nsha256sum <" + shell_quote(path),
       .timeout = kPieceTimeout});
  if (!said) return tl::unexpected(said.error());
  return said->out.substr(0, said->out.find(' '));
}

// Several small files: their checksums, an empty line, their archive.
Result<void> get_batch(Shell& shell, const std::string& remote, const std::string& local,
                       const std::vector<HostFile>& batch, Transferred& done) {
  std::string names;
  for (const HostFile& file : batch) names += "./" + file.path + "\n";
  const std::string script =
      "cd " + shell_quote(remote) + " || exit 1\nl=`mktemp` && cat >\"$l\" || exit 1\n" +
      "command -v sha256sum >/dev/null && tr '\\n' '\\0' <\"$l\" | xargs -0 sha256sum\n" +
      "echo\ntr '\\n' '\\0' <\"$l\" | xargs -0 tar cf -\nc=$?\nrm -f \"$l\"\nexit $c";
  Result<Said> said = shell.run({.script = script,
                                 .input = names,
                                 .timeout = kPieceTimeout,
                                 .out_max = static_cast<size_t>(8 * kPiece)});
  if (!said) return tl::unexpected(said.error());
  const size_t at = said->out.starts_with("\n") ? 0 : said->out.find("\n\n") + 1;
  if (said->exit_code != 0 || at == std::string::npos + 1)
    return said_no(shell, *said, "send files");
  std::map<std::string, std::string, std::less<>> sums;
  for (const std::string_view line : split(std::string_view(said->out).substr(0, at), '\n')) {
    if (line.size() > 68 && line.substr(66, 2) == "./")
      sums.emplace(line.substr(68), line.substr(0, 64));
  }
  return read_tar(std::string_view(said->out).substr(at + 1), [&](TarFile& file) -> Result<void> {
    if (Result<void> good = check_path(file.path); !good) return good;
    if (const auto sum = sums.find(file.path);
        sum != sums.end() && sum->second != sha256_of(file.bytes))
      return fail(ErrorCode::conflict, file.path + " changes while it is read");
    ++done.files;
    done.bytes += static_cast<int64_t>(file.bytes.size());
    return keep(local, file);
  });
}

// The pieces go to a file beside, whose name says of what: a cut one goes on where it was.
Result<void> get_large(Shell& shell, const std::string& remote, const std::string& local,
                       const HostFile& file, Transferred& done) {
  const std::string part = local + "/.part-" + sha256_of(file.path).substr(0, 16) + "-" +
                           std::to_string(file.size) + "-" + std::to_string(file.modified_s);
  const OwnedFd fd(::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  int64_t at = ::lseek(fd.get(), 0, SEEK_END);
  if (fd.get() < 0 || at < 0) return fail(ErrorCode::exhausted, part + " cannot be written");
  const std::string from = remote + "/" + file.path;
  while (at < file.size) {
    Result<Said> said =
        shell.run({.script = "tail -c +" + std::to_string(at + 1) + " " + shell_quote(from) +
                             " | head -c " + std::to_string(kPiece),
                   .timeout = kPieceTimeout});
    if (!said) return tl::unexpected(said.error());
    if (said->out.empty()) return fail(ErrorCode::conflict, file.path + " has become shorter");
    if (!write_all(fd.get(), said->out))
      return fail(ErrorCode::exhausted, "no room for " + file.path + " in " + local);
    at += static_cast<int64_t>(said->out.size());
    done.bytes += static_cast<int64_t>(said->out.size());
  }
  Result<std::string> sum = host_sum(shell, from);
  if (!sum) return tl::unexpected(sum.error());
  if (!sum->empty() && *sum != sha256_of_file(fd.get())) {
    ::unlink(part.c_str());
    return fail(ErrorCode::conflict, file.path + " changes while it is read");
  }
  // The way there is made and checked by writing an empty one.
  if (Result<void> way = write_below(local, file.path, ""); !way) return way;
  set_modified(fd.get(), file.modified_s);
  if (::rename(part.c_str(), (local + "/" + file.path).c_str()) != 0)
    return fail(ErrorCode::exhausted, file.path + " cannot be put into " + local);
  ++done.files;
  return {};
}

Result<void> get_once(Shell& shell, const std::string& remote, const std::string& local,
                      Transferred& done) {
  Result<std::vector<HostFile>> files = list_host(shell, remote);
  if (!files) return tl::unexpected(files.error());
  if (!files->empty() && !make_directories(local, 0700))
    return fail(ErrorCode::exhausted, local + " cannot be made");
  std::vector<HostFile> batch;
  int64_t bytes = 0;
  const auto flush = [&]() -> Result<void> {
    if (batch.empty()) return {};
    const std::vector<HostFile> now = std::exchange(batch, {});
    bytes = 0;
    return get_batch(shell, remote, local, now, done);
  };
  for (const HostFile& file : *files) {
    if (same_here(local, file)) continue;
    if (file.size > kPiece) {
      if (Result<void> got = get_large(shell, remote, local, file, done); !got) return got;
      continue;
    }
    if (bytes + file.size > kPiece || batch.size() >= kFilesPerExchange) {
      if (Result<void> got = flush(); !got) return got;
    }
    bytes += file.size;
    batch.push_back(file);
  }
  return flush();
}

Result<std::string> read_piece(const std::string& local, const std::string& path, int64_t at,
                               int64_t size, unsigned& mode) {
  Result<OpenFile> file = open_below(local, path);
  if (!file) return tl::unexpected(file.error());
  struct stat info;
  if (::fstat(file->fd.get(), &info) == 0) mode = info.st_mode & 0777;
  std::string bytes(static_cast<size_t>(size), '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n = ::pread(file->fd.get(), bytes.data() + got, bytes.size() - got,
                              at + static_cast<int64_t>(got));
    if (n <= 0) return fail(ErrorCode::conflict, path + " changes while it is read");
    got += static_cast<size_t>(n);
  }
  return bytes;
}

Result<void> put_archive(Shell& shell, const std::string& remote, std::string archive) {
  Result<Said> said = shell.run({.script = "umask 077; mkdir -p " + shell_quote(remote) +
                                           " && cd " + shell_quote(remote) + " && tar xf -",
                                 .input = std::move(archive),
                                 .timeout = kPieceTimeout});
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code != 0) return said_no(shell, *said, "take files");
  return {};
}

// Each piece says where it belongs; the part over there tells where it goes on.
Result<void> put_large(Shell& shell, const std::string& local, const std::string& remote,
                       const FileEntry& file, Transferred& done) {
  const int64_t modified_s = file.modified.us / 1'000'000;
  const std::string to = remote + "/" + file.path;
  const std::string part =
      shell_quote(to + ".part-" + std::to_string(file.size) + "-" + std::to_string(modified_s));
  const std::string size = "s=`wc -c 2>/dev/null <" + part + "`\necho $((s))\n";
  Result<Said> said = shell.run({.script = "umask 077; mkdir -p \"`dirname -- " + shell_quote(to) +
                                           "`\" || exit 1\n: >>" + part + " || exit 1\n" + size});
  unsigned mode = 0600;
  for (;;) {
    if (!said) return tl::unexpected(said.error());
    if (said->exit_code != 0) return said_no(shell, *said, "take " + file.path);
    const int64_t at = parse_int(trim(said->out)).value_or(0);
    if (at >= file.size) break;
    Result<std::string> piece =
        read_piece(local, file.path, at, std::min(kPiece, file.size - at), mode);
    if (!piece) return tl::unexpected(piece.error());
    done.bytes += static_cast<int64_t>(piece->size());
    said = shell.run({.script = "[ `wc -c <" + part + "` -eq " + std::to_string(at) +
                                " ] && cat >>" + part + " || exit 1\n" + size,
                      .input = std::move(*piece),
                      .timeout = kPieceTimeout});
  }
  Result<OpenFile> mine = open_below(local, file.path);
  if (!mine) return tl::unexpected(mine.error());
  const std::string sum = sha256_of_file(mine->fd.get());
  said = shell.run({.script = "if command -v sha256sum >/dev/null; then\nt=`sha256sum <" + part +
                              "`\n[ \"${t%% *}\" = " + sum + " ] || { rm -f " + part +
                              "; echo its checksum differs; exit 1; }\nfi\n" + "touch -d @" +
                              std::to_string(modified_s) + " " + part + " && mv -f " + part + " " +
                              shell_quote(to) +
                              ((mode & 0100) ? " && chmod 700 " + shell_quote(to) : ""),
                    .timeout = kPieceTimeout});
  if (!said) return tl::unexpected(said.error());
  if (said->exit_code != 0) return said_no(shell, *said, "take " + file.path);
  ++done.files;
  return {};
}

Result<void> put_once(Shell& shell, const std::string& local, const std::string& remote,
                      Transferred& done) {
  bool truncated = false;
  Result<std::vector<FileEntry>> mine = list_below(local, truncated);
  if (!mine) return tl::unexpected(mine.error());
  if (truncated)
    return fail(ErrorCode::too_large,
                local + " has more than " + std::to_string(kFilesListedMax) + " files");
  std::erase_if(*mine, [](const FileEntry& file) { return file.directory || file.link; });
  if (mine->empty()) return {};
  Result<std::vector<HostFile>> theirs = list_host(shell, remote);
  if (!theirs) return tl::unexpected(theirs.error());
  std::map<std::string, HostFile> known;
  for (HostFile& file : *theirs) known[file.path] = file;
  auto archive = std::make_unique<TarWriter>();
  int64_t bytes = 0;
  size_t files = 0;
  const auto flush = [&]() -> Result<void> {
    if (files == 0) return {};
    Result<void> put = put_archive(shell, remote, archive->finish());
    archive = std::make_unique<TarWriter>();
    bytes = 0;
    files = 0;
    return put;
  };
  for (const FileEntry& file : *mine) {
    const auto at = known.find(file.path);
    if (at != known.end() && at->second.size == file.size &&
        at->second.modified_s == file.modified.us / 1'000'000)
      continue;
    if (file.size > kPiece) {
      if (Result<void> put = put_large(shell, local, remote, file, done); !put) return put;
      continue;
    }
    if (bytes + file.size > kPiece || files >= kFilesPerExchange) {
      if (Result<void> put = flush(); !put) return put;
    }
    TarFile sent{.path = file.path, .modified = file.modified};
    Result<std::string> piece = read_piece(local, file.path, 0, file.size, sent.mode);
    if (!piece) return tl::unexpected(piece.error());
    sent.bytes = std::move(*piece);
    archive->add(sent);
    bytes += file.size;
    ++files;
    ++done.files;
    done.bytes += file.size;
  }
  return flush();
}

template <class Once>
Result<Transferred> repeatedly(Once once) {
  Transferred done;
  for (int tries = 1;; ++tries) {
    Result<void> ok = once(done);
    if (ok) return done;
    if (ok.error().code != ErrorCode::conflict || tries == kTriesMax)
      return tl::unexpected(ok.error());
  }
}

}  // namespace

Result<Transferred> get_files(Shell& shell, const std::string& remote, const std::string& local) {
  return repeatedly([&](Transferred& done) { return get_once(shell, remote, local, done); });
}

Result<Transferred> put_files(Shell& shell, const std::string& local, const std::string& remote) {
  return repeatedly([&](Transferred& done) { return put_once(shell, local, remote, done); });
}

}  // namespace atl::site
