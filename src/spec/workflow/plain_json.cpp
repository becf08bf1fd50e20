#include "spec/workflow/plain_json.h"

#include <boost/json.hpp>
#include <charconv>

namespace atl::spec {
namespace {

namespace json = boost::json;

void write_plain(std::string& out, const json::value& value) {
  if (value.is_double()) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value.as_double());
    out.append(text, end);
  } else if (const json::array* list = value.if_array()) {
    const char* between = "[";
    for (const json::value& each : *list) {
      out += between;
      write_plain(out, each);
      between = ",";
    }
    out += list->empty() ? "[]" : "]";
  } else if (const json::object* object = value.if_object()) {
    const char* between = "{";
    for (const auto& [key, each] : *object) {
      out += between + json::serialize(json::string_view(key)) + ":";
      write_plain(out, each);
      between = ",";
    }
    out += object->empty() ? "{}" : "}";
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string plain_json(const json::value& value) {
  std::string out;
  write_plain(out, value);
  return out;
}

std::string plain_text(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : plain_json(value);
}

}  // namespace atl::spec
