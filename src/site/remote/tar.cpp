#include "site/remote/tar.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace atl::site {

struct TarWriter::Impl {
  archive* writer = archive_write_new();
  std::string bytes;
};

namespace {

la_ssize_t append_tar(archive*, void* text, const void* bytes, size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

// GNU's format: busybox reads its long names, not those of pax.
TarWriter::TarWriter() : impl_(new Impl) {
  archive_write_set_format_gnutar(impl_->writer);
  archive_write_set_bytes_per_block(impl_->writer, 0);
  archive_write_open(impl_->writer, &impl_->bytes, nullptr, append_tar, nullptr);
}

TarWriter::~TarWriter() {
  archive_write_free(impl_->writer);
  delete impl_;
}

void TarWriter::add(const TarFile& file) {
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, file.path.c_str());
  archive_entry_set_size(entry, static_cast<la_int64_t>(file.bytes.size()));
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, static_cast<__LA_MODE_T>(file.mode));
  archive_entry_set_mtime(entry, file.modified.us / 1'000'000, 0);
  archive_write_header(impl_->writer, entry);
  archive_write_data(impl_->writer, file.bytes.data(), file.bytes.size());
  archive_entry_free(entry);
}

std::string TarWriter::finish() {
  archive_write_close(impl_->writer);
  return std::move(impl_->bytes);
}

Result<void> read_tar(std::string_view bytes, const std::function<Result<void>(TarFile&)>& take) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(reader.get());
  // xargs may have called tar more than once.
  archive_read_set_options(reader.get(), "tar:read_concatenated_archives");
  const auto broken = [&] {
    const char* why = archive_error_string(reader.get());
    return fail(ErrorCode::unavailable,
                std::string("the archive of files is broken: ") + (why ? why : "no reason given"));
  };
  if (bytes.empty()) return {};
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return broken();
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return {};
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return broken();
    const char* name = archive_entry_pathname(entry);
    const la_int64_t size = archive_entry_size(entry);
    if (!name || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
      continue;
    if (size < 0 || size > static_cast<la_int64_t>(bytes.size())) return broken();
    TarFile file{.path = name,
                 .mode = static_cast<unsigned>(archive_entry_perm(entry)),
                 .modified = {archive_entry_mtime(entry) * 1'000'000}};
    if (file.path.starts_with("./")) file.path.erase(0, 2);
    file.bytes.resize(static_cast<size_t>(size));
    if (archive_read_data(reader.get(), file.bytes.data(), file.bytes.size()) != size)
      return broken();
    if (Result<void> taken = take(file); !taken) return taken;
  }
}

}  // namespace atl::site
