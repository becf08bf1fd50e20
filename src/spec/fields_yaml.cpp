#include "spec/fields_yaml.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "spec/json_writer.h"

namespace atl::spec {
namespace {

using yaml::Node;
using yaml::wrong;

void set_scalar(const Field& field, void* object, const Node& value) {
  if (auto ok = set_text(field, object, yaml::text_of(value)); !ok)
    wrong(value, ok.error().message);
}

// A plain scalar is what it looks like, one in quotes a text.
void write_scalar(JsonWriter& json, const Node& value) {
  const std::string_view text = value.text();
  if (value.is_quoted()) return void(json.text(text));
  if (text == "true" || text == "false") return void(json.boolean(text == "true"));
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  // As JSON writes it: 007 and .5 are texts.
  const bool written =
      !digits.empty() && digits.front() != '.' && digits.back() != '.' &&
      !(digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9');
  const bool numeric =
      error == std::errc() && end == text.data() + text.size() && std::isfinite(number) && written;
  numeric ? json.raw(text) : json.text(text);
}

void write_value(JsonWriter& json, const Node& value) {
  if (value.is_null()) return void(json.null());
  if (value.is_scalar()) return write_scalar(json, value);
  if (value.is_sequence()) {
    json.begin_array();
    for (const Node item : value) write_value(json, item);
    json.end_array();
    return;
  }
  json.begin_object();
  yaml::each_entry(value, [&](const std::string& key, const Node&, const Node& each) {
    json.key(key);
    write_value(json, each);
  });
  json.end_object();
}

// An object in full, or its shorthand.
void read_nested(const Field& field, void* object, void* nested, const Node& value) {
  if (value.is_map()) return read_fields(field.shape(), nested, value);
  set_scalar(field, object, value);
}

void read_objects(const Field& field, void* object, const Node& value) {
  if (!value.is_sequence()) return set_scalar(field, object, value);
  void* list = field.access.make(object);
  for (const Node item : value) {
    if (item.is_map())
      read_fields(field.shape(), field.access.append(list), item);
    else
      set_scalar(field, object, item);
  }
}

void read_map_field(const Field& field, void* object, const Node& value) {
  field.access.make(object);
  yaml::each_entry(value, [&](const std::string& key, const Node& at, const Node& each) {
    if (key.empty() || key.find('=') != std::string::npos) wrong(at, quote(key) + " is no name");
    const std::string text = each.is_null() ? "" : yaml::text_of(each);
    if (auto ok = set_text(field, object, key + "=" + text); !ok) wrong(each, ok.error().message);
  });
}

// A list, or one of it.
void read_list(const Field& field, void* object, const Node& value) {
  if (!value.is_sequence()) return set_scalar(field, object, value);
  field.access.make(object);
  for (const Node item : value) set_scalar(field, object, item);
}

// What | separates in a text may be written as a list.
void read_text(const Field& field, void* object, const Node& value) {
  if (!value.is_sequence() || !field.list_too) return set_scalar(field, object, value);
  std::string joined;
  for (const Node item : value) joined += (joined.empty() ? "" : "|") + yaml::text_of(item);
  if (auto ok = set_text(field, object, joined); !ok) wrong(value, ok.error().message);
}

}  // namespace

std::string json_of(const Node& value) {
  std::string out;
  JsonWriter json(out);
  write_value(json, value);
  return out;
}

void read_field(const Field& field, void* object, const Node& value) {
  switch (field.kind) {
    case Kind::object:
      return read_nested(field, object, field.access.make(object), value);
    case Kind::objects:
      return read_objects(field, object, value);
    case Kind::text_map:
    case Kind::integer_map:
      return read_map_field(field, object, value);
    case Kind::texts:
    case Kind::integers:
      return read_list(field, object, value);
    case Kind::any:
      static_cast<Json*>(field.access.make(object))->text = json_of(value);
      return;
    default:
      return read_text(field, object, value);
  }
}

void read_fields(const Shape& shape, void* object, const Node& node) {
  yaml::each_entry(node, [&](const std::string& key, const Node& at, const Node& value) {
    const Field* field = find_field(shape, key);
    if (!field) {
      std::vector<std::string> names;
      for (const Field& each : shape.fields) names.emplace_back(each.name);
      yaml::unknown_key(at, key, names);
    }
    if (field->also && key == field->also && field->access.has(object))
      wrong(at, quote(key) + " is another word for " + field->name + "; write one of them");
    read_field(*field, object, value);
  });
  for (const Field& field : shape.fields) {
    if (field.required && !field.access.has(object))
      wrong(node, std::string(field.name) + " is missing here");
  }
}

}  // namespace atl::spec
