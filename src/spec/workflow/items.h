// What a step goes through: a list, numbers, the lines of a file, a grid of values, or what an
// earlier step left. The items of a queue are another thing: queue_items.h.
//
//   [a, b]   [{lr: 0.1, layers: 2}, …]   {range: 1-100}   {file: names.txt}
//   {grid: {lr: [0.1, 0.2], layers: [2, 3]}}   "{steps.find.outputs.names}"   {output: find.names}
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spec/workflow/condition.h"

namespace atl::spec {

inline constexpr size_t kItemsBytesMax = 64 << 20;

struct Items {
  std::vector<std::string> keys;    // empty: each item is one value
  std::vector<std::string> values;  // of each item as many as there are keys
  size_t count() const { return keys.empty() ? values.size() : values.size() / keys.size(); }
};

// The text of a file that was sent along.
using FileText = std::function<Result<std::string>(const std::string& path)>;

// What is wrong with it before anything is known but its text.
[[nodiscard]] Result<void> check_for_each(const std::string& json);
// The files that it names.
std::vector<std::string> files_of(const std::string& json);

[[nodiscard]] Result<Items> items_of(const std::string& json, const Lookup& lookup,
                                     const FileText& file);

}  // namespace atl::spec
