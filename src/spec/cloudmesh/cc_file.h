// A workflow of the Cloudmesh compute coordinator (cc): nodes, what they wait for, and colours.
// Both of its forms are read, the one that people write (dependencies as "start,fetch,end") and the
// one that cc saves (dependencies as a map, nodes with parents and state). Reading finds every
// mistake before anything starts, with file, line and column.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "spec/yaml_node.h"

namespace atl::spec::cc {

inline constexpr size_t kCcBytesMax = 64 << 20;
inline constexpr size_t kCcNodesMax = 200'000;  // as many as steps of our own files
inline constexpr size_t kCcEdgesMax = 1'000'000;
inline constexpr size_t kCcTextMax = 128 << 20;  // bytes in all: aliases repeat what they stand for
inline constexpr size_t kCcKeyMax = 128;         // bytes of an attribute's name
inline constexpr size_t kCcNestedMax = 1'000'000;  // values inside of attributes
inline constexpr int kCcDepthMax = 16;             // of an attribute's value
inline constexpr size_t kCcWarningsMax = 20;
inline constexpr size_t kCcNameMax = 63;

// Where something is written; no part of what it says.
struct Place {
  yaml::Mark mark;
  bool operator==(const Place&) const { return true; }
};

// One that cc has no meaning for, kept as it is.
struct CcAttribute {
  std::string name;
  std::string text;  // of a single value
  std::string json;  // of any value
  bool operator==(const CcAttribute&) const = default;
};

// With cc's defaults filled in. What is empty was not given.
struct CcNode {
  std::string name;
  std::string user;
  std::string host;
  std::string label;
  std::string label_format;
  std::string format;
  std::string kind = "local";
  std::string status = "ready";
  int progress = 0;
  std::string script;
  std::string exec;
  std::string pid;
  std::string venv;
  std::string shape;
  std::string style;
  std::string created;
  std::string modified;
  uint32_t number = 0;
  bool marker = false;  // without its script it is no mistake: it only stands between others
  std::vector<CcAttribute> extra;
  std::vector<uint32_t> parents;  // by their place among the nodes
  Place place;
  bool operator==(const CcNode&) const = default;
};

using CcColors = std::vector<std::pair<std::string, std::string>>;

struct CcWorkflow {
  std::string name;           // of the file, without its ending
  std::vector<CcNode> nodes;  // in the order of the file, then those that only dependencies name
  CcColors colors;            // by status
  bool operator==(const CcWorkflow&) const = default;
};

struct CcFile {
  CcWorkflow workflow;
  std::string file;
  std::vector<std::string> warnings;  // "flood.yaml:3:5: …"
};

// Whether it is a file for parse_cc rather than one of our own: workflow: with nodes or
// dependencies in it.
bool looks_like_cc(const yaml::Node& root);
bool looks_like_cc(std::string_view text);

[[nodiscard]] Result<CcFile> parse_cc(std::string_view text, const std::string& file_name);

// Names become directories and addresses: 1 to 63 of A-Z a-z 0-9 . _ -, not beginning with . or -.
[[nodiscard]] Result<void> check_cc_name(std::string_view name);

// In an order in which each comes after its parents; shorter than the nodes when there is none.
std::vector<uint32_t> in_order(const CcWorkflow& workflow);

// Nodes that wait for each other, each for the next one; `order` is what in_order gave.
std::vector<uint32_t> find_cycle(const CcWorkflow& workflow, const std::vector<uint32_t>& order);
std::string told(const CcWorkflow& workflow,
                 const std::vector<uint32_t>& cycle);  // "a after b after a"

// The defaults of what follows from its name and its other attributes.
void fill_in(CcNode& node);

CcColors default_colors();

// As a graph draws it: cc has no style for an empty one.
std::string_view drawn_style(const CcNode& node);

}  // namespace atl::spec::cc
