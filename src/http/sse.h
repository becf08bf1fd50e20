// Server-sent events (WHATWG HTML, section 9.2): writing one, and reading them as the bytes arrive.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace atl::http {

struct Event {
  std::string id;     // none when empty
  std::string event;  // the type; "message" is meant when empty
  std::string data;   // may have several lines

  bool operator==(const Event&) const = default;
};

// The bytes of one event. Line ends in id and event are dropped, since they would end the field.
std::string format_event(const Event& event);

// A line that readers ignore; sent now and then it keeps proxies from closing a quiet stream.
inline constexpr std::string_view kSseHeartbeat = ": \n\n";

class EventParser {
 public:
  // Takes bytes in whatever pieces they come and calls `emit` for each event that is complete.
  // False when `emit` returned false, or when a line or an event is larger than kEventBytesMax: the
  // stream is to be given up.
  [[nodiscard]] bool feed(std::string_view bytes, const std::function<bool(const Event&)>& emit);

  // What to send as Last-Event-ID on reconnecting.
  const std::string& last_event_id() const { return last_event_id_; }

  static constexpr std::size_t kEventBytesMax = 16 << 20;

 private:
  bool take_line(std::string_view line, const std::function<bool(const Event&)>& emit);
  void take_field(std::string_view name, std::string_view value);
  bool dispatch(const std::function<bool(const Event&)>& emit);

  std::string line_;
  bool skip_line_feed_ = false;  // a CR was seen, which a following LF belongs to
  bool first_line_ = true;       // may begin with a byte order mark
  bool has_data_ = false;
  Event event_;
  std::string last_event_id_;
};

}  // namespace atl::http
