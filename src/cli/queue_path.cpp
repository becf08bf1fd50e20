#include "cli/queue_path.h"

#include <openssl/evp.h>

#include "base/text.h"
#include "cli/log_stream.h"
#include "cli/submit.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

std::string encode_base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace

void add_queue_options(CLI::App* verb, QueueName& queue) {
  verb->add_option("NAME", queue.name, "The queue")->required();
  verb->add_option("-n,--ns", queue.ns, "The namespace it is in (the context's, or your own)")
      ->type_name("NAMESPACE");
}

Result<std::string> queues_path(Session& session, const std::string& ns) {
  if (auto api = session.api(); !api) return tl::unexpected(api.error());
  if (!ns.empty()) return "/namespaces/" + encode(ns) + "/queues";
  const auto meant = default_namespace(session);
  if (!meant) return tl::unexpected(meant.error());
  if (meant->empty())
    return fail(ErrorCode::invalid,
                "you are no member of a namespace: say which one with --ns NAMESPACE");
  return "/namespaces/" + encode(*meant) + "/queues";
}

Result<std::string> queue_path(Session& session, const QueueName& queue) {
  auto path = queues_path(session, queue.ns);
  if (!path) return path;
  return *path + "/" + encode(queue.name);
}

std::string item_body(const Json& item) {
  return item.has("base64") ? decode_base64(item.text("base64")) : item.text("body");
}

std::string item_json(const std::string& bytes, const std::string& more) {
  std::string out = "{";
  const bool text = valid_utf8(bytes);
  out += text ? "\"body\":" : "\"base64\":";
  spec::append_json_text(out, text ? bytes : encode_base64(bytes));
  return out + more + "}";
}

Result<std::string> number_list(const std::vector<std::string>& words, const char* what) {
  std::string out = "[";
  for (const std::string& word : words) {
    const auto number = parse_int(word);
    if (!number || *number < 1)
      return fail(ErrorCode::invalid, quote(word) + " is not the number of " + what);
    out += (out.size() > 1 ? "," : "") + std::to_string(*number);
  }
  return out + "]";
}

std::string text_member(const char* key, const std::string& value) {
  if (value.empty()) return {};
  std::string out = std::string(",\"") + key + "\":";
  spec::append_json_text(out, value);
  return out;
}

}  // namespace atl::cli
