#include "spec/cloudmesh/names.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace atl::spec::cc {
namespace {

constexpr size_t kDigitsMax = 12;  // of a number in brackets

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// A text between commas, without the blanks around it.
struct Part {
  size_t at = 0;
  std::string_view text;
};

class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  std::vector<Name> read() {
    std::vector<Name> names;
    for (const Part& part : parts()) {
      if (part.text.empty()) throw BadNames{part.at, "expected a name here, as in \"a,b[1-3],c\""};
      for (std::string& name : expand_part(part)) {
        if (names.size() >= kNamesMax) refuse_count(part.at);
        names.push_back({std::move(name), part.at});
      }
    }
    repeat_prefix(names);
    return names;
  }

 private:
  // At the commas outside of brackets.
  std::vector<Part> parts() const {
    std::vector<Part> parts;
    size_t begin = 0, open = 0;
    bool inside = false;
    for (size_t i = 0; i <= text_.size(); ++i) {
      const char c = i < text_.size() ? text_[i] : ',';
      if (c == '[') {
        if (inside) throw BadNames{i, "a bracket inside of a bracket; write [1-3,7]"};
        inside = true;
        open = i;
      } else if (c == ']') {
        if (!inside) throw BadNames{i, "this bracket closes none; write b[1-3]"};
        inside = false;
      } else if (i == text_.size() && inside) {
        throw BadNames{open, "this bracket is not closed; write b[1-3]"};
      } else if (c == ',' && !inside) {
        parts.push_back(trimmed(begin, i));
        begin = i + 1;
      }
    }
    return parts;
  }
  Part trimmed(size_t begin, size_t end) const {
    while (begin < end && is_blank(text_[begin])) ++begin;
    while (end > begin && is_blank(text_[end - 1])) --end;
    return {begin, text_.substr(begin, end - begin)};
  }

  std::vector<std::string> expand_part(const Part& part) {
    std::vector<std::string> names{""};
    size_t at = 0;
    while (at < part.text.size()) {
      const size_t open = std::min(part.text.find('[', at), part.text.size());
      append(names, {std::string(part.text.substr(at, open - at))}, part.at);
      if (open == part.text.size()) break;
      const size_t shut = part.text.find(']', open);
      append(names, numbers(part.text.substr(open + 1, shut - open - 1), part.at + open + 1),
             part.at);
      at = shut + 1;
    }
    for (const std::string& name : names) spend(name.size(), part.at);
    return names;
  }
  // Each of them with each of the endings.
  void append(std::vector<std::string>& names, const std::vector<std::string>& endings, size_t at) {
    if (names.size() * endings.size() > kNamesMax) refuse_count(at);
    const size_t each = names.front().size() + endings.front().size();
    if (names.size() * endings.size() * each > kNamesBytesMax) refuse_bytes(at);
    std::vector<std::string> longer;
    longer.reserve(names.size() * endings.size());
    for (const std::string& name : names) {
      for (const std::string& ending : endings) longer.push_back(name + ending);
    }
    names = std::move(longer);
  }

  static std::vector<std::string> numbers(std::string_view ranges, size_t at) {
    std::vector<std::string> found;
    for (const std::string_view range : split(ranges, ',')) {
      add_range(range, at, found);
      at += range.size() + 1;
    }
    return found;
  }
  static void add_range(std::string_view range, size_t at, std::vector<std::string>& found) {
    const size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
    if (!is_number(low) || !is_number(high))
      throw BadNames{at, quote(range) + " is no range of numbers; write [1-3,7] or [01-10]"};
    const int64_t first = *parse_int(low), last = *parse_int(high);
    if (last < first)
      throw BadNames{at, quote(range) + " runs backwards; write [" + std::string(high) + "-" +
                             std::string(low) + "]"};
    if (static_cast<size_t>(last - first) >= kNamesMax - found.size()) refuse_count(at);
    for (int64_t i = first; i <= last; ++i) {
      const std::string digits = std::to_string(i);
      const size_t zeros = low.size() > digits.size() ? low.size() - digits.size() : 0;
      found.push_back(std::string(zeros, '0') + digits);
    }
  }
  static bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= kDigitsMax &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  // "local:a,b" is "local:a,local:b", unless another one has a prefix of its own.
  void repeat_prefix(std::vector<Name>& names) {
    const size_t colon = names.front().text.find(':');
    if (colon == std::string::npos) return;
    for (size_t i = 1; i < names.size(); ++i) {
      if (names[i].text.find(':') != std::string::npos) return;
    }
    const std::string prefix = names.front().text.substr(0, colon + 1);
    for (size_t i = 1; i < names.size(); ++i) {
      spend(prefix.size(), names[i].at);
      names[i].text.insert(0, prefix);
    }
  }

  void spend(size_t bytes, size_t at) {
    if (bytes > bytes_left_) refuse_bytes(at);
    bytes_left_ -= bytes;
  }
  [[noreturn]] static void refuse_count(size_t at) {
    throw BadNames{at, "this stands for more than " + std::to_string(kNamesMax) + " names"};
  }
  [[noreturn]] static void refuse_bytes(size_t at) {
    throw BadNames{at, "the names that this stands for are too long"};
  }

  std::string_view text_;
  size_t bytes_left_ = kNamesBytesMax;
};

}  // namespace

tl::expected<std::vector<Name>, BadNames> expand_parts(std::string_view text) {
  try {
    return NameReader(text).read();
  } catch (const BadNames& bad) {
    return tl::unexpected(bad);
  }
}

Result<std::vector<std::string>> expand_names(std::string_view text) {
  auto parts = expand_parts(text);
  if (!parts) {
    const BadNames& bad = parts.error();
    return fail(ErrorCode::invalid,
                quote(text) + ", column " + std::to_string(bad.at + 1) + ": " + bad.message);
  }
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (Name& part : *parts) {
    if (seen.insert(part.text).second) names.push_back(std::move(part.text));
  }
  return names;
}

}  // namespace atl::spec::cc
