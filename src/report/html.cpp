#include "report/html.h"

#include <openssl/evp.h>

#include "base/display.h"
#include "base/text.h"
#include "spec/job_spec.h"

namespace atl::report {
namespace {

std::string markup_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Not in the middle of a character: the rest of a cut one would be shown as bytes.
std::string_view start_of(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && bytes_max - end < 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end);
}

// The length of the escape sequence at the start (ECMA-48: CSI, OSC and the two-byte ones).
size_t sequence_length(std::string_view text) {
  if (text.size() < 2) return 1;
  if (text[1] == '[') {
    size_t n = 2;
    while (n < text.size() && text[n] >= 0x20 && text[n] < 0x40) ++n;
    return n < text.size() && text[n] >= 0x40 && text[n] < 0x7f ? n + 1 : n;
  }
  if (text[1] == ']') {
    size_t n = 2;
    while (n < text.size() && text[n] != '\x07' && text[n] != '\x1b' && text[n] != '\n') ++n;
    if (n < text.size() && text[n] == '\x07') return n + 1;
    return n + 1 < text.size() && text[n] == '\x1b' && text[n + 1] == '\\' ? n + 2 : n;
  }
  return text[1] >= 0x20 && text[1] < 0x7f ? 2 : 1;
}

std::string without_sequences(std::string_view log) {
  std::string out;
  out.reserve(log.size());
  while (!log.empty()) {
    const size_t plain = std::min(log.find('\x1b'), log.size());
    out.append(log.substr(0, plain));
    log.remove_prefix(plain);
    if (!log.empty()) log.remove_prefix(std::min(sequence_length(log), log.size()));
  }
  return out;
}

// "10%\r20%\r30%" -> "30%"
std::string_view last_state(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const size_t at = line.rfind('\r');
  return at == std::string_view::npos ? line : line.substr(at + 1);
}

}  // namespace

std::string escaped(std::string_view text, size_t bytes_max) {
  const std::string_view kept = start_of(text, bytes_max);
  return markup_escaped(printable(kept)) + (kept.size() < text.size() ? "…" : "");
}

std::string escaped_lines(std::string_view text, size_t bytes_max) {
  const std::string_view kept = start_of(text, bytes_max);
  return markup_escaped(printable(kept, true)) + (kept.size() < text.size() ? "\n…" : "");
}

std::string escaped_log(std::string_view log, size_t bytes_max) {
  bool whole = log.size() <= bytes_max;
  if (!whole) {
    log.remove_prefix(log.size() - bytes_max);
    const size_t line = log.find('\n');
    if (line != std::string_view::npos) log.remove_prefix(line + 1);
  }
  const std::string text = without_sequences(log);
  std::string out = whole ? "" : "…\n";
  for (const std::string_view line : split(text, '\n')) (out += last_state(line)) += '\n';
  while (out.ends_with("\n\n")) out.pop_back();
  return markup_escaped(printable(out, true));
}

std::string script_hash(std::string_view script) {
  const Digest digest = spec::sha256(script);
  unsigned char out[64];
  const int length =
      EVP_EncodeBlock(out, digest.bytes.data(), static_cast<int>(digest.bytes.size()));
  return "sha256-" + std::string(reinterpret_cast<char*>(out), static_cast<size_t>(length));
}

}  // namespace atl::report
