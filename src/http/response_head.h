// Writing the head of an answer by hand, into the buffer that is sent. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace atl::http {

enum class Connection { keep, keep_http_1_0, close };

struct HeadOptions {
  std::string_view date;
  std::string_view request_id;
  Connection connection = Connection::keep;
  std::optional<std::size_t> content_length;  // none: the caller writes its own framing
  bool chunked = false;
};

// Appends the status line, the fields and the empty line. The fields that are the server's own are
// skipped in `headers`.
void append_head(std::string& out, int status, std::string_view content_type,
                 const Headers& headers, const HeadOptions& options);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::int64_t unix_seconds);

// 1xx, 204 and 304 never carry a body.
inline bool status_has_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace atl::http
