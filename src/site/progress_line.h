// Progress lines in the output of programs. Pure and total: any bytes, in any cuts.
//
//   # cloudmesh status=running progress=40 pid=123 [msg=epoch 4 of 10] [time='…'] [key=value …]
//   # atoll progress=3/10 [status=running] [msg="loading"]
//
// The mark may stand anywhere in a line (behind a logger's time, say), a line ends with \n or \r,
// and the newest one counts. Values are quoted, or reach to the next ` key=`. cloudmesh-common ends
// its line before the extras, so a line that directly follows and begins with a blank and `key=`
// belongs to it. Unknown keys are skipped; of a key that comes twice the first counts.
//
// `progress` is a number from 0 to 100, with or without a fraction and a %, or a part of a whole
// such as 3/10. Anything else (150, -1, nan, ten) is not bent into range: the whole line is
// ignored, and counted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "site/progress.h"

namespace atl::site {

inline constexpr size_t kProgressLineMax = 1024;  // longer ones are ignored, and counted

// "40", "40.5", "40%", "3/10" in thousandths of a percent; nothing when it is no such number.
std::optional<uint32_t> parse_percent(std::string_view text);

// Takes over what the fields of one line say, which are those behind the mark. Status and message
// are this line's, also when it has none; percent and pid stay when it does not tell them. A line
// that says what cannot be changes nothing but the count. `at` is the caller's. False when it is
// no progress line at all: it has neither `progress` nor `status`.
bool apply_progress_line(std::string_view fields, Progress& progress);

// Takes the message from a line of extras; false when there is none.
bool apply_progress_extras(std::string_view fields, Progress& progress);

// Finds progress lines in a stream that comes in pieces. Output without a # costs one memchr.
class ProgressScanner {
 public:
  // True when a progress line ended in it, also one that was ignored or says the same again.
  bool feed(std::string_view bytes, Progress& progress);
  // The stream is over, so what is there of its last line is all of it.
  bool finish(Progress& progress);

 private:
  enum class State : uint8_t {
    text,    // nothing of interest yet
    mark,    // held_ is the beginning of a mark
    fields,  // behind a mark: held_ is what there is of its fields
    behind,  // at the beginning of the line behind one of cloudmesh
    extras,  // in that line, which began with a blank
  };
  size_t step(std::string_view bytes, Progress& progress);
  size_t collect_mark(std::string_view bytes);
  size_t collect_line(std::string_view bytes, Progress& progress);
  void end_line(bool ended, Progress& progress);

  State state_ = State::text;
  bool cloudmesh_ = false;  // the last mark was its
  bool too_long_ = false;
  bool heard_ = false;  // a line, in this call
  std::string held_;    // at most kProgressLineMax
};

}  // namespace atl::site
