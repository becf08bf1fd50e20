#include "report/zip.h"

#include <zip.h>

#include <algorithm>
#include <memory>

#include "base/amount.h"
#include "base/display.h"
#include "base/text.h"
#include "report/limits.h"

namespace atl::report {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Source = std::unique_ptr<zip_source_t, Discard>;

tl::unexpected<Error> no_zip(zip_error_t* error) {
  return fail(ErrorCode::internal, std::string("the zip archive: ") + zip_error_strerror(error));
}

Result<void> add(zip_t* archive, const ZipFile& file, Time modified) {
  zip_source_t* source = zip_source_buffer(archive, file.bytes.data(), file.bytes.size(), 0);
  const zip_int64_t index =
      source ? zip_file_add(archive, file.path.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0) {
    if (source) zip_source_free(source);
    return no_zip(zip_get_error(archive));
  }
  // Not zip_file_set_mtime, which writes local time: the bytes would depend on the server's zone.
  const std::string text = format_time(modified);
  const auto part = [&](size_t at, size_t length) {
    return static_cast<unsigned>(parse_int(std::string_view(text).substr(at, length)).value_or(0));
  };
  const unsigned year = std::max(part(0, 4), 1980U) - 1980;
  const unsigned date = year << 9 | part(5, 2) << 5 | part(8, 2);
  const unsigned clock = part(11, 2) << 11 | part(14, 2) << 5 | part(17, 2) / 2;
  zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), static_cast<zip_uint16_t>(clock),
                       static_cast<zip_uint16_t>(date), 0);
  zip_file_set_external_attributes(archive, static_cast<zip_uint64_t>(index), 0, ZIP_OPSYS_UNIX,
                                   0100644U << 16);
  return {};
}

Result<std::string> contents(zip_source_t* source) {
  zip_stat_t stat;
  if (zip_source_open(source) != 0 || zip_source_stat(source, &stat) != 0)
    return no_zip(zip_source_error(source));
  std::string out(stat.size, '\0');
  const zip_int64_t n = zip_source_read(source, out.data(), out.size());
  zip_source_close(source);
  if (n < 0 || static_cast<size_t>(n) != out.size()) return no_zip(zip_source_error(source));
  return out;
}

}  // namespace

std::string archive_path(std::string_view path) {
  std::string clean = printable(path);
  for (char& c : clean)  // some systems cannot keep files with these in their names
    if (std::string_view("\\:*?\"<>|").find(c) != std::string_view::npos) c = '_';
  std::string out;
  for (const std::string_view part : split(clean, '/')) {
    const std::string_view name = trim(part);
    if (name.empty() || name == "." || name == "..") continue;
    if (!out.empty()) out += '/';
    out += name;
  }
  return out.empty() ? "file" : out;
}

Result<std::string> make_zip(const std::vector<ZipFile>& files, Time modified) {
  size_t total = 0;
  for (const ZipFile& file : files) total += file.bytes.size();
  if (total > kCrateBytesMax)
    return fail(ErrorCode::too_large, "the archive would be larger than " +
                                          format_bytes(kCrateBytesMax) + "B" +
                                          "; publish the outputs apart");
  zip_error_t error;
  zip_error_init(&error);
  Source buffer(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (!buffer) return no_zip(&error);
  zip_source_keep(
      buffer.get());  // the archive frees one, and what was written is read from the other
  Archive archive(zip_open_from_source(buffer.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) {
    zip_source_free(buffer.get());
    return no_zip(&error);
  }
  for (const ZipFile& file : files) {
    if (auto done = add(archive.get(), file, modified); !done) return tl::unexpected(done.error());
  }
  if (zip_close(archive.get()) != 0) return no_zip(zip_get_error(archive.get()));
  (void)archive.release();  // closed is freed
  return contents(buffer.get());
}

}  // namespace atl::report
