#include "spec/fields.h"
#include "spec/json_writer.h"

namespace atl::spec {
namespace {

void bounds(JsonWriter& json, const Field& field, const char* low, const char* high) {
  if (field.low) json.member(low, *field.low);
  if (field.high) json.member(high, *field.high);
}

void types(JsonWriter& json, const Field& field, std::initializer_list<const char*> names) {
  json.key("type");
  if (names.size() == 1 && !field.nullable) {
    json.text(*names.begin());
    return;
  }
  json.begin_array();
  for (const char* name : names) json.text(name);
  if (field.nullable) json.text("null");
  json.end_array();
}

std::string reference(const Shape& shape) {
  return std::string("#/components/schemas/") + shape.name;
}

void object_or_shorthand(JsonWriter& json, const Shape& shape) {
  if (!shape.from_scalar) {
    json.member("$ref", reference(shape));
    return;
  }
  json.key("anyOf").begin_array();
  json.begin_object().member("$ref", reference(shape)).end_object();
  json.begin_object().key("type").begin_array().text("string").text("integer").end_array();
  json.member("description", shape.scalar).end_object();
  json.end_array();
}

void write_type(JsonWriter& json, const Field& field) {
  switch (field.kind) {
    case Kind::text:
      if (field.number_too && field.list_too)
        types(json, field, {"string", "number", "array"});
      else if (field.list_too)
        types(json, field, {"string", "array"});
      else if (field.number_too)
        types(json, field, {"string", "integer"});
      else
        types(json, field, {"string"});
      bounds(json, field, "minLength", "maxLength");
      break;
    case Kind::boolean:
      types(json, field, {"boolean"});
      break;
    case Kind::integer:
      types(json, field, {"integer"});
      bounds(json, field, "minimum", "maximum");
      break;
    case Kind::number:
      types(json, field, {"number"});
      break;
    case Kind::cpus:
      types(json, field, {"string", "number"});
      if (field.low) json.key("minimum").milli(*field.low);
      if (field.high) json.key("maximum").milli(*field.high);
      break;
    case Kind::duration:
      types(json, field, {"string", "number"});
      break;
    case Kind::bytes:
      types(json, field, {"string", "integer"});
      break;
    case Kind::time:
      types(json, field, {"string"});
      json.member("format", "date-time");
      break;
    case Kind::texts:
    case Kind::integers:
      types(json, field, {"array"});
      json.key("items")
          .begin_object()
          .member("type", field.kind == Kind::texts ? "string" : "integer")
          .end_object();
      bounds(json, field, "minItems", "maxItems");
      break;
    case Kind::text_map:
    case Kind::integer_map:
      types(json, field, {"object"});
      json.key("additionalProperties").begin_object();
      json.member("type", field.kind == Kind::text_map ? "string" : "integer").end_object();
      bounds(json, field, "minProperties", "maxProperties");
      break;
    case Kind::object:
      if (field.nullable) {
        json.key("anyOf").begin_array().begin_object();
        object_or_shorthand(json, field.shape());
        json.end_object().begin_object().member("type", "null").end_object().end_array();
      } else {
        object_or_shorthand(json, field.shape());
      }
      break;
    case Kind::objects:
      types(json, field, {"array"});
      json.key("items").begin_object();
      object_or_shorthand(json, field.shape());
      json.end_object();
      bounds(json, field, "minItems", "maxItems");
      break;
    case Kind::any:
      if (field.schema) json.raw(field.schema);
      break;
  }
  if (!field.choices.empty()) {
    json.key("enum").begin_array();
    for (const char* choice : field.choices) json.text(choice);
    if (field.nullable) json.null();
    json.end_array();
  }
}

}  // namespace

std::string_view value_in_words(const Field& field) {
  switch (field.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::integer:
      return "a whole number";
    case Kind::cpus:
      return field.high ? "a number" : "a number of cores such as 2, 0.5 or \"500m\"";
    case Kind::bytes:
      return "an amount such as \"512Mi\", or a whole number of bytes";
    case Kind::duration:
      return "a duration such as \"1h30m\", or a number of seconds";
    case Kind::texts:
      return "a list of texts";
    case Kind::integers:
      return "a list of whole numbers";
    case Kind::text_map:
      return "an object whose values are texts";
    case Kind::integer_map:
      return "an object whose values are whole numbers";
    case Kind::object:
      return "an object";
    case Kind::objects:
      return "a list";
    default:
      return "a text";
  }
}

void write_schema(std::string& out, const Shape& shape) {
  JsonWriter json(out);
  json.begin_object().member("type", "object").member("description", shape.sentence);
  json.key("properties").begin_object();
  for (const Field& field : shape.fields) {
    json.key(field.name).begin_object();
    write_type(json, field);
    json.member("description", field.sentence);
    if (field.fallback) json.key("default").raw(field.fallback);
    if (field.example) json.key("examples").begin_array().raw(field.example).end_array();
    json.end_object();
    if (!field.also) continue;
    json.key(field.also).begin_object();
    write_type(json, field);
    json.member("description", std::string("Another word for ") + field.name + ".").end_object();
  }
  json.end_object();
  bool any = false;
  for (const Field& field : shape.fields) any = any || field.required;
  if (any) {
    json.key("required").begin_array();
    for (const Field& field : shape.fields) {
      if (field.required) json.text(field.name);
    }
    json.end_array();
  }
  json.member("additionalProperties", false).end_object();
}

}  // namespace atl::spec
