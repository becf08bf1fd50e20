#include "spec/yaml_reader.h"

#include <set>

#include "base/amount.h"
#include "base/text.h"

namespace atl::spec::yaml {

void wrong(const Node& node, std::string message) { throw Wrong{node.mark(), std::move(message)}; }

std::string text_of(const Node& node) {
  if (!node.is_scalar()) wrong(node, "expected a single value");
  return std::string(node.text());
}

int64_t integer(const Node& node, int64_t low, int64_t high) {
  const auto value = parse_int(text_of(node));
  if (!value || *value < low || *value > high) {
    wrong(node,
          "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return *value;
}

bool boolean(const Node& node) {
  const std::string text = text_of(node);
  if (text == "true" || text == "yes") return true;
  if (text == "false" || text == "no") return false;
  wrong(node, "expected true or false");
}

void each_entry(const Node& node, const Entry& each) {
  if (!node.is_map()) wrong(node, "expected a mapping of names to values");
  std::set<std::string> seen;
  for (auto at = node.begin(); at != node.end(); ++at) {
    const Node at_key = *at;
    const std::string key = text_of(at_key);
    if (!seen.insert(key).second)
      wrong(at_key, quote(key) + " stands here twice; keep one of them");
    each(key, at_key, *++at);
  }
}

void unknown_key(const Node& at, const std::string& key, const std::vector<std::string>& known) {
  const auto meant = did_you_mean(key, known);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  wrong(at, "unknown key " + quote(key) +
                (meant ? "; did you mean " + *meant + "?" : "; known here: " + all));
}

void read_map(const Node& node, const std::map<std::string, Setter>& setters) {
  each_entry(node, [&](const std::string& key, const Node& at_key, const Node& value) {
    const auto setter = setters.find(key);
    if (setter != setters.end()) return setter->second(value);
    std::vector<std::string> known;
    for (const auto& [name, set] : setters) known.push_back(name);
    unknown_key(at_key, key, known);
  });
}

Result<void> read_yaml(std::string_view text, const std::string& file_name,
                       const std::function<void(const Node&)>& read, const Limits& limits) {
  if (text.size() > limits.bytes)
    return fail(ErrorCode::too_large,
                file_name + " is larger than " + format_bytes(static_cast<int64_t>(limits.bytes)));
  if (!valid_utf8(text)) return fail(ErrorCode::invalid, file_name + " is not UTF-8 text");
  try {
    const Document document(text, limits.bounds);
    read(document.root());
    return {};
  } catch (const Wrong& e) {
    return fail(ErrorCode::invalid, file_name + ":" + to_string(e.mark) + ": " + e.message);
  }
}

}  // namespace atl::spec::yaml
