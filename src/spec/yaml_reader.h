// Reads the YAML files that people write: every mistake is an Error "file:line:column: what, and
// what to write instead". Functions here throw Wrong, which read_yaml() turns into that Error; they
// are meant to be called inside it only.
//
// Bounded: the size of the file, its depth, and how many values are looked at in all, so that
// aliases of aliases cannot grow.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/yaml_node.h"

namespace atl::spec::yaml {

struct Limits {
  size_t bytes = 1 << 20;
  Bounds bounds = {};  // a file of 1 MiB without aliases has fewer values; ours nest four deep
};

[[noreturn]] void wrong(const Node& node, std::string message);

std::string text_of(const Node& node);
int64_t integer(const Node& node, int64_t low, int64_t high);
bool boolean(const Node& node);

template <class T>
T checked(const Node& node, const Result<T>& parsed) {
  if (!parsed) wrong(node, parsed.error().message);
  return *parsed;
}

// Calls `each` for every entry of a mapping; a key that stands twice is refused.
using Entry = std::function<void(const std::string& key, const Node& at_key, const Node& value)>;
void each_entry(const Node& node, const Entry& each);

// Names the key together with what may have been meant.
[[noreturn]] void unknown_key(const Node& at, const std::string& key,
                              const std::vector<std::string>& known);

// Calls the setter of each key; an unknown one is refused.
using Setter = std::function<void(const Node&)>;
void read_map(const Node& node, const std::map<std::string, Setter>& setters);

// Reads one document. `read` is given its root, which is null for an empty file.
[[nodiscard]] Result<void> read_yaml(std::string_view text, const std::string& file_name,
                                     const std::function<void(const Node&)>& read,
                                     const Limits& limits = {});

}  // namespace atl::spec::yaml
