#include "cli/event_stream.h"

#include <algorithm>
#include <thread>

namespace atl::cli {
namespace {

using Clock = std::chrono::steady_clock;

class Follow {
 public:
  Follow(Api& api, const std::string& path, std::string after,
         const std::function<bool(const http::Event&)>& take, const Patience& patience,
         const std::function<bool()>& stop)
      : api_(api),
        path_(path),
        after_(std::move(after)),
        take_(take),
        patience_(patience),
        stop_(stop) {}

  Result<void> run() {
    while (true) {
      const auto connected = connect_once();
      if (done_ || stopped()) return {};
      if (auto ok = rest(connected); !ok) return ok;
    }
  }

 private:
  bool stopped() const { return stop_ && stop_(); }

  // Until the connection ends, for whatever reason.
  Result<http::Response> connect_once() {
    http::EventParser parser;  // half an event at the end of a connection is forgotten with it
    http::Call call{.method = "GET", .target = path_};
    call.headers.set("Accept", "text/event-stream");
    if (!after_.empty()) call.headers.set("Last-Event-ID", after_);
    call.timeout = patience_.silence;
    call.on_data = [&](std::string_view bytes) {
      heard_ = Clock::now();
      pause_ = patience_.first_pause;
      if (stopped()) return false;
      return parser.feed(bytes, [this](const http::Event& event) { return accept(event); });
    };
    return api_.send(std::move(call));
  }

  bool accept(const http::Event& event) {
    if (!take_(event)) {
      done_ = true;
      return false;
    }
    if (!event.id.empty()) after_ = event.id;
    return true;
  }

  Result<void> rest(const Result<http::Response>& connected) {
    const auto code = connected ? ErrorCode::unavailable : connected.error().code;
    if (code != ErrorCode::unavailable && code != ErrorCode::exhausted)
      return tl::unexpected(connected.error());
    if (Clock::now() - heard_ > patience_.away_max) {
      if (!connected) return tl::unexpected(connected.error());
      return fail(ErrorCode::unavailable, "the server keeps closing the stream");
    }
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(patience_.last_pause, pause_ * 2);
    return {};
  }

  Api& api_;
  const std::string& path_;
  std::string after_;
  const std::function<bool(const http::Event&)>& take_;
  const Patience patience_;
  const std::function<bool()>& stop_;
  std::chrono::milliseconds pause_ = patience_.first_pause;
  Clock::time_point heard_ = Clock::now();
  bool done_ = false;
};

}  // namespace

Result<void> follow_stream(Api& api, const std::string& path, std::string after,
                           const std::function<bool(const http::Event&)>& take,
                           const Patience& patience, const std::function<bool()>& stop) {
  return Follow(api, path, std::move(after), take, patience, stop).run();
}

}  // namespace atl::cli
