// A JSON value of an answer, read leniently: what is absent, or of another type than expected, is
// empty. A table then shows a gap where a newer or older server says something else, instead of
// failing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace atl::cli {

class Json {
 public:
  Json() = default;  // null
  [[nodiscard]] static Result<Json> parse(std::string_view text);

  Json operator[](std::string_view key) const;  // null when absent or not an object
  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  bool has(std::string_view key) const { return !(*this)[key].is_null(); }

  std::string text()
      const;  // a scalar as a person would write it; empty for null, lists and objects
  std::string text(std::string_view key) const { return (*this)[key].text(); }
  std::int64_t integer(std::int64_t fallback = 0) const;
  double number(double fallback = 0) const;
  bool truth() const;

  std::vector<Json> items() const;  // of a list
  std::vector<std::pair<std::string, Json>> members() const;

  std::string compact() const;  // one line
  std::string pretty() const;   // indented by two, with a line end
  std::string yaml() const;

 private:
  struct Tree;
  Json(std::shared_ptr<const Tree> tree, const void* at) : tree_(std::move(tree)), at_(at) {}

  std::shared_ptr<const Tree> tree_;  // owns what at_ points into
  const void* at_ = nullptr;          // boost::json::value
};

// The list in an answer: the answer itself, or its first member that is one.
std::vector<Json> list_of(const Json& answer);

}  // namespace atl::cli
