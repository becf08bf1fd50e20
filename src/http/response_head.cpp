#include "http/response_head.h"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace atl::http {
namespace {

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  if (std::ranges::none_of(value, is_control)) {
    out += value;
  } else {
    for (char c : value) out += is_control(c) ? ' ' : c;
  }
  out += "\r\n";
}

bool is_ours(std::string_view name) {
  for (std::string_view ours :
       {"content-length", "transfer-encoding", "connection", "date", "x-request-id"}) {
    if (equals_ignoring_case(name, ours)) return true;
  }
  return false;
}

void append_status_line(std::string& out, int status) {
  if (status == 200) {
    out += "HTTP/1.1 200 OK\r\n";
    return;
  }
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(status));
  out += ' ';
  out += reason_phrase(status);
  out += "\r\n";
}

}  // namespace

void append_head(std::string& out, int status, std::string_view content_type,
                 const Headers& headers, const HeadOptions& options) {
  append_status_line(out, status);
  append_header(out, "Date", options.date);
  append_header(out, "X-Request-Id", options.request_id);
  if (!content_type.empty()) append_header(out, "Content-Type", content_type);
  if (options.content_length) {
    out += "Content-Length: ";
    append_number(out, *options.content_length);
    out += "\r\n";
  }
  if (options.chunked) out += "Transfer-Encoding: chunked\r\n";
  if (options.connection == Connection::close) out += "Connection: close\r\n";
  if (options.connection == Connection::keep_http_1_0) out += "Connection: keep-alive\r\n";
  for (const Header& header : headers) {
    if (!is_ours(header.name)) append_header(out, header.name, header.value);
  }
  out += "\r\n";
}

std::string http_date(std::int64_t unix_seconds) {
  const std::time_t seconds = unix_seconds;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  const std::size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return std::string(text, size);
}

}  // namespace atl::http
