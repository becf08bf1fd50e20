// JSON with its place, for the sources of this folder. What is wrong is thrown as an Error, which
// the functions of pipeline.h catch.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace atl::spec::tapis {

namespace json = boost::json;

[[noreturn]] inline void wrong(const std::string& path, const std::string& message) {
  throw Error{ErrorCode::invalid, (path.empty() ? "" : path + ": ") + message, path};
}

std::string shown_json(const json::value& value);

// A value and where it stands.
class At {
 public:
  At(const json::value& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const json::value& value() const { return *value_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void wrong(const std::string& message) const { tapis::wrong(path_, message); }

  bool null() const { return value_->is_null(); }
  std::string text() const;
  bool flag() const;
  int64_t integer(int64_t low, int64_t high) const;
  std::string choice(std::initializer_list<std::string_view> words) const;

  const json::object& object() const;
  // What stands under the name, unless it is missing or null.
  std::optional<At> find(std::string_view name) const;
  At need(std::string_view name) const;
  std::string text_or(std::string_view name, std::string fallback = {}) const;
  bool flag_or(std::string_view name, bool fallback) const;
  void each_member(const std::function<void(const std::string& key, const At& member)>& fn) const;
  void each_item(const std::function<void(const At& item)>& fn) const;
  // Refuses a key that looks like one of these misspelled. Others are kept and without effect:
  // clients send back what they were shown.
  void check_keys(std::initializer_list<const char*> known) const;

 private:
  const json::value* value_;
  std::string path_;
};

}  // namespace atl::spec::tapis
