#include "runtime/task_payload.h"

#include <algorithm>

#include "base/template.h"
#include "base/text.h"

namespace atl::runtime {
namespace {

class Item {
 public:
  Item(const core::Payload& shared, uint32_t index) : keys_(shared.item_keys) {
    const size_t width = std::max<size_t>(1, keys_.size());
    first_ = shared.items.begin() + static_cast<std::ptrdiff_t>(index * width);
  }

  std::optional<std::string> operator()(const Reference& reference) const {
    if (reference.root != "item") return std::nullopt;
    if (reference.path.empty()) return whole();
    const auto key = std::find(keys_.begin(), keys_.end(), reference.path);
    if (key == keys_.end()) return std::nullopt;
    return *(first_ + (key - keys_.begin()));
  }
  // One value as it is, several as key=value with commas.
  std::string whole() const {
    if (keys_.empty()) return *first_;
    std::string all;
    for (size_t i = 0; i < keys_.size(); ++i)
      all += (i ? "," : "") + keys_[i] + "=" + *(first_ + static_cast<std::ptrdiff_t>(i));
    return all;
  }
  void set_variables(std::map<std::string, std::string>& env) const {
    env.emplace("ATOLL_ITEM", whole());
    for (size_t i = 0; i < keys_.size(); ++i)
      env.emplace("ATOLL_ITEM_" + variable_part(keys_[i]),
                  *(first_ + static_cast<std::ptrdiff_t>(i)));
  }

 private:
  const std::vector<std::string>& keys_;
  std::vector<std::string>::const_iterator first_;
};

}  // namespace

core::Payload payload_of_task(core::Payload& shared, uint32_t index) {
  // There may be a million items, and this is done for each of them.
  std::vector<std::string> items = std::move(shared.items);
  core::Payload own = shared;
  shared.items = std::move(items);
  const size_t width = std::max<size_t>(1, shared.item_keys.size());
  if ((index + size_t{1}) * width > shared.items.size()) return own;
  const Item item(shared, index);
  const auto fill = [&](std::string& text) {
    if (text.find("{item") != std::string::npos) text = expand(text, item);
  };
  for (std::string& each : own.argv) fill(each);
  for (std::string& each : own.args) fill(each);
  for (auto& [key, value] : own.env) fill(value);
  for (std::string* text : {&own.script, &own.directory, &own.stdin_text, &own.stdin_file})
    fill(*text);
  item.set_variables(own.env);
  return own;
}

}  // namespace atl::runtime
