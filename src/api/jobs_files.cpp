#include <unistd.h>

#include <cerrno>

#include "api/handlers.h"
#include "api/job_lookup.h"
#include "http/target.h"
#include "site/safe_files.h"

namespace atl::api {
namespace {

constexpr size_t kPiece = 128 << 10;

// The directory of the job on whatever site has one; it is the same for all tasks. Every site says
// where it would be: the one that is there counts, else the first.
Result<std::string> directory_of(Context& context, JobId id) {
  std::string first;
  for (const auto& [name, driver] : *context.drivers.all()) {
    const std::string directory = driver->job_directory(id);
    if (!directory.empty() && access(directory.c_str(), F_OK) == 0) return directory;
    if (first.empty()) first = directory;
  }
  if (!first.empty()) return first;
  return fail(ErrorCode::not_found, "the job has no directory of files", "id");
}

// Writes the file into the stream piece by piece, waiting for the client in between. The stream's
// callbacks keep it alive until it lets go of the stream.
class Download : public std::enable_shared_from_this<Download> {
 public:
  Download(Pool& pool, site::OwnedFd fd, std::shared_ptr<http::Stream> stream, int64_t size)
      : pool_(pool), fd_(std::move(fd)), stream_(std::move(stream)), left_(size) {}

  void begin() {
    const auto stream = stream_;
    stream->on_writable([self = shared_from_this()] { self->later(); });
    stream->on_close([self = shared_from_this()] { self->later(); });
    pump();
  }

 private:
  void later() {
    if (pool_.post([self = shared_from_this()] { self->pump(); })) return;
    const std::lock_guard lock(mutex_);
    stream_.reset();
  }

  void pump() {
    const std::lock_guard lock(mutex_);
    const auto stream = stream_;
    while (stream && (left_ > 0 || !held_.empty())) {
      if (held_.empty() && !fill()) break;  // cut below: a short file must not look whole
      if (!stream->write(held_)) {
        if (!stream->is_open()) break;
        return;
      }
      held_.clear();
    }
    if (stream && left_ == 0 && held_.empty()) stream->close();
    stream_.reset();
  }

  bool fill() {
    held_.resize(static_cast<size_t>(std::min<int64_t>(left_, kPiece)));
    const ssize_t n = read(fd_.get(), held_.data(), held_.size());
    held_.resize(n > 0 ? static_cast<size_t>(n) : 0);
    left_ -= static_cast<int64_t>(held_.size());
    return n > 0;
  }

  Pool& pool_;
  site::OwnedFd fd_;
  std::recursive_mutex mutex_;  // close() may call back into later() on the same thread
  std::shared_ptr<http::Stream> stream_;
  int64_t left_;
  std::string held_;
};

// Looks the job up and calls `then` with it and its directory on the slow pool.
void with_directory(const CallPtr& call, bool writes,
                    std::function<void(const core::Job& job, const std::string& directory)> then) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  find_job(call, selector->job, {}, [call, writes, then = std::move(then)](const FoundJob& found) {
    if (writes) {
      if (auto ok = may_act(*call->context.directory.table(), call->actor, found); !ok)
        return call->refuse(ok.error());
    }
    const auto directory = directory_of(call->context, found.job.id);
    if (!directory) return call->refuse(directory.error());
    run_on(call->context.slow, call, [call, writes, then, job = found.job, directory = *directory] {
      if (writes && access(directory.c_str(), F_OK) != 0) {
        return call->refuse({ErrorCode::conflict,
                             "the job has no directory: it has not started, or it was removed",
                             "id"});
      }
      then(job, directory);
    });
  });
}

}  // namespace

void list_files(const CallPtr& call) {
  with_directory(call, false, [call](const core::Job&, const std::string& directory) {
    bool truncated = false;
    const auto files = site::list_below(directory, truncated);
    if (!files) return call->refuse(files.error());
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().key("files").begin_array();
    for (const site::FileEntry& file : *files) {
      json.begin_object().member("path", file.path);
      json.member("kind", file.directory ? "directory" : file.link ? "link" : "file");
      json.member("size_bytes", file.size).member("modified", file.modified).end_object();
    }
    json.end_array().member("truncated", truncated).end_object();
    call->respond_json(std::move(body));
  });
}

void get_file(const CallPtr& call) {
  with_directory(call, false, [call](const core::Job&, const std::string& directory) {
    auto file = site::open_below(directory, std::string(call->request().param("path")));
    if (!file) return call->refuse(file.error());
    const int64_t size = file->size;
    auto stream = call->stream(200, {{"Content-Type", "application/octet-stream"},
                                     {"Content-Length", std::to_string(size)},
                                     {"Content-Disposition", "attachment"},
                                     {"X-Content-Type-Options", "nosniff"}});
    std::make_shared<Download>(call->context.slow, std::move(file->fd), std::move(stream), size)
        ->begin();
  });
}

void put_file(const CallPtr& call) {
  if (auto ok = site::check_path(std::string(call->request().param("path"))); !ok)
    return call->refuse(ok.error());
  auto bytes = std::make_shared<std::string>(call->exchange->take_body());
  with_directory(call, true, [call, bytes](const core::Job& job, const std::string& directory) {
    const std::string path(call->request().param("path"));
    command(call, core::RecordDeed{core::UploadAsked{job.id, path, bytes->size()}, job.ns}, {},
            [call, bytes, directory, path](const runtime::Accepted&) {
              run_on(call->context.slow, call, [call, bytes, directory, path] {
                if (auto ok = site::write_below(directory, path, *bytes); !ok)
                  return call->refuse(ok.error());
                call->respond_empty(204);
              });
            });
  });
}

}  // namespace atl::api
