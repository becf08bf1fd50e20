#include "cli/json.h"

#include <boost/json.hpp>

#include "cli/yaml_text.h"

namespace atl::cli {

namespace json = boost::json;

struct Json::Tree {
  json::value root;
};

namespace {

const json::value* of(const void* at) { return static_cast<const json::value*>(at); }

void write_pretty(std::string& out, const json::value& value, const std::string& indent);

void write_members(std::string& out, const json::object& object, const std::string& indent) {
  bool first = true;
  for (const auto& entry : object) {
    out += first ? "{\n" : ",\n";
    first = false;
    out += indent + "  " + json::serialize(entry.key()) + ": ";
    write_pretty(out, entry.value(), indent + "  ");
  }
  out += "\n" + indent + "}";
}

void write_items(std::string& out, const json::array& array, const std::string& indent) {
  bool first = true;
  for (const auto& item : array) {
    out += first ? "[\n" : ",\n";
    first = false;
    out += indent + "  ";
    write_pretty(out, item, indent + "  ");
  }
  out += "\n" + indent + "]";
}

void write_pretty(std::string& out, const json::value& value, const std::string& indent) {
  if (value.is_object() && !value.as_object().empty()) {
    write_members(out, value.as_object(), indent);
  } else if (value.is_array() && !value.as_array().empty()) {
    write_items(out, value.as_array(), indent);
  } else if (value.is_double()) {
    out += scalar_text(value);
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

Result<Json> Json::parse(std::string_view text) {
  json::error_code error;
  auto tree = std::make_shared<Tree>();
  tree->root = json::parse(json::string_view(text.data(), text.size()), error);
  if (error)
    return fail(ErrorCode::internal, "the server's answer is not JSON: " + error.message());
  const void* at = &tree->root;
  return Json(std::move(tree), at);
}

Json Json::operator[](std::string_view key) const {
  if (!is_object()) return {};
  const auto* found = of(at_)->as_object().if_contains(json::string_view(key.data(), key.size()));
  return found ? Json(tree_, found) : Json();
}

bool Json::is_null() const { return !at_ || of(at_)->is_null(); }
bool Json::is_object() const { return at_ && of(at_)->is_object(); }
bool Json::is_array() const { return at_ && of(at_)->is_array(); }

std::string Json::text() const { return at_ ? scalar_text(*of(at_)) : std::string(); }

std::int64_t Json::integer(std::int64_t fallback) const {
  if (!at_) return fallback;
  json::error_code error;
  const auto value = of(at_)->is_number() ? of(at_)->to_number<std::int64_t>(error) : fallback;
  return error ? static_cast<std::int64_t>(number(static_cast<double>(fallback))) : value;
}

double Json::number(double fallback) const {
  if (!at_ || !of(at_)->is_number()) return fallback;
  json::error_code error;
  const auto value = of(at_)->to_number<double>(error);
  return error ? fallback : value;
}

bool Json::truth() const { return at_ && of(at_)->is_bool() && of(at_)->as_bool(); }

std::vector<Json> Json::items() const {
  std::vector<Json> all;
  if (!is_array()) return all;
  for (const auto& item : of(at_)->as_array()) all.push_back(Json(tree_, &item));
  return all;
}

std::vector<std::pair<std::string, Json>> Json::members() const {
  std::vector<std::pair<std::string, Json>> all;
  if (!is_object()) return all;
  for (const auto& entry : of(at_)->as_object()) {
    all.emplace_back(std::string(entry.key()), Json(tree_, &entry.value()));
  }
  return all;
}

std::string Json::compact() const { return at_ ? json::serialize(*of(at_)) : "null"; }

std::string Json::pretty() const {
  std::string out;
  at_ ? write_pretty(out, *of(at_), "") : void(out = "null");
  return out + "\n";
}

std::string Json::yaml() const { return yaml_text(at_ ? *of(at_) : json::value()); }

std::vector<Json> list_of(const Json& answer) {
  if (answer.is_array()) return answer.items();
  for (const auto& [key, value] : answer.members()) {
    if (value.is_array()) return value.items();
  }
  return {};
}

}  // namespace atl::cli
