#include "site/progress_line.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace atl::site {
namespace {

constexpr std::string_view kMarks[] = {"# cloudmesh", "# atoll"};
constexpr std::string_view kLineEnds = "\r\n";

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-' ||
         c == '.';
}

// The length of the key at the beginning of `text` when `=` follows; else zero.
size_t key_length(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && is_key_char(text[n])) ++n;
  return n > 0 && n < text.size() && text[n] == '=' ? n : 0;
}

struct Field {
  std::string_view key;
  std::string_view value;
};

// Where the value ends that `text` begins with, and the value without its quotes. A quote that is
// never closed is an ordinary character.
std::string_view take_value(std::string_view& text) {
  const char first = text.empty() ? '\0' : text[0];
  if (first == '"' || first == '\'') {
    const size_t close = text.find(first, 1);
    if (close != std::string_view::npos) {
      const std::string_view value = text.substr(1, close - 1);
      text.remove_prefix(close + 1);
      return value;
    }
  }
  size_t end = 0;
  while (end < text.size() && !(is_blank(text[end]) && key_length(text.substr(end + 1)) > 0)) ++end;
  std::string_view value = text.substr(0, end);
  text.remove_prefix(end);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  return value;
}

// Of a value that is one word. What a shell traces has quotes around the whole line.
std::string_view word_of(std::string_view value) {
  while (!value.empty() && is_blank(value[0])) value.remove_prefix(1);
  value = value.substr(0, value.find_first_of(" \t"));
  while (!value.empty() && (value.back() == '\'' || value.back() == '"')) value.remove_suffix(1);
  return value;
}

// The next key=value; what is none is skipped word by word.
std::optional<Field> next_field(std::string_view& text) {
  while (!text.empty()) {
    if (is_blank(text[0])) {
      text.remove_prefix(1);
    } else if (const size_t n = key_length(text); n > 0) {
      const std::string_view key = text.substr(0, n);
      text.remove_prefix(n + 1);
      return Field{key, take_value(text)};
    } else {
      text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
    }
  }
  return std::nullopt;
}

std::string_view take_digits(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

std::optional<uint64_t> whole_number(std::string_view digits) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

// "3/10": both whole, and no more than the whole.
std::optional<uint32_t> part_of_whole(std::string_view part, std::string_view whole) {
  const auto is_number = [](std::string_view text) { return std::ranges::all_of(text, is_digit); };
  if (!is_number(part) || !is_number(whole)) return std::nullopt;
  const auto over = whole_number(part), under = whole_number(whole);
  constexpr uint64_t kWholeMax = UINT64_MAX / kPercentMilliMax;  // so that the product fits
  if (!over || !under || *under == 0 || *over > *under || *under > kWholeMax) return std::nullopt;
  return static_cast<uint32_t>(*over * kPercentMilliMax / *under);
}

std::string status_of(std::string_view text) {
  const bool good = text.size() <= kProgressStatusMax && std::ranges::all_of(text, is_key_char);
  return good ? std::string(text) : std::string();
}

// The bytes of the UTF-8 character that `text` begins with; zero when it begins with none. Control
// characters are none: what a program says is shown on terminals.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  uint32_t code = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool shortest = code >= (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
  const bool allowed = code >= 0xa0 && !(code >= 0xd800 && code < 0xe000) && code <= 0x10ffff;
  return shortest && allowed ? length : 0;
}

// What is no character becomes a question mark.
std::string message_of(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (out.size() + std::max<size_t>(length, 1) > kProgressMessageMax) break;
    length > 0 ? out.append(text.substr(0, length)) : out.append("?");
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// The first # that may begin a mark, as far as what is behind it tells; the size when there is
// none.
size_t find_hash(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != '#') {
      const void* hash = std::memchr(bytes.data() + at, '#', bytes.size() - at);
      if (!hash) break;
      at = static_cast<size_t>(static_cast<const char*>(hash) - bytes.data());
    }
    const std::string_view rest = bytes.substr(at);
    if (rest.size() > 1 && rest[1] != ' ') continue;
    if (rest.size() > 3 && !rest.starts_with("# at") && !rest.starts_with("# cl")) continue;
    return at;
  }
  return bytes.size();
}

// Where a mark with a blank behind it begins.
size_t find_mark(std::string_view line, std::string_view& mark) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    for (const std::string_view one : kMarks) {
      const std::string_view rest = line.substr(at);
      mark = one;
      if (rest.size() > one.size() && rest.starts_with(one) && is_blank(rest[one.size()]))
        return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<uint32_t> parse_percent(std::string_view text) {
  if (const size_t slash = text.find('/'); slash != std::string_view::npos)
    return part_of_whole(text.substr(0, slash), text.substr(slash + 1));
  const std::optional<uint64_t> whole = whole_number(take_digits(text));
  if (!whole || *whole > 100) return std::nullopt;
  uint32_t milli = static_cast<uint32_t>(*whole) * 1000;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
    const bool more = fraction.find_first_not_of('0') != std::string_view::npos;
    if (more && *whole == 100) return std::nullopt;
    for (size_t i = 0, unit = 100; i < 3 && i < fraction.size(); ++i, unit /= 10)
      milli += static_cast<uint32_t>(static_cast<size_t>(fraction[i] - '0') * unit);
  }
  if (text.starts_with('%')) text.remove_prefix(1);
  return text.empty() ? std::optional(milli) : std::nullopt;
}

bool apply_progress_line(std::string_view fields, Progress& progress) {
  std::optional<std::string_view> percent, status, message, pid;
  const auto keep = [](auto& kept, std::string_view value) {
    if (!kept) kept = value;
  };
  while (const std::optional<Field> field = next_field(fields)) {
    if (field->key == "progress") keep(percent, word_of(field->value));
    if (field->key == "status") keep(status, word_of(field->value));
    if (field->key == "msg" || field->key == "message") keep(message, field->value);
    if (field->key == "pid") keep(pid, word_of(field->value));
  }
  if (!percent && !status) return false;  // a comment that only looks like one
  const std::optional<uint32_t> milli = percent ? parse_percent(*percent) : std::nullopt;
  if (percent && !milli) {
    ++progress.ignored;
    return true;
  }
  if (milli) progress.percent_milli = milli;
  if (const auto told = whole_number(pid.value_or(""))) progress.pid = told;
  progress.status = status_of(status.value_or(""));
  progress.message = message_of(message.value_or(""));
  return true;
}

bool apply_progress_extras(std::string_view fields, Progress& progress) {
  while (const std::optional<Field> field = next_field(fields)) {
    if (field->key != "msg" && field->key != "message") continue;
    progress.message = message_of(field->value);
    return true;
  }
  return false;
}

bool ProgressScanner::feed(std::string_view bytes, Progress& progress) {
  heard_ = false;
  while (!bytes.empty()) bytes.remove_prefix(step(bytes, progress));
  return heard_;
}

bool ProgressScanner::finish(Progress& progress) {
  heard_ = false;
  if (state_ == State::fields || state_ == State::extras) end_line(false, progress);
  state_ = State::text;
  held_.clear();
  return heard_;
}

// How many bytes were dealt with; none only when the state changed.
size_t ProgressScanner::step(std::string_view bytes, Progress& progress) {
  switch (state_) {
    case State::text: {
      const size_t at = find_hash(bytes);
      if (at < bytes.size()) state_ = State::mark;
      return at;
    }
    case State::mark:
      return collect_mark(bytes);
    case State::behind:
      state_ = is_blank(bytes[0]) ? State::extras : State::text;
      return 0;
    case State::fields:
    case State::extras:
      break;
  }
  return collect_line(bytes, progress);
}

// A mark has one # and that comes first, so what breaks it off is looked at again as text, and
// nothing before.
size_t ProgressScanner::collect_mark(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const std::string_view mark : kMarks) {
      if (held_ != mark || !is_blank(bytes[i])) continue;
      cloudmesh_ = mark == kMarks[0];
      state_ = State::fields;
      held_.clear();
      return i;
    }
    const bool goes_on = std::ranges::any_of(kMarks, [&](std::string_view mark) {
      return mark.size() > held_.size() && mark.starts_with(held_) &&
             mark[held_.size()] == bytes[i];
    });
    if (!goes_on) {
      state_ = State::text;
      held_.clear();
      return i;
    }
    held_ += bytes[i];
  }
  return bytes.size();
}

size_t ProgressScanner::collect_line(std::string_view bytes, Progress& progress) {
  // Looked for only as far as a line may go, so that a long one is not walked through again.
  const std::string_view near = bytes.substr(0, kProgressLineMax);
  const size_t end = std::min(near.find_first_of(kLineEnds), near.size());
  if (!too_long_) held_.append(near.substr(0, end));
  if (held_.size() > kProgressLineMax) {
    too_long_ = true;
    held_.clear();
  }
  if (end == near.size()) return end;
  end_line(true, progress);
  return end + 1;
}

// What is held may hold further marks: a program that ends its lines nowhere puts them one behind
// the other.
void ProgressScanner::end_line(bool ended, Progress& progress) {
  bool extras = state_ == State::extras;
  std::string_view rest = held_;
  if (too_long_ && !extras) {
    ++progress.ignored;
    heard_ = true;
  }
  for (bool more = !rest.empty(); more;) {
    std::string_view mark;
    const size_t next = find_mark(rest, mark);
    more = next != std::string_view::npos;
    const std::string_view fields = rest.substr(0, next);
    const bool said =
        extras ? apply_progress_extras(fields, progress) : apply_progress_line(fields, progress);
    heard_ = heard_ || said;
    if (!more) break;
    extras = false;
    cloudmesh_ = mark == kMarks[0];
    rest.remove_prefix(next + mark.size());
  }
  state_ = ended && cloudmesh_ && !extras && !too_long_ ? State::behind : State::text;
  too_long_ = false;
  held_.clear();
}

}  // namespace atl::site
