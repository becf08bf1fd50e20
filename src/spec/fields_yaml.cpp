#include "spec/fields_yaml.h"

#include "base/text.h"

namespace atl::spec {
namespace {

using yaml::Node;
using yaml::wrong;

void set_scalar(const Field& field, void* object, const Node& value) {
  if (auto ok = set_text(field, object, yaml::text_of(value)); !ok)
    wrong(value, ok.error().message);
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
