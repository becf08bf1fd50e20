#include "http/sse.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace atl::http {
namespace {

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  std::ranges::copy_if(value, std::back_inserter(out),
                       [](char c) { return c != '\r' && c != '\n' && c != '\0'; });
  out += '\n';
}

// Lines end with LF, CR or CRLF, as the reader at the other end will see them.
void append_data(std::string& out, std::string_view data) {
  for (;;) {
    const std::size_t end = data.find_first_of("\r\n");
    out += "data: ";
    out += data.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos) return;
    data.remove_prefix(end + (data.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

}  // namespace

std::string format_event(const Event& event) {
  std::string out;
  out.reserve(event.data.size() + event.id.size() + event.event.size() + 32);
  if (!event.id.empty()) append_field(out, "id", event.id);
  if (!event.event.empty()) append_field(out, "event", event.event);
  append_data(out, event.data);
  out += '\n';
  return out;
}

bool EventParser::feed(std::string_view bytes, const std::function<bool(const Event&)>& emit) {
  while (!bytes.empty()) {
    if (std::exchange(skip_line_feed_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (line_.size() + event_.data.size() > kEventBytesMax) return false;
    if (end == std::string_view::npos) return true;
    skip_line_feed_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, {});
    if (!take_line(line, emit)) return false;
  }
  return true;
}

bool EventParser::take_line(std::string_view line, const std::function<bool(const Event&)>& emit) {
  if (std::exchange(first_line_, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.empty()) return dispatch(emit);
  const std::size_t colon = line.find(':');
  if (colon == 0) return true;
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
  return true;
}

void EventParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (name == "event") {
    event_.event = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    last_event_id_ = value;
  }
}

bool EventParser::dispatch(const std::function<bool(const Event&)>& emit) {
  Event event = std::exchange(event_, {});
  if (!std::exchange(has_data_, false)) return true;
  event.id = last_event_id_;
  return emit(event);
}

}  // namespace atl::http
