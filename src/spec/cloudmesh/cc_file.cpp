#include "spec/cloudmesh/cc_file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "spec/cloudmesh/cc_text.h"
#include "spec/cloudmesh/names.h"
#include "spec/yaml_reader.h"

namespace atl::spec::cc {
namespace {

using yaml::Node;
using yaml::wrong;

constexpr std::array<std::string_view, 5> kKinds = {"local", "ssh", "slurm", "wsl", "lsf"};
constexpr std::array<std::string_view, 7> kStatuses = {
    "ready", "running", "done", "failed", "undefined", "submitted", "completed"};

template <class Words>
bool one_of(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class CcReader {
 public:
  explicit CcReader(const std::string& file) : file_(file) {}

  CcFile read(const Node& root) {
    if (!looks_like_cc(root))
      wrong(root, "a Cloudmesh workflow has workflow: with nodes: or dependencies: in it");
    std::optional<Node> nodes, dependencies;
    yaml::each_entry(root, [&](const std::string& key, const Node& at, const Node& value) {
      if (key == "workflow") {
        yaml::each_entry(value, [&](const std::string& part, const Node& where, const Node& node) {
          if (part == "nodes") {
            nodes = node;
          } else if (part == "dependencies") {
            dependencies = node;
          } else if (part != "layout") {
            warn(where.mark(), quote(part) + " has no meaning in a workflow");
          }
        });
      } else if (key == "colors") {
        read_colors(value);
      } else {
        warn(at.mark(), quote(key) + " has no meaning beside workflow and colors");
      }
    });
    if (nodes && !nodes->is_null()) read_nodes(*nodes);
    link_parents();
    if (dependencies) read_dependencies(*dependencies);
    finish(root);
    return std::move(out_);
  }

 private:
  CcWorkflow& workflow() { return out_.workflow; }

  void warn(yaml::Mark mark, const std::string& message) {
    if (out_.warnings.size() < kCcWarningsMax)
      out_.warnings.push_back(file_ + ":" + to_string(mark) + ": " + message);
  }

  // Every text of the file goes through here.
  std::string counted(const Node& node) {
    const std::string_view text = node.text();
    if (text.size() > text_left_) wrong(node, "the file holds too much text; write no aliases");
    text_left_ -= text.size();
    return std::string(text);
  }
  std::string text(const Node& node, std::string_view what) {
    if (node.is_null()) return "";
    if (!node.is_scalar()) wrong(node, std::string(what) + " must be a single value");
    return counted(node);
  }
  // One that ends up in a command, a path or an address.
  std::string line(const Node& node, std::string_view what) {
    std::string value = text(node, what);
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(value.begin(), value.end(), control))
      wrong(node, std::string(what) + " has a control character in it; write it on one line");
    return value;
  }
  std::string name_of(const Node& node) {
    std::string name = text(node, "a node's name");
    if (auto ok = check_cc_name(name); !ok) wrong(node, ok.error().message);
    return name;
  }

  void read_colors(const Node& node) {
    if (node.is_null()) return;
    yaml::each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      if (key != "status") return warn(at.mark(), "only colors of status have a meaning");
      if (value.is_null()) return;
      yaml::each_entry(value, [&](const std::string& status, const Node& where, const Node& color) {
        check_key(where, status);
        workflow().colors.emplace_back(status, line(color, "a color"));
      });
    });
  }
  static void check_key(const Node& at, const std::string& key) {
    if (key.size() > kCcKeyMax)
      wrong(at, "this name is longer than " + std::to_string(kCcKeyMax) + " bytes");
  }

  void read_nodes(const Node& node) {
    yaml::each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      CcNode read;
      read.place = {at.mark()};
      std::optional<Node> named;
      const size_t place = workflow().nodes.size();
      if (!value.is_null()) read_node(value, read, named, place);
      if (!named) {
        read.name = name_of(at);
      } else {
        read.name = name_of(*named);
        if (read.name != key)
          warn(named->mark(), "the node " + quote(key) + " goes by its name, " + quote(read.name));
      }
      if (places_.count(read.name))
        wrong(named ? *named : at, "there are two nodes " + quote(read.name) + "; rename one");
      add(std::move(read));
    });
  }
  uint32_t add(CcNode node) {
    if (workflow().nodes.size() >= kCcNodesMax)
      throw yaml::Wrong{node.place.mark, "more than " + std::to_string(kCcNodesMax) + " nodes"};
    const auto place = static_cast<uint32_t>(workflow().nodes.size());
    places_.emplace(node.name, place);
    workflow().nodes.push_back(std::move(node));
    return place;
  }

  void read_node(const Node& node, CcNode& to, std::optional<Node>& named, size_t place) {
    static const std::map<std::string_view, std::string CcNode::*> lines = {
        {"user", &CcNode::user},       {"host", &CcNode::host},        {"script", &CcNode::script},
        {"pid", &CcNode::pid},         {"venv", &CcNode::venv},        {"shape", &CcNode::shape},
        {"created", &CcNode::created}, {"modified", &CcNode::modified}};
    static const std::map<std::string_view, std::string CcNode::*> texts = {
        {"label", &CcNode::label},
        {"label_format", &CcNode::label_format},
        {"format", &CcNode::format},
        {"exec", &CcNode::exec}};
    yaml::each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      if (key == "name") {
        if (!value.is_null()) named = value;
      } else if (const auto a_line = lines.find(key); a_line != lines.end()) {
        to.*a_line->second = line(value, key);
      } else if (const auto a_text = texts.find(key); a_text != texts.end()) {
        to.*a_text->second = text(value, key);
      } else if (key == "style") {
        to.style = line(value, key);
        if (!value.is_null()) styled_.insert(place);
      } else if (!read_state(key, value, to, place)) {
        check_key(at, key);
        to.extra.push_back(attribute(key, value));
      }
    });
    if (to.exec.find('\0') != std::string::npos) wrong(node, "exec has a control character in it");
  }
  bool read_state(const std::string& key, const Node& value, CcNode& to, size_t place) {
    if (key == "kind") {
      if (!value.is_null()) to.kind = line(value, key);
      if (!one_of(kKinds, to.kind))
        warn(value.mark(),
             "kind " + quote(to.kind) +
                 " is none of local, ssh, slurm, wsl, lsf: it runs here, as local does");
    } else if (key == "status") {
      if (!value.is_null()) to.status = line(value, key);
      if (!one_of(kStatuses, to.status))
        warn(value.mark(),
             "status " + quote(to.status) + " is none of cc's: it counts as undefined");
    } else if (key == "progress") {
      if (!value.is_null()) to.progress = static_cast<int>(yaml::integer(value, 0, 100));
    } else if (key == "number") {
      if (value.is_null()) return true;
      to.number = static_cast<uint32_t>(yaml::integer(value, 0, 1'000'000'000));
      numbered_.insert(place);
    } else if (key == "marker") {
      if (value.is_null()) return true;
      to.marker = yaml::boolean(value);
      marked_.insert(place);
    } else if (key == "parent") {
      read_parents(value, place);
    } else {
      return false;
    }
    return true;
  }
  CcAttribute attribute(const std::string& key, const Node& value) {
    CcAttribute made{key, "", json(value)};
    if (value.is_scalar()) made.text = counted(value);
    return made;
  }
  std::string json(const Node& node, int depth = 0) {
    // Aliases of aliases can be deeper than what is written.
    if (depth > kCcDepthMax) wrong(node, "nested too deep");
    if (depth > 0 && nested_left_-- == 0) wrong(node, "too many values inside of attributes");
    if (node.is_null()) return "null";
    if (node.is_scalar()) return json_scalar(counted(node));
    std::string out = node.is_map() ? "{" : "[";
    const char* comma = "";
    if (node.is_map()) {
      yaml::each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
        check_key(at, key);
        (((out += std::exchange(comma, ", ")) += double_quoted(key)) += ": ") +=
            json(value, depth + 1);
      });
    } else {
      for (const Node each : node) (out += std::exchange(comma, ", ")) += json(each, depth + 1);
    }
    return out += node.is_map() ? "}" : "]";
  }

  // A name somewhere else than at its node, with the place where it stands.
  struct Mention {
    std::string name;
    yaml::Mark mark;
  };
  std::vector<Mention> mentions(const Node& node, std::string_view what) {
    const std::string written = text(node, what);
    const auto names = expand_parts(written);
    if (!names) throw yaml::Wrong{node.mark_at(names.error().at), names.error().message};
    // Of a text of many lines the place of a name is not looked for: each would count all lines.
    const bool one_line = written.find('\n') == std::string::npos;
    std::vector<Mention> found;
    found.reserve(names->size());
    for (const Name& name : *names) {
      found.push_back({name.text, one_line ? node.mark_at(name.at) : node.mark()});
      if (auto ok = check_cc_name(name.text); !ok)
        throw yaml::Wrong{node.mark_at(name.at), ok.error().message};
    }
    return found;
  }

  void read_parents(const Node& node, size_t place) {
    const auto take = [&](const Node& each) {
      for (Mention& parent : mentions(each, "parent"))
        parents_.emplace_back(static_cast<uint32_t>(place), std::move(parent));
      if (parents_.size() > kCcEdgesMax) refuse_edges(each.mark());
    };
    if (node.is_null()) return;
    if (node.is_scalar()) return take(node);
    if (!node.is_sequence()) wrong(node, "parent must be a list of nodes");
    for (const Node each : node) take(each);
  }
  // Once all nodes are known.
  void link_parents() {
    for (const auto& [place, parent] : parents_) {
      const auto known = places_.find(parent.name);
      if (known == places_.end()) refuse_parent(place, parent);
      connect(known->second, place, parent.mark);
    }
  }
  [[noreturn]] void refuse_parent(uint32_t place, const Mention& parent) {
    std::vector<std::string> known;
    for (const CcNode& node : workflow().nodes) {
      if (known.size() < 1000) known.push_back(node.name);
    }
    const auto meant = did_you_mean(parent.name, known);
    throw yaml::Wrong{parent.mark, "the parent " + quote(parent.name) + " of " +
                                       quote(workflow().nodes[place].name) + " is no node" +
                                       (meant ? "; did you mean " + *meant + "?" : "")};
  }

  void connect(uint32_t from, uint32_t to, yaml::Mark mark) {
    if (++edges_ > kCcEdgesMax) refuse_edges(mark);
    const uint64_t edge = uint64_t{from} << 32 | to;
    if (known_edges_.insert(edge).second) workflow().nodes[to].parents.push_back(from);
  }
  [[noreturn]] static void refuse_edges(yaml::Mark mark) {
    throw yaml::Wrong{mark, "more than " + std::to_string(kCcEdgesMax) + " dependencies"};
  }
  uint32_t mentioned(const Mention& mention) {
    const auto known = places_.find(mention.name);
    if (known != places_.end()) return known->second;
    CcNode node;
    node.name = mention.name;
    node.marker = true;
    node.place = {mention.mark};
    return add(std::move(node));
  }

  void read_dependencies(const Node& node) {
    if (node.is_null()) return;
    if (node.is_map()) return read_edges(node);
    if (node.is_scalar()) return read_chain(node);
    for (const Node each : node) {
      if (!each.is_scalar()) wrong(each, "expected names with commas between them: a,b,c");
      read_chain(each);
    }
  }
  void read_chain(const Node& node) {
    std::optional<uint32_t> before;
    std::unordered_set<uint32_t> seen;
    for (const Mention& mention : mentions(node, "a dependency")) {
      const uint32_t at = mentioned(mention);
      if (!seen.insert(at).second)
        throw yaml::Wrong{
            mention.mark,
            quote(mention.name) + " stands twice in this chain and would wait for itself"};
      if (before) connect(*before, at, mention.mark);
      before = at;
    }
  }
  // "fetch-train": {source: fetch, destination: train, name: fetch-train}
  void read_edges(const Node& node) {
    yaml::each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
      std::optional<Node> source, destination;
      yaml::each_entry(value, [&](const std::string& end, const Node&, const Node& name) {
        if (end == "source") source = name;
        if (end == "destination") destination = name;
      });
      if (!source || !destination)
        wrong(at, "the dependency " + quote(key) + " needs source and destination");
      const uint32_t from = mentioned({name_of(*source), source->mark()});
      connect(from, mentioned({name_of(*destination), destination->mark()}), at.mark());
      edge_keys_.insert(key);
    });
  }

  void finish(const Node& root) {
    if (workflow().nodes.empty()) wrong(root, "the workflow has no nodes");
    const std::vector<uint32_t> order = in_order(workflow());
    if (order.size() != workflow().nodes.size()) {
      const std::vector<uint32_t> cycle = find_cycle(workflow(), order);
      throw yaml::Wrong{workflow().nodes[cycle.front()].place.mark,
                        "these nodes wait for each other: " + told(workflow(), cycle)};
    }
    for (uint32_t i = 0; i < order.size(); ++i) {
      if (!numbered_.count(order[i])) workflow().nodes[order[i]].number = i;
    }
    std::vector<bool> followed(workflow().nodes.size());
    for (const CcNode& node : workflow().nodes) {
      for (const uint32_t parent : node.parents) followed[parent] = true;
    }
    for (size_t i = 0; i < workflow().nodes.size(); ++i) {
      CcNode& node = workflow().nodes[i];
      if (!styled_.count(i)) node.style = "filled,rounded";
      fill_in(node);
      // cc's own files hold a node for each dependency by mistake: it does nothing, and must not
      // fail.
      if (edge_keys_.count(node.name) && node.parents.empty() && !followed[i] && !marked_.count(i))
        node.marker = true;
    }
    if (workflow().colors.empty()) workflow().colors = default_colors();
  }

  const std::string& file_;
  CcFile out_;
  size_t text_left_ = kCcTextMax;
  size_t nested_left_ = kCcNestedMax;
  size_t edges_ = 0;
  std::unordered_map<std::string, uint32_t> places_;
  std::set<size_t> numbered_;
  std::set<size_t> styled_;
  std::set<size_t> marked_;  // those of which it was said whether they are markers
  std::vector<std::pair<uint32_t, Mention>> parents_;
  std::unordered_set<uint64_t> known_edges_;
  std::set<std::string> edge_keys_;
};

std::string stem(const std::string& file) {
  const size_t slash = file.rfind('/');
  const std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
  return base.substr(0, base.find('.'));
}

}  // namespace

bool looks_like_cc(const yaml::Node& root) {
  if (!root.is_map()) return false;
  const auto value_of = [](const Node& map, std::string_view key) -> std::optional<Node> {
    for (auto at = map.begin(); at != map.end(); ++at) {
      const Node name = *at;
      const Node value = *++at;
      if (name.is_scalar() && name.text() == key) return value;
    }
    return std::nullopt;
  };
  const auto workflow = value_of(root, "workflow");
  return workflow && workflow->is_map() &&
         (value_of(*workflow, "nodes") || value_of(*workflow, "dependencies"));
}

bool looks_like_cc(std::string_view text) {
  // A large file of our own is not read twice for it.
  const auto says = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  if (!says("workflow") || (!says("nodes") && !says("dependencies"))) return false;
  bool looks = false;
  const auto ok =
      yaml::read_yaml(text, "", [&](const Node& root) { looks = looks_like_cc(root); },
                      {.bytes = kCcBytesMax, .bounds = {.depth = 32, .values = 20'000'000}});
  return ok && looks;
}

Result<CcFile> parse_cc(std::string_view text, const std::string& file_name) {
  CcFile file;
  auto ok = yaml::read_yaml(text, file_name,
                            [&](const Node& root) { file = CcReader(file_name).read(root); },
                            {.bytes = kCcBytesMax, .bounds = {.depth = 32, .values = 20'000'000}});
  if (!ok) return tl::unexpected(ok.error());
  file.file = file_name;
  file.workflow.name = stem(file_name);
  return file;
}

}  // namespace atl::spec::cc
