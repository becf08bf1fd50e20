#include "spec/yaml_reader.h"

#include <set>

#include "base/text.h"

namespace atl::spec::yaml {
namespace {

thread_local size_t values_left = 0;  // of the file that is being read on this thread

void spend(const YAML::Node& node) {
  if (values_left == 0) wrong(node, "the file holds too many values; write fewer, or no aliases");
  --values_left;
}

std::string in_words(const std::map<std::string, Setter>& setters) {
  std::string out;
  for (const auto& [name, set] : setters) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

void wrong(const YAML::Node& node, std::string message) {
  throw Wrong{node.Mark(), std::move(message)};
}

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

std::string text_of(const YAML::Node& node) {
  if (!node.IsScalar()) wrong(node, "expected a single value");
  return node.Scalar();
}

int64_t integer(const YAML::Node& node, int64_t low, int64_t high) {
  const auto value = parse_int(text_of(node));
  if (!value || *value < low || *value > high) {
    wrong(node,
          "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return *value;
}

bool boolean(const YAML::Node& node) {
  const std::string text = text_of(node);
  if (text == "true" || text == "yes") return true;
  if (text == "false" || text == "no") return false;
  wrong(node, "expected true or false");
}

void each_entry(const YAML::Node& node, const Entry& each) {
  if (!node.IsMap()) wrong(node, "expected a mapping of names to values");
  std::set<std::string> seen;
  for (const auto& entry : node) {
    spend(entry.first);
    const std::string key = text_of(entry.first);
    if (!seen.insert(key).second)
      wrong(entry.first, quote(key) + " stands here twice; keep one of them");
    each(key, entry.first, entry.second);
  }
}

void read_map(const YAML::Node& node, const std::map<std::string, Setter>& setters) {
  each_entry(node, [&](const std::string& key, const YAML::Node& at_key, const YAML::Node& value) {
    const auto setter = setters.find(key);
    if (setter != setters.end()) return setter->second(value);
    std::vector<std::string> known;
    for (const auto& [name, set] : setters) known.push_back(name);
    const auto meant = did_you_mean(key, known);
    wrong(at_key,
          "unknown key " + quote(key) +
              (meant ? "; did you mean " + *meant + "?" : "; known here: " + in_words(setters)));
  });
}

Result<void> read_yaml(std::string_view text, const std::string& file_name,
                       const std::function<void(const YAML::Node&)>& read) {
  const auto at = [&](const YAML::Mark& mark, const std::string& message) {
    return fail(ErrorCode::invalid,
                file_name + ":" + std::to_string(mark.line + 1) + ": " + message);
  };
  if (text.size() > kFileBytesMax)
    return fail(ErrorCode::too_large, file_name + " is larger than 1 MiB");
  if (!valid_utf8(text)) return fail(ErrorCode::invalid, file_name + " is not UTF-8 text");
  values_left = kValuesMax;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1)
      wrong(documents[1], "a second document begins here; write one file for each");
    read(documents.empty() ? YAML::Node() : documents.front());
    return {};
  } catch (const Wrong& e) {
    return at(e.mark, e.message);
  } catch (const YAML::Exception& e) {
    return at(e.mark, e.msg);
  }
}

}  // namespace atl::spec::yaml
