// How a piece of output travels as a server-sent event. Text goes as it is; bytes that are not
// UTF-8, or that the event format would change (carriage returns, NUL), go as base64 under the
// event name `base64`.
#pragma once

#include <string>
#include <string_view>

namespace atl::api {

std::string base64(std::string_view bytes);

// How many bytes to send now: all, unless the last ones are the start of a UTF-8 sequence that may
// still come.
size_t whole_characters(std::string_view bytes);

// `id` is "ATTEMPT.OFFSET", the place behind the piece, which is where to go on after a broken
// connection.
std::string log_event(std::string_view bytes, uint32_t attempt, int64_t end_offset);

}  // namespace atl::api
