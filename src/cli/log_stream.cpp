#include "cli/log_stream.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/text.h"
#include "cli/selectors.h"

namespace atl::cli {
namespace {

std::string path_of(const LogWish& wish, std::int64_t tail = -1) {
  const bool from_start = wish.offset == 0 || tail >= 0;
  return job_path(wish.id) + "/logs" +
         query({{"stream", wish.stream},
                {"attempt", wish.attempt},
                {"offset", from_start ? "" : std::to_string(wish.offset)},
                {"tail", tail < 0 ? "" : std::to_string(tail)}});
}

std::int64_t number_of(const http::Response& response, const char* header) {
  return parse_int(response.headers.get(header)).value_or(0);
}

}  // namespace

std::string decode_base64(const std::string& text) {
  std::string bytes(text.size() / 4 * 3 + 3, '\0');
  const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  // OpenSSL counts the bytes that only pad.
  const auto padding = static_cast<int>(
      std::count(text.end() - std::min<std::ptrdiff_t>(2, std::ssize(text)), text.end(), '='));
  bytes.resize(static_cast<std::size_t>(std::max(0, size - padding)));
  return bytes;
}

Result<Json> follow_log(Api& api, LogWish wish, const LogSink& sink, const Patience& patience) {
  Json end;
  const auto take = [&](const http::Event& event) {
    if (event.event == "output") sink.bytes(event.data);
    if (event.event == "base64") sink.bytes(decode_base64(event.data));
    if (event.event != "cut" && event.event != "attempt" && event.event != "end") return true;
    const Json note = Json::parse(event.data).value_or(Json());
    if (event.event == "cut" && sink.cut) sink.cut(note["from"].integer(), note["to"].integer());
    if (event.event == "attempt" && sink.attempt) sink.attempt(note["attempt"].integer());
    if (event.event == "end") end = note;
    return event.event != "end";
  };
  auto followed = follow_stream(api, path_of(wish), wish.after, take, patience, sink.stop);
  if (!followed) return tl::unexpected(followed.error());
  return end;
}

Result<LogPage> read_log(Api& api, const LogWish& wish, std::int64_t tail) {
  http::Call call{.method = "GET", .target = path_of(wish, tail)};
  call.headers.set("Accept", "text/plain, application/octet-stream, application/json");
  auto response = api.send(std::move(call));
  if (!response) return tl::unexpected(response.error());
  LogPage page;
  page.next_offset = number_of(*response, "X-Atoll-Next-Offset");
  page.size = number_of(*response, "X-Atoll-Size");
  page.attempt = response->headers.get("X-Atoll-Attempt");
  page.bytes = std::move(response->body);
  return page;
}

}  // namespace atl::cli
