#include "base/ids.h"

#include "base/text.h"

namespace atl {

std::string to_string(JobId id) { return std::to_string(id.value); }
std::string to_string(WorkflowId id) { return std::to_string(id.value); }

std::string to_string(TaskId id, bool array) {
  return array ? to_string(id.job) + "[" + std::to_string(id.index) + "]" : to_string(id.job);
}

std::string to_string(AttemptId id, bool array) {
  return to_string(id.task(), array) + "." + std::to_string(id.attempt);
}

Result<Selector> parse_selector(std::string_view text) {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid,
                quote(text) + " is not a job: write an id such as 12, or 12[7] for a task", "id");
  };
  Selector selector;
  std::string_view number = text;
  if (const size_t open = text.find('['); open != std::string_view::npos) {
    if (text.back() != ']') return refuse();
    const auto index = parse_int(text.substr(open + 1, text.size() - open - 2));
    if (!index || *index < 0 || *index > UINT32_MAX) return refuse();
    selector.has_index = true;
    selector.index = static_cast<uint32_t>(*index);
    number = text.substr(0, open);
  }
  const auto job = parse_int(number);
  if (!job || *job <= 0) return refuse();
  selector.job.value = static_cast<uint64_t>(*job);
  return selector;
}

std::string to_hex(const Digest& digest) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(64);
  for (const uint8_t byte : digest.bytes) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

Result<Digest> parse_digest(std::string_view hex) {
  const auto nibble = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  Digest digest;
  bool ok = hex.size() == 64;
  for (size_t i = 0; ok && i < 32; ++i) {
    const int high = nibble(hex[2 * i]);
    const int low = nibble(hex[2 * i + 1]);
    ok = high >= 0 && low >= 0;
    digest.bytes[i] = static_cast<uint8_t>(high << 4 | (low & 15));
  }
  if (!ok) return fail(ErrorCode::invalid, quote(hex) + " is not a SHA-256 in 64 hex digits");
  return digest;
}

}  // namespace atl
