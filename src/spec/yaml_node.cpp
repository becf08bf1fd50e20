#include "spec/yaml_node.h"

#include <yaml.h>

#include <algorithm>
#include <map>

namespace atl::spec::yaml {
namespace {

Mark mark_of(const yaml_mark_t& mark) {
  return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

std::string_view view(const yaml_char_t* text, size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

bool says_nothing(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

constexpr const char* kShouldEnd =
    "the file should end here: what follows does not belong to what is above, such as a second "
    "document or a bracket too many";

// What libyaml says that people would not know what to do about.
const std::map<std::string, std::string> kInOtherWords = {
    {"did not find expected <document start>", kShouldEnd},
    {"found character that cannot start any token",
     "no value can begin with this character: quote it, and indent with spaces, not tabs"},
    {"did not find expected node content", "expected a value here, or a bracket that closes"},
    {"did not find expected ',' or ']'", "expected a comma here, or the bracket ] that closes"},
    {"did not find expected ',' or '}'", "expected a comma here, or the bracket } that closes"},
    {"did not find expected key", "expected a key here: is it indented as those before it?"},
    {"mapping values are not allowed in this context",
     "a key cannot stand here: check the indentation, or quote a text that has a colon in it"},
};

class Parser {
 public:
  explicit Parser(std::string_view text) {
    if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  ~Parser() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // The next event; it is there until the next call.
  const yaml_event_t& next() {
    yaml_event_delete(&event_);
    if (!yaml_parser_parse(&parser_, &event_)) fail();
    return event_;
  }

 private:
  [[noreturn]] void fail() const {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const std::string problem = parser_.problem ? parser_.problem : "this is no YAML";
    const auto known = kInOtherWords.find(problem);
    throw Wrong{mark_of(parser_.problem_mark),
                known == kInOtherWords.end() ? problem : known->second};
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

}  // namespace

// Turns events into the document's lists.
class Builder {
 public:
  Builder(Document& document, int depth_max) : document_(document), depth_max_(depth_max) {}

  // False at the end of the file.
  bool take(const yaml_event_t& event) {
    using Kind = Document::Kind;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (document_.root_) throw Wrong{mark_of(event.start_mark), kShouldEnd};
        break;
      case YAML_SCALAR_EVENT:
        add_scalar(event);
        break;
      case YAML_ALIAS_EVENT:
        add_alias(event);
        break;
      case YAML_SEQUENCE_START_EVENT:
        open(Kind::sequence, event, event.data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        open(Kind::map, event, event.data.mapping_start.anchor);
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        close();
        break;
      default:
        break;
    }
    return event.type != YAML_STREAM_END_EVENT;
  }

 private:
  struct Open {
    uint32_t item = 0;
    uint32_t last = 0;  // child so far
    std::string anchor;
  };

  uint32_t add(Document::Kind kind, const yaml_event_t& event) {
    const auto at = static_cast<uint32_t>(document_.items_.size());
    document_.items_.push_back({.kind = kind, .mark = mark_of(event.start_mark)});
    if (open_.empty()) {
      document_.root_ = at;
      return at;
    }
    Open& parent = open_.back();
    (parent.last ? document_.items_[parent.last].next : document_.items_[parent.item].first) = at;
    parent.last = at;
    return at;
  }
  void add_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const std::string_view text = view(scalar.value, scalar.length);
    const bool null = scalar.style == YAML_PLAIN_SCALAR_STYLE && says_nothing(text);
    const uint32_t at = add(null ? Document::Kind::null : Document::Kind::scalar, event);
    document_.items_[at].text = static_cast<uint32_t>(document_.texts_.size());
    document_.items_[at].size = static_cast<uint32_t>(text.size());
    document_.items_[at].block =
        scalar.style == YAML_LITERAL_SCALAR_STYLE || scalar.style == YAML_FOLDED_SCALAR_STYLE;
    document_.items_[at].quoted = scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                                  scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    document_.texts_ += text;
    if (scalar.anchor) anchors_[reinterpret_cast<const char*>(scalar.anchor)] = at;
  }
  void add_alias(const yaml_event_t& event) {
    const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
    const auto known = anchors_.find(name);
    if (known == anchors_.end())
      throw Wrong{mark_of(event.start_mark), "nothing before this is marked with &" + name};
    const uint32_t target = known->second;
    document_.items_[add(Document::Kind::alias, event)].first = target;
  }
  // What is inside cannot stand for the whole: the anchor holds from its end on.
  void open(Document::Kind kind, const yaml_event_t& event, const yaml_char_t* anchor) {
    if (static_cast<int>(open_.size()) >= depth_max_)
      throw Wrong{mark_of(event.start_mark), "nested too deep"};
    const uint32_t at = add(kind, event);
    open_.push_back({at, 0, anchor ? reinterpret_cast<const char*>(anchor) : ""});
  }
  void close() {
    if (!open_.back().anchor.empty()) anchors_[open_.back().anchor] = open_.back().item;
    open_.pop_back();
  }

  Document& document_;
  const int depth_max_;
  std::vector<Open> open_;
  std::map<std::string, uint32_t> anchors_;
};

std::string to_string(Mark mark) {
  return std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

Document::Document(std::string_view text, const Bounds& bounds) : values_left_(bounds.values) {
  Parser parser(text);
  Builder builder(*this, bounds.depth);
  while (builder.take(parser.next())) {
  }
}

void Document::spend(uint32_t at) const {
  if (values_left_ == 0)
    throw Wrong{items_[at].mark, "the file holds too many values; write fewer, or no aliases"};
  --values_left_;
}

Node::Node(const Document& document, uint32_t at) : document_(&document), at_(at) {
  if (document.items_[at].kind == Document::Kind::alias) at_ = document.items_[at].first;
}

bool Node::is_null() const { return document_->items_[at_].kind == Document::Kind::null; }
bool Node::is_scalar() const { return document_->items_[at_].kind == Document::Kind::scalar; }
bool Node::is_sequence() const { return document_->items_[at_].kind == Document::Kind::sequence; }
bool Node::is_map() const { return document_->items_[at_].kind == Document::Kind::map; }
bool Node::is_quoted() const {
  return document_->items_[at_].quoted || document_->items_[at_].block;
}
std::string_view Node::text() const { return document_->text_of(document_->items_[at_]); }
Mark Node::mark() const { return document_->items_[at_].mark; }

Mark Node::mark_at(size_t byte) const {
  const Document::Item& item = document_->items_[at_];
  const std::string_view before = text().substr(0, byte);
  if (!item.block) return {item.mark.line, item.mark.column + item.quoted + static_cast<int>(byte)};
  return {item.mark.line + 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')), 1};
}

Node::Iterator Node::begin() const { return {*document_, document_->items_[at_].first}; }
Node Node::Iterator::operator*() const {
  document_->spend(at_);
  return {*document_, at_};
}
Node::Iterator& Node::Iterator::operator++() {
  at_ = document_->items_[at_].next;
  return *this;
}

}  // namespace atl::spec::yaml
