#include "http/multipart.h"

#include <optional>

#include "base/text.h"
#include "http/message.h"

namespace atl::http {
namespace {

constexpr std::size_t kBoundaryMax = 70;  // RFC 2046

tl::unexpected<Error> refuse(const char* why) {
  return fail(ErrorCode::invalid, std::string("the multipart body ") + why);
}

// The parameter of a header's value, with or without quotes: name="fetch.yaml".
std::optional<std::string> parameter(std::string_view value, std::string_view name) {
  std::size_t at = value.find(';');
  while (at != std::string_view::npos && at < value.size()) {
    ++at;
    const std::size_t equals = value.find('=', at);
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = trim(value.substr(at, equals - at));
    std::string text;
    at = equals + 1;
    if (at < value.size() && value[at] == '"') {
      for (++at; at < value.size() && value[at] != '"'; ++at) {
        const bool escaped = value[at] == '\\' && at + 1 < value.size() &&
                             (value[at + 1] == '"' || value[at + 1] == '\\');
        text += value[at += escaped ? 1 : 0];
      }
      at = value.find(';', std::min(at, value.size()));
    } else {
      const std::size_t end = std::min(value.find(';', at), value.size());
      text = trim(value.substr(at, end - at));
      at = end;
    }
    if (equals_ignoring_case(key, name)) return text;
  }
  return std::nullopt;
}

Result<Part> read_head(std::string_view head) {
  Part part;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos ||
        !equals_ignoring_case(trim(line.substr(0, colon)), "Content-Disposition"))
      continue;
    part.name = parameter(line.substr(colon + 1), "name").value_or("");
    part.file_name = parameter(line.substr(colon + 1), "filename").value_or("");
  }
  if (part.name.empty()) return refuse("has a part without a name");
  return part;
}

}  // namespace

bool is_multipart(std::string_view content_type) {
  return equals_ignoring_case(trim(content_type.substr(0, content_type.find(';'))),
                              "multipart/form-data");
}

Result<std::vector<Part>> parse_multipart(std::string_view content_type, std::string_view body) {
  const auto boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kBoundaryMax)
    return refuse("has no boundary in its Content-Type");
  const std::string mark = "--" + *boundary;
  std::size_t at = body.starts_with(mark) ? 0 : body.find("\r\n" + mark);
  if (at == std::string_view::npos) return refuse("does not have its boundary in it");
  at += mark.size() + (body.starts_with(mark) ? 0 : 2);
  std::vector<Part> parts;
  while (!body.substr(at).starts_with("--")) {
    if (!body.substr(at).starts_with("\r\n")) return refuse("has more on the line of a boundary");
    if (parts.size() == kPartsMax) return refuse("has more than 64 parts");
    // A part may be without headers; its empty line is then the one behind the boundary.
    const std::size_t head_end = body.find("\r\n\r\n", at);
    if (head_end == std::string_view::npos || head_end - at > kPartHeadMax)
      return refuse("has a part whose headers do not end");
    const std::size_t head_at = std::min(at + 2, head_end);
    auto part = read_head(body.substr(head_at, head_end - head_at));
    if (!part) return tl::unexpected(part.error());
    const std::size_t begin = head_end + 4;
    // The line end before the boundary belongs to it; of an empty part it is the head's own.
    const std::size_t end = body.find("\r\n" + mark, head_end + 2);
    if (end == std::string_view::npos) return refuse("ends within a part");
    part->body = end < begin ? std::string_view() : body.substr(begin, end - begin);
    parts.push_back(std::move(*part));
    at = end + 2 + mark.size();
  }
  return parts;
}

}  // namespace atl::http
