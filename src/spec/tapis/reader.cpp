#include "spec/tapis/reader.h"

#include <algorithm>

#include "spec/fields_json.h"

namespace atl::spec::tapis {

std::string shown_json(const json::value& value) {
  std::string text = json::serialize(value);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return valid_utf8(text) ? text : quote(text);
}

std::string At::text() const {
  if (!value_->is_string()) wrong("must be a text and is " + std::string(word_for(*value_)));
  const std::string_view text = value_->as_string();
  if (text.find('\0') != std::string_view::npos)
    wrong("has a byte of zero, which no program takes");
  return std::string(text);
}

bool At::flag() const {
  if (!value_->is_bool()) wrong("must be true or false and is " + shown_json(*value_));
  return value_->as_bool();
}

int64_t At::integer(int64_t low, int64_t high) const {
  boost::system::error_code inexact;
  const auto number = value_->to_number<int64_t>(inexact);
  if (inexact || number < low || number > high)
    wrong("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
          " and is " + shown_json(*value_));
  return number;
}

std::string At::choice(std::initializer_list<std::string_view> words) const {
  const std::string word = text();
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  std::string all;
  for (const std::string_view each : words) all += (all.empty() ? "" : ", ") + std::string(each);
  wrong("is " + quote(word) + "; there are " + all);
}

const json::object& At::object() const {
  if (!value_->is_object()) wrong("must be an object and is " + std::string(word_for(*value_)));
  return value_->as_object();
}

std::optional<At> At::find(std::string_view name) const {
  const json::value* member = object().if_contains(name);
  if (!member || member->is_null()) return std::nullopt;
  return At(*member, (path_.empty() ? "" : path_ + ".") + std::string(name));
}

At At::need(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  tapis::wrong((path_.empty() ? "" : path_ + ".") + std::string(name), "is missing");
}

std::string At::text_or(std::string_view name, std::string fallback) const {
  const auto found = find(name);
  return found ? found->text() : fallback;
}

bool At::flag_or(std::string_view name, bool fallback) const {
  const auto found = find(name);
  return found ? found->flag() : fallback;
}

void At::each_member(
    const std::function<void(const std::string& key, const At& member)>& fn) const {
  for (const auto& entry : object()) {
    const std::string key(entry.key());
    const std::string shown = valid_utf8(key) && key.size() <= 64 ? key : quote(key);
    fn(key, At(entry.value(), (path_.empty() ? "" : path_ + ".") + shown));
  }
}

void At::each_item(const std::function<void(const At& item)>& fn) const {
  if (!value_->is_array()) wrong("must be a list and is " + std::string(word_for(*value_)));
  size_t index = 0;
  for (const json::value& each : value_->as_array())
    fn(At(each, path_ + "[" + std::to_string(index++) + "]"));
}

void At::check_keys(std::initializer_list<const char*> known) const {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& entry : object()) {
    const std::string key(entry.key());
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    if (const auto meant = did_you_mean(key, names))
      wrong("unknown key " + quote(key) + "; did you mean " + *meant + "?");
  }
}

}  // namespace atl::spec::tapis
