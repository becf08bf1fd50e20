#include "spec/timing/numbers.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace atl::spec {
namespace {

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

tl::unexpected<Error> bad_number(std::string_view text, const NumbersForm& form,
                                 const std::string& why) {
  return fail(ErrorCode::invalid, std::string("the ") + form.what + " " + quote(text) + " " + why);
}

std::string bounds_of(const NumbersForm& form) {
  std::string text =
      "is not within " + std::to_string(form.low) + " to " + std::to_string(form.high);
  if (!form.names.empty())
    text += ", nor a name such as " + std::string(form.names.front()).substr(0, 3);
  return text;
}

std::optional<int> number_named(std::string_view text, const NumbersForm& form) {
  for (size_t i = 0; i < form.names.size(); ++i) {
    const std::string_view name = form.names[i];
    if (same_word(text, name.substr(0, 3)) || same_word(text, name))
      return form.first_name + static_cast<int>(i);
  }
  return std::nullopt;
}

Result<int> one_number(std::string_view text, const NumbersForm& form) {
  if (const auto named = number_named(text, form)) return *named;
  const auto number =
      text.starts_with('-') || text.starts_with('+') ? std::nullopt : parse_int(text);
  if (!number || *number < form.low || *number > form.high)
    return bad_number(text, form, bounds_of(form));
  return static_cast<int>(*number);
}

struct Span {
  int first = 0;
  int last = 0;
  bool single = false;
};

Result<Span> span_of(std::string_view text, const NumbersForm& form) {
  if (text == "*") return Span{form.low, form.high, false};
  const size_t at = text.find(form.range);
  if (at == std::string_view::npos) {
    const auto only = one_number(text, form);
    if (!only) return tl::unexpected(only.error());
    return Span{*only, *only, true};
  }
  const auto first = one_number(text.substr(0, at), form);
  if (!first) return tl::unexpected(first.error());
  const auto last = one_number(text.substr(at + form.range.size()), form);
  if (!last) return tl::unexpected(last.error());
  if (*last < *first) return bad_number(text, form, "ends before it begins");
  return Span{*first, *last, false};
}

Result<void> add_part(std::string_view text, const NumbersForm& form, Numbers& into) {
  const size_t slash = text.find('/');
  auto span = span_of(text.substr(0, slash), form);
  if (!span) return tl::unexpected(span.error());
  int step = 1;
  if (slash != std::string_view::npos) {
    const auto read = parse_int(text.substr(slash + 1));
    if (!read || *read < 1 || *read > form.high)
      return bad_number(text, form,
                        "has a step that is not within 1 to " + std::to_string(form.high));
    step = static_cast<int>(*read);
    if (span->single) span->last = form.high;
  }
  for (int i = span->first; i <= span->last; i += step) into.set(static_cast<size_t>(i));
  return {};
}

}  // namespace

bool same_word(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lowered(a) == lowered(b); });
}

std::string_view expand(std::string_view text, std::span<const Shorthand> shorthands) {
  for (const Shorthand& each : shorthands) {
    if (same_word(text, each.word)) return each.means;
  }
  return text;
}

Result<Numbers> parse_numbers(std::string_view text, const NumbersForm& form) {
  Numbers numbers;
  for (const std::string_view part : split(text, ',')) {
    if (auto ok = add_part(part, form, numbers); !ok) return tl::unexpected(ok.error());
  }
  return numbers;
}

}  // namespace atl::spec
