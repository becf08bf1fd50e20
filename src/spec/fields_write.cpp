#include <algorithm>

#include "base/text.h"
#include "spec/fields.h"
#include "spec/json_writer.h"

namespace atl::spec {
namespace {

template <class T>
const T& as(const void* value) {
  return *static_cast<const T*>(value);
}

void write_object(JsonWriter& json, const Shape& shape, const void* object);

void write_field(JsonWriter& json, const Field& field, const void* value) {
  switch (field.kind) {
    case Kind::boolean:
      json.boolean(as<bool>(value));
      return;
    case Kind::integer:
      json.number(as<int64_t>(value));
      return;
    case Kind::cpus:
      json.milli(as<Cpus>(value).milli);
      return;
    case Kind::bytes:
      json.number(as<Bytes>(value).count);
      return;
    case Kind::duration:
      json.text(exact_duration(as<Duration>(value)));
      return;
    case Kind::texts:
      json.begin_array();
      for (const std::string& item : as<std::vector<std::string>>(value)) json.text(item);
      json.end_array();
      return;
    case Kind::integers:
      json.begin_array();
      for (const int64_t item : as<std::vector<int64_t>>(value)) json.number(item);
      json.end_array();
      return;
    case Kind::text_map:
      json.begin_object();
      for (const auto& [key, item] : as<std::map<std::string, std::string>>(value))
        json.member(key, item);
      json.end_object();
      return;
    case Kind::integer_map:
      json.begin_object();
      for (const auto& [key, item] : as<std::map<std::string, int64_t>>(value))
        json.member(key, item);
      json.end_object();
      return;
    case Kind::object:
      write_object(json, field.shape(), value);
      return;
    case Kind::any:
      json.raw(static_cast<const Json*>(value)->text);
      return;
    case Kind::objects:
      json.begin_array();
      for (size_t i = 0; i < field.access.count(value); ++i)
        write_object(json, field.shape(), field.access.item(value, i));
      json.end_array();
      return;
    default:
      json.text(as<std::string>(value));
      return;
  }
}

void write_object(JsonWriter& json, const Shape& shape, const void* object) {
  json.begin_object();
  for (const Field& field : shape.fields) {
    if (!field.access.has || !field.access.has(object)) continue;
    json.key(field.name);
    write_field(json, field, field.access.get(object));
  }
  json.end_object();
}

template <class Map>
void merge(void* base, const void* top) {
  for (const auto& [key, value] : as<Map>(top)) (*static_cast<Map*>(base))[key] = value;
}

}  // namespace

const Field* find_field(const Shape& shape, std::string_view name) {
  for (const Field& field : shape.fields) {
    if (name == field.name || (field.also && name == field.also)) return &field;
  }
  return nullptr;
}

const Field* find_flag(const Shape& shape, std::string_view flag) {
  for (const Field& field : shape.fields) {
    if (field.flag && flag == field.flag) return &field;
    if (field.letter && flag.size() == 1 && flag.front() == field.letter) return &field;
  }
  return nullptr;
}

void write_json(std::string& out, const Shape& shape, const void* object) {
  JsonWriter json(out);
  write_object(json, shape, object);
}

void overlay(const Shape& shape, void* base, const void* top) {
  for (const Field& field : shape.fields) {
    if (!field.access.has(top)) continue;
    const void* value = field.access.get(top);
    if (field.kind == Kind::text_map)
      merge<std::map<std::string, std::string>>(field.access.make(base), value);
    else if (field.kind == Kind::integer_map)
      merge<std::map<std::string, int64_t>>(field.access.make(base), value);
    else if (field.kind == Kind::object)
      overlay(field.shape(), field.access.make(base), value);
    else
      field.access.copy(base, top);
  }
}

void collect_shapes(const Shape& shape, std::vector<const Shape*>& shapes) {
  if (std::find(shapes.begin(), shapes.end(), &shape) != shapes.end()) return;
  shapes.push_back(&shape);
  for (const Field& field : shape.fields) {
    if (field.shape) collect_shapes(field.shape(), shapes);
  }
}

std::string exact_duration(Duration d) {
  if (d.us == 0) return "0s";
  if (d.us % 1000 != 0) return std::to_string(d.us) + "us";
  if (d.us % 1000000 != 0) return std::to_string(d.us / 1000) + "ms";
  int64_t left = d.us / 1000000;
  std::string out;
  const auto add = [&](int64_t unit, char letter) {
    if (left >= unit) out += std::to_string(left / unit) + letter;
    left %= unit;
  };
  add(86400, 'd');
  add(3600, 'h');
  add(60, 'm');
  add(1, 's');
  return out;
}

}  // namespace atl::spec
