#include "journal/snapshot.h"

#include "base/wire.h"
#include "journal/bytes.h"
#include "journal/crc32c.h"

namespace atl::journal {
namespace {

constexpr std::string_view kMagic = "ATOLLSNP";
constexpr size_t kChunkHeadBytes = 9;  // length:u32 checksum:u32 kind:u8

enum class Kind : uint8_t { head = 1, state = 2, jobs = 3, end = 4 };

// The place of a chunk is part of its checksum, so that chunks cannot change places.
uint32_t chunk_checksum(uint64_t place, Kind kind, std::string_view body) {
  std::string prefix;
  put_fixed<uint64_t>(prefix, place);
  prefix.push_back(static_cast<char>(kind));
  return crc32c(body, crc32c(prefix));
}

class ChunkWriter {
 public:
  explicit ChunkWriter(const SnapshotSink& out) : out_(out) {}

  template <class Fn>
  Result<void> chunk(Kind kind, Fn&& fill) {
    buffer_.assign(kChunkHeadBytes, 0);
    fill(buffer_);
    const std::string_view body = std::string_view(buffer_).substr(kChunkHeadBytes);
    set_fixed<uint32_t>(buffer_, 0, static_cast<uint32_t>(body.size()));
    set_fixed<uint32_t>(buffer_, 4, chunk_checksum(place_++, kind, body));
    buffer_[8] = static_cast<char>(kind);
    return out_(buffer_);
  }

 private:
  const SnapshotSink& out_;
  std::string buffer_;
  uint64_t place_ = 0;
};

class ChunkReader {
 public:
  explicit ChunkReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t place() const { return place_; }
  bool done() const { return at_ == bytes_.size(); }

  // The next chunk, whole and verified.
  Result<std::pair<Kind, std::string_view>> next() {
    if (bytes_.size() - at_ < kChunkHeadBytes) return broken("is cut short");
    const auto length = get_fixed<uint32_t>(bytes_, at_);
    if (length > bytes_.size() - at_ - kChunkHeadBytes) return broken("is cut short");
    const auto kind = static_cast<Kind>(bytes_[at_ + 8]);
    const std::string_view body = bytes_.substr(at_ + kChunkHeadBytes, length);
    if (chunk_checksum(place_, kind, body) != get_fixed<uint32_t>(bytes_, at_ + 4)) {
      return broken("does not match its checksum");
    }
    at_ += kChunkHeadBytes + length;
    ++place_;
    return std::pair(kind, body);
  }

  tl::unexpected<Error> broken(const char* how) const {
    return fail(ErrorCode::invalid, "chunk " + std::to_string(place_) + " " + how);
  }

 private:
  std::string_view bytes_;
  size_t at_ = kMagic.size();
  uint64_t place_ = 0;
};

bool read_jobs(std::string_view body, IdMap<JobId, core::Job>& jobs) {
  wire::Reader in(body);
  while (!in.done()) {
    core::Job job;
    if (!wire::get(in, job, 0)) return false;
    const JobId id = job.id;
    if (!jobs.empty() && !(jobs.rbegin()->first < id)) return false;
    jobs.emplace_hint(jobs.end(), id, std::move(job));
  }
  return in.ok();
}

bool read_state(std::string_view body, core::State& state) {
  wire::Reader in(body);
  return wire::get_fields(in, state, 0);
}

// The head decides whether this program may read the rest.
Result<SnapshotHead> read_head(std::string_view bytes, ChunkReader& in) {
  if (!bytes.starts_with(kMagic))
    return fail(ErrorCode::invalid, "it does not begin as a snapshot");
  const auto chunk = in.next();
  if (!chunk) return tl::unexpected(chunk.error());
  if (chunk->first != Kind::head) return fail(ErrorCode::invalid, "it does not begin with a head");
  const auto head = wire::decode<SnapshotHead>(chunk->second);
  if (!head || head->version == 0) return fail(ErrorCode::invalid, "its head cannot be decoded");
  if (head->version > kSnapshotVersion) {
    return fail(ErrorCode::invalid, "its version " + std::to_string(head->version) +
                                        " is newer than this program understands");
  }
  return *head;
}

}  // namespace

Result<void> encode_snapshot(const core::State& state, const SnapshotHead& head,
                             const SnapshotSink& out) {
  ChunkWriter writer(out);
  auto ok = out(kMagic);
  if (ok) ok = writer.chunk(Kind::head, [&](std::string& b) { wire::put_fields(b, head); });
  if (ok) ok = writer.chunk(Kind::state, [&](std::string& b) { wire::put_fields(b, state); });
  for (auto at = state.jobs.begin(); ok && at != state.jobs.end();) {
    ok = writer.chunk(Kind::jobs, [&](std::string& b) {
      for (size_t n = 0; n < kSnapshotChunkJobs && at != state.jobs.end(); ++n, ++at) {
        wire::put(b, at->second);
      }
    });
  }
  if (ok) {
    ok = writer.chunk(Kind::end, [&](std::string& b) { wire::put_varint(b, state.jobs.size()); });
  }
  return ok;
}

Result<Snapshot> decode_snapshot(std::string_view bytes) {
  ChunkReader in(bytes);
  const auto head = read_head(bytes, in);
  if (!head) return tl::unexpected(head.error());
  Snapshot snapshot{.head = *head, .state = {}};
  for (;;) {
    const auto chunk = in.next();
    if (!chunk) return tl::unexpected(chunk.error());
    const auto& [kind, body] = *chunk;
    if (kind == Kind::end) {
      wire::Reader tail(body);
      if (tail.varint() != snapshot.state.jobs.size() || !tail.ok() || !in.done()) {
        return in.broken("does not close the snapshot");
      }
      return snapshot;
    }
    const bool ok = kind == Kind::state  ? read_state(body, snapshot.state)
                    : kind == Kind::jobs ? read_jobs(body, snapshot.state.jobs)
                                         : false;
    if (!ok) return in.broken("cannot be decoded");
  }
}

Result<SnapshotHead> peek_snapshot(std::string_view bytes) {
  ChunkReader in(bytes);
  return read_head(bytes, in);
}

Result<SnapshotHead> verify_snapshot(std::string_view bytes) {
  ChunkReader in(bytes);
  const auto head = read_head(bytes, in);
  Kind last = Kind::head;
  while (head && !in.done()) {
    const auto chunk = in.next();
    if (!chunk) return tl::unexpected(chunk.error());
    last = chunk->first;
  }
  if (head && last != Kind::end) return in.broken("is missing");
  return head;
}

}  // namespace atl::journal
