#include "spec/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>

#include <set>
#include <sstream>

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

// A first look, before anything is built: how deep it goes, and where a second document begins.
// yaml-cpp stops at the end of the first, and takes a bracket too many for one.
class Survey : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { document_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    descend(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    descend(mark);
  }
  void OnMapEnd() override { --depth_; }

  YAML::Mark document() const { return document_; }

 private:
  void descend(const YAML::Mark& mark) {
    if (++depth_ > kDepthMax) throw Wrong{mark, "nested too deep"};
  }

  YAML::Mark document_;
  int depth_ = 0;
};

void check_one_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Survey survey;
  if (!parser.HandleNextDocument(survey) || !parser.HandleNextDocument(survey)) return;
  throw Wrong{survey.document(),
              "the file should end here: what follows does not belong to what is above, such as a "
              "second document or a bracket too many"};
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
    const std::string copy(text);
    check_one_document(copy);
    read(YAML::Load(copy));
    return {};
  } catch (const Wrong& e) {
    return at(e.mark, e.message);
  } catch (const YAML::Exception& e) {
    return at(e.mark, e.msg);
  }
}

}  // namespace atl::spec::yaml
