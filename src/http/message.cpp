#include "http/message.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace atl::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

const std::string* find_pair(const Pairs& pairs, std::string_view name) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return &value;
  }
  return nullptr;
}

void append_json_escaped(std::string& out, std::string_view text) {
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
}

struct Reason {
  int status;
  std::string_view phrase;
};

constexpr Reason kReasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

void Headers::add(std::string name, std::string value) {
  fields_.push_back({std::move(name), std::move(value)});
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(fields_, [&](const Header& h) { return equals_ignoring_case(h.name, name); });
  fields_.push_back({std::string(name), std::move(value)});
}

const std::string* Headers::find(std::string_view name) const {
  for (const Header& header : fields_) {
    if (equals_ignoring_case(header.name, name)) return &header.value;
  }
  return nullptr;
}

std::string_view Headers::get(std::string_view name) const {
  const std::string* value = find(name);
  return value ? std::string_view(*value) : std::string_view();
}

std::optional<std::string> Request::query_param(std::string_view name) const {
  const std::string* value = find_pair(query, name);
  return value ? std::optional(*value) : std::nullopt;
}

std::string_view Request::param(std::string_view name) const {
  const std::string* value = find_pair(params, name);
  return value ? std::string_view(*value) : std::string_view();
}

std::string_view reason_phrase(int status) {
  const auto* row = std::ranges::lower_bound(kReasons, status, {}, &Reason::status);
  return row != std::end(kReasons) && row->status == status ? row->phrase : "Unknown";
}

Response problem(int status, std::string_view detail, std::string_view request_id) {
  Response answer{
      .status = status, .content_type = "application/problem+json", .body = {}, .headers = {}};
  answer.body = R"({"type":"about:blank","title":")";
  answer.body += reason_phrase(status);
  answer.body += R"(","status":)" + std::to_string(status) + R"(,"detail":")";
  append_json_escaped(answer.body, detail);
  answer.body += '"';
  if (!request_id.empty()) answer.body += R"(,"request_id":")" + std::string(request_id) + '"';
  answer.body += "}\n";
  return answer;
}

}  // namespace atl::http
