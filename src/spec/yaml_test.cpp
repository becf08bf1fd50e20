#include <gtest/gtest.h>

#include "spec/yaml_reader.h"

namespace atl::spec::yaml {
namespace {

// The document in one line: {k: v} [a, b] 'text' ~.
std::string told(const Node& node) {
  if (node.is_null()) return "~";
  if (node.is_scalar()) return "'" + std::string(node.text()) + "'";
  std::string out;
  bool key = true;
  for (const Node each : node) {
    if (!out.empty()) out += node.is_map() && !key ? ": " : ", ";
    out += told(each);
    key = !key;
  }
  return node.is_map() ? "{" + out + "}" : "[" + out + "]";
}
std::string told(std::string_view text) {
  std::string out;
  const auto read = read_yaml(text, "f", [&](const Node& root) { out = told(root); });
  return read ? out : read.error().message;
}

TEST(Yaml, IsReadAsItIsWritten) {
  EXPECT_EQ(told("a: 1\nb: [x, \"y z\", {}]\nc:\n  - ~\n  - null\n  - 'null'\n"),
            "{'a': '1', 'b': ['x', 'y z', {}], 'c': [~, ~, 'null']}");
  EXPECT_EQ(told("run: |\n  echo 1\n  echo 2\nmore: >\n  a\n  b\n"),
            "{'run': 'echo 1\necho 2\n', 'more': 'a b\n'}");
  EXPECT_EQ(told("a: &x [1, 2]\nb: *x\n"), "{'a': ['1', '2'], 'b': ['1', '2']}");
  EXPECT_EQ(told("a:\n"), "{'a': ~}");
  EXPECT_EQ(told(""), "~");
  EXPECT_EQ(told("# nothing\n"), "~");
  EXPECT_EQ(told("---\na: 1\n...\n"), "{'a': '1'}");
}

TEST(Yaml, WhatIsWrongIsToldWithItsPlace) {
  EXPECT_EQ(told("a: [1, 2\nb: 3\n").substr(0, 6), "f:2:2:");
  EXPECT_EQ(told("a: 1\n b: 2\n"),
            "f:2:3: a key cannot stand here: check the indentation, or quote a text that has a "
            "colon in it");
  EXPECT_EQ(told("a:\n\tb: 2\n").substr(0, 40), "f:2:1: no value can begin with this char");
  EXPECT_EQ(told("a: *x\n"), "f:1:4: nothing before this is marked with &x");
  EXPECT_EQ(told("a: &x [*x]\n"), "f:1:8: nothing before this is marked with &x");
  EXPECT_NE(told("a: 1\n---\nb: 2\n").find("f:2:1: the file should end here"), std::string::npos);
  EXPECT_NE(told("{a: 1}\n}\n").find("f:2:1: "), std::string::npos) << told("{a: 1}\n}\n");
  EXPECT_EQ(told(std::string(20, '[')), "f:1:17: nested too deep");
}

TEST(Yaml, PlacesAreThoseOfKeysAndValues) {
  const auto read = read_yaml("a: 1\nlist:\n  - x:  wrong here\n", "f", [](const Node& root) {
    each_entry(root, [](const std::string& key, const Node&, const Node& value) {
      if (key != "list") return;
      for (const Node item : value) read_map(item, {{"x", [](const Node& x) { boolean(x); }}});
    });
  });
  EXPECT_EQ(read.error().message, "f:3:9: expected true or false");
}

// Aliases of aliases stand for a billion values; nobody makes them, and nobody looks at all.
TEST(Yaml, ABombIsDefused) {
  std::string bomb = "a0: &a0 {k: v}\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {";
    for (int k = 0; k < 10; ++k) bomb += "k" + std::to_string(k) + ": " + before + ", ";
    bomb += "}\n";
  }
  const std::function<void(const Node&)> all = [&](const Node& node) {
    if (!node.is_map()) return;
    each_entry(node, [&](const std::string&, const Node&, const Node& value) { all(value); });
  };
  const auto read = read_yaml(bomb, "f", all);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("too many values"), std::string::npos);
}

}  // namespace
}  // namespace atl::spec::yaml
