// The output of one task: what is there, or followed as it grows over the event stream of the API.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/api.h"
#include "cli/event_stream.h"

namespace atl::cli {

struct LogWish {
  std::string id;                 // of the job or task
  std::string stream = "stdout";  // or "stderr"
  std::string attempt;            // empty: the one that runs, or the next
  std::int64_t offset = 0;        // where to begin
  std::string after;              // the id of the last event seen; overrules the two above
};

struct LogSink {
  std::function<void(std::string_view bytes)> bytes;            // as the job wrote them
  std::function<void(std::int64_t from, std::int64_t to)> cut;  // bytes that are no longer kept
  std::function<void(std::int64_t attempt)> attempt;            // output of another attempt follows
  std::function<bool()> stop;  // asked whenever the server is heard; true gives up
};

// How the task ended: outcome, exit_code, signal, message. Null when the sink stopped it.
[[nodiscard]] Result<Json> follow_log(Api& api, LogWish wish, const LogSink& sink,
                                      const Patience& patience = {});

// How bytes that are not text travel in JSON and in events. What is not base64 gives nothing.
std::string decode_base64(const std::string& text);

struct LogPage {
  std::string bytes;
  std::int64_t next_offset = 0;
  std::int64_t size = 0;  // of all that there is
  std::string attempt;
};

// What is there now: from an offset, or the last `tail` lines when that is not negative.
[[nodiscard]] Result<LogPage> read_log(Api& api, const LogWish& wish, std::int64_t tail = -1);

}  // namespace atl::cli
