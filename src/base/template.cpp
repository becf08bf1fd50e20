#include "base/template.h"

#include <algorithm>
#include <array>

namespace atl {
namespace {

constexpr std::array<std::string_view, 5> kRoots{"params", "env", "steps", "item", "outputs"};

bool part_of_path(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// One that opens at `at`, if it is one.
std::optional<Reference> reference_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && part_of_path(text[end])) ++end;
  if (end >= text.size() || text[end] != '}') return std::nullopt;
  const std::string_view inside = text.substr(at + 1, end - at - 1);
  const size_t dot = inside.find('.');
  const std::string_view root = inside.substr(0, dot);
  const bool known = std::find(kRoots.begin(), kRoots.end(), root) != kRoots.end();
  if (!known || (dot == std::string_view::npos && root != "item") || dot + 1 == inside.size())
    return std::nullopt;
  return Reference{at, end + 1 - at, std::string(root),
                   dot == std::string_view::npos ? "" : std::string(inside.substr(dot + 1))};
}

// Calls each(reference, escaped) from the first to the last.
template <class Fn>
void for_each_reference(std::string_view text, const Fn& each) {
  for (size_t at = text.find('{'); at != std::string_view::npos;) {
    const bool doubled = at + 1 < text.size() && text[at + 1] == '{';
    auto found = reference_at(text, doubled ? at + 1 : at);
    const size_t end = found ? found->at + found->size : 0;
    const bool escaped = found && doubled && end < text.size() && text[end] == '}';
    if (found) each(*found, escaped);
    at = text.find('{', found ? found->at + found->size : at + 1);
  }
}

}  // namespace

std::vector<Reference> references_in(std::string_view text) {
  std::vector<Reference> all;
  for_each_reference(text, [&](const Reference& each, bool escaped) {
    if (!escaped) all.push_back(each);
  });
  return all;
}

std::string expand(std::string_view text,
                   const std::function<std::optional<std::string>(const Reference&)>& value) {
  std::string out;
  size_t done = 0;
  for_each_reference(text, [&](const Reference& each, bool escaped) {
    out += text.substr(done, each.at - done - (escaped ? 1 : 0));
    const auto known = escaped ? std::nullopt : value(each);
    out += known ? *known : std::string(text.substr(each.at, each.size));
    done = each.at + each.size + (escaped ? 1 : 0);
  });
  return out += text.substr(done);
}

}  // namespace atl
