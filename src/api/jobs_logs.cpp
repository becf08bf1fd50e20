#include "api/handlers.h"
#include "api/job_lookup.h"
#include "base/text.h"

namespace atl::api {
namespace {

constexpr int64_t kLogPage = 1 << 20;

struct LogWish {
  Selector selector;
  site::LogStream stream = site::LogStream::out;
  std::optional<uint32_t> attempt;
  int64_t offset = 0;
  int64_t limit = kLogPage;
  std::optional<int64_t> tail;
};

bool wants_stream(const http::Request& request) {
  return request.headers.get("Accept").find("text/event-stream") != std::string_view::npos;
}

// "ATTEMPT.OFFSET" as our events carry it, or a bare offset.
Result<void> read_last_id(LogWish& wish, std::string_view text) {
  if (text.empty()) return {};
  const size_t dot = text.find('.');
  const auto offset = parse_int(dot == std::string_view::npos ? text : text.substr(dot + 1));
  const auto attempt =
      dot == std::string_view::npos ? std::optional<int64_t>(0) : parse_int(text.substr(0, dot));
  if (!offset || *offset < 0 || !attempt || *attempt < 0 || *attempt > UINT32_MAX) {
    return fail(ErrorCode::invalid, "Last-Event-ID must be one that the stream gave you",
                "Last-Event-ID");
  }
  wish.offset = *offset;
  if (*attempt > 0) wish.attempt = static_cast<uint32_t>(*attempt);
  return {};
}

Result<LogWish> read_wish(const CallPtr& call) {
  LogWish wish;
  const auto selector = call->selector();
  if (!selector) return tl::unexpected(selector.error());
  wish.selector = *selector;
  const http::Request& request = call->request();
  if (request.query_param("stream").value_or("stdout") == "stderr")
    wish.stream = site::LogStream::err;
  wish.offset = call->query_int("offset", 0).value_or(0);
  wish.limit = call->query_int("limit", kLogPage).value_or(kLogPage);
  if (request.query_param("tail")) wish.tail = call->query_int("tail", 0).value_or(0);
  if (request.query_param("attempt"))
    wish.attempt = static_cast<uint32_t>(call->query_int("attempt", 1).value_or(1));
  if (auto ok = read_last_id(wish, request.headers.get("Last-Event-ID")); !ok)
    return tl::unexpected(ok.error());
  return wish;
}

// Where the last `lines` lines of what is there begin. Looks at the last megabyte.
Result<int64_t> tail_offset(site::SiteDriver& driver, AttemptId attempt, site::LogStream stream,
                            int64_t lines) {
  const auto probe = driver.logs(attempt, stream, INT64_MAX / 2, 1);
  if (!probe) return tl::unexpected(probe.error());
  const int64_t from = std::max<int64_t>(0, probe->size - kLogPage);
  const auto chunk = driver.logs(attempt, stream, from, static_cast<size_t>(kLogPage));
  if (!chunk) return tl::unexpected(chunk.error());
  std::string_view bytes = chunk->bytes;
  size_t at = bytes.size();
  if (bytes.ends_with('\n')) --at;
  for (int64_t left = lines; left > 0; --left) {
    const size_t line = at == 0 ? std::string_view::npos : bytes.rfind('\n', at - 1);
    if (line == std::string_view::npos) return chunk->offset;
    at = line;
  }
  return chunk->offset + static_cast<int64_t>(lines == 0 ? bytes.size() : at + 1);
}

void send_page(const CallPtr& call, const FoundJob& found, TaskId task, const LogWish& wish) {
  const auto where = locate(call->context, found, task, wish.attempt);
  if (!where) return call->refuse(where.error());
  const auto driver = driver_for(call->context, where->site);
  if (!driver) return call->refuse(driver.error());
  int64_t offset = wish.offset;
  if (wish.tail) {
    const auto from = tail_offset(**driver, where->attempt, wish.stream, *wish.tail);
    if (!from) return call->refuse(from.error());
    offset = *from;
  }
  auto chunk =
      (*driver)->logs(where->attempt, wish.stream, offset, static_cast<size_t>(wish.limit));
  if (!chunk) return call->refuse(chunk.error());
  http::Response response;
  response.content_type =
      valid_utf8(chunk->bytes) ? "text/plain; charset=utf-8" : "application/octet-stream";
  response.headers.add("X-Atoll-Offset", std::to_string(chunk->offset));
  response.headers.add("X-Atoll-Next-Offset",
                       std::to_string(chunk->offset + static_cast<int64_t>(chunk->bytes.size())));
  response.headers.add("X-Atoll-Size", std::to_string(chunk->size));
  response.headers.add("X-Atoll-Attempt", std::to_string(where->attempt.attempt));
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = std::move(chunk->bytes);
  call->respond(std::move(response));
}

void begin_stream(const CallPtr& call, const FoundJob& found, TaskId task, const LogWish& wish) {
  LogFollower::Wish follow{task, found.job.array, wish.stream, wish.attempt.value_or(0),
                           wish.offset};
  const auto where = locate(call->context, found, task, wish.attempt);
  if (where)
    follow.attempt = where->attempt.attempt;
  else if (!found.live)
    follow.attempt = 0;
  if (where && wish.tail) {
    const auto driver = driver_for(call->context, where->site);
    const auto from = driver ? tail_offset(**driver, where->attempt, wish.stream, *wish.tail)
                             : Result<int64_t>(0);
    follow.offset = from.value_or(0);
  }
  if (auto stream = open_stream(call)) call->context.follower.follow(std::move(stream), follow);
}

}  // namespace

void show_logs(const CallPtr& call) {
  const auto wish = read_wish(call);
  if (!wish) return call->refuse(wish.error());
  Want want;
  if (wish->selector.has_index) want.index = wish->selector.index;
  find_job(call, wish->selector.job, want, [call, wish = *wish](const FoundJob& found) {
    const auto task = single_task(found, wish.selector);
    if (!task) return call->refuse(task.error());
    wants_stream(call->request()) ? begin_stream(call, found, *task, wish)
                                  : send_page(call, found, *task, wish);
  });
}

}  // namespace atl::api
