#include <boost/json.hpp>
#include <charconv>

#include "base/amount.h"
#include "base/text.h"
#include "spec/fields_json.h"

namespace atl::spec {
namespace {

namespace json = boost::json;

std::string join(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string at_index(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

tl::unexpected<Error> refuse(const std::string& path, const std::string& what) {
  return fail(ErrorCode::invalid, path.empty() ? what : path + " " + what, path);
}

tl::unexpected<Error> wrong_type(const Field& field, const json::value& value,
                                 const std::string& path) {
  return refuse(path, "is " + std::string(word_for(value)) + "; it must be " +
                          std::string(value_in_words(field)));
}

// The text of a scalar as a person would have written it; nullopt for anything else.
std::optional<std::string> scalar_text(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(text->data(), text->size());
  if (const auto* number = value.if_int64()) return std::to_string(*number);
  if (const auto* number = value.if_uint64()) return std::to_string(*number);
  if (const auto* number = value.if_double()) {
    char buffer[400];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, *number, std::chars_format::fixed).ptr;
    return std::string(buffer, end);
  }
  return std::nullopt;
}

Result<void> check_bounds(const Field& field, int64_t value, const std::string& path) {
  const bool low = field.low && value < *field.low;
  const bool high = field.high && value > *field.high;
  if (!low && !high) return {};
  return refuse(path, "is " + std::to_string(value) + "; it must be " +
                          (low ? "at least " + std::to_string(*field.low)
                               : "at most " + std::to_string(*field.high)));
}

Result<void> check_count(const Field& field, size_t count, const std::string& path,
                         std::string_view unit) {
  if (field.high && count > static_cast<size_t>(*field.high)) {
    return fail(ErrorCode::invalid,
                path + " has " + std::to_string(count) + " " + std::string(unit) + "; at most " +
                    std::to_string(*field.high) + " are allowed",
                path);
  }
  if (field.low && count < static_cast<size_t>(*field.low)) {
    return refuse(path, *field.low == 1 ? "must not be empty"
                                        : "needs at least " + std::to_string(*field.low) + " " +
                                              std::string(unit));
  }
  return {};
}

Result<void> check_text(std::string_view text, const std::string& path) {
  if (text.find('\0') != std::string_view::npos) return refuse(path, "contains a NUL byte");
  return {};
}

Result<void> check_choice(const Field& field, std::string_view text, const std::string& path) {
  if (field.choices.empty()) return {};
  std::vector<std::string> words(field.choices.begin(), field.choices.end());
  for (const std::string& word : words) {
    if (word == text) return {};
  }
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return refuse(path, "is " + quote(text) + "; it must be one of " + all);
}

// Any scalar but booleans: the value's own syntax decides.
Result<void> assign_scalar(const Field& field, void* object, std::string_view text,
                           const std::string& path) {
  const auto prefixed = [&](const Error& error) {
    return fail(ErrorCode::invalid, path + ": " + error.message, path);
  };
  switch (field.kind) {
    case Kind::text: {
      if (auto ok = check_text(text, path); !ok) return ok;
      if (auto ok = check_count(field, text.size(), path, "bytes"); !ok) return ok;
      if (auto ok = check_choice(field, text, path); !ok) return ok;
      *static_cast<std::string*>(field.access.make(object)) = text;
      return {};
    }
    case Kind::integer: {
      const auto value = parse_int(text);
      if (!value) return refuse(path, "is " + quote(text) + "; it must be a whole number");
      if (auto ok = check_bounds(field, *value, path); !ok) return ok;
      *static_cast<int64_t*>(field.access.make(object)) = *value;
      return {};
    }
    case Kind::cpus: {
      const auto value = parse_milli(text);
      if (field.low && field.high && (!value || *value < *field.low || *value > *field.high))
        return refuse(path, "is " + std::string(text) + "; it must be a number from " +
                                format_milli(*field.low) + " to " + format_milli(*field.high));
      if (!value && std::string_view(field.name) != "cpus")
        return refuse(path, "is " + quote(text) + "; it must be a number such as " + field.example);
      if (!value) return prefixed(value.error());
      static_cast<Cpus*>(field.access.make(object))->milli = *value;
      return {};
    }
    case Kind::bytes: {
      const auto value = parse_bytes(text);
      if (!value) return prefixed(value.error());
      if (field.low && *value < *field.low)
        return refuse(path, "is " + format_bytes(*value) + "; it must be at least " +
                                format_bytes(*field.low));
      static_cast<Bytes*>(field.access.make(object))->count = *value;
      return {};
    }
    default: {
      // A number of seconds with a fraction has no unit of its own.
      const bool fraction = text.find_first_not_of("0123456789.") == std::string_view::npos &&
                            text.find('.') != std::string_view::npos;
      const auto value = parse_duration(fraction ? std::string(text) + "s" : std::string(text));
      if (!value) return prefixed(value.error());
      *static_cast<Duration*>(field.access.make(object)) = *value;
      return {};
    }
  }
}

Result<void> parse_scalar(const Field& field, void* object, const json::value& value,
                          const std::string& path) {
  const bool number = value.is_number();
  if (field.kind == Kind::boolean) {
    if (!value.is_bool()) return wrong_type(field, value, path);
    *static_cast<bool*>(field.access.make(object)) = value.as_bool();
    return {};
  }
  if (field.kind == Kind::text && value.is_array() && field.list_too) {
    std::string joined;
    for (const json::value& item : value.as_array()) {
      if (!item.is_string() || item.as_string().find('|') != std::string::npos)
        return refuse(path, "has " + std::string(word_for(item)) + "; it must be a list of words");
      joined += (joined.empty() ? "" : "|") + std::string(item.as_string());
    }
    return assign_scalar(field, object, joined, path);
  }
  if (field.kind == Kind::text && number && !field.number_too) {
    return refuse(path, "is a number; it must be a text, in quotes");
  }
  if (field.kind == Kind::integer && !value.is_int64()) {
    if (value.is_uint64()) return refuse(path, "is too large");
    return wrong_type(field, value, path);
  }
  const auto text = scalar_text(value);
  if (!text) return wrong_type(field, value, path);
  return assign_scalar(field, object, *text, path);
}

Result<void> parse_list(const Field& field, void* object, const json::array& items,
                        const std::string& path) {
  if (auto ok = check_count(field, items.size(), path, "items"); !ok) return ok;
  void* made = field.access.make(object);
  for (size_t i = 0; i < items.size(); ++i) {
    const json::value& item = items[i];
    const std::string where = at_index(path, i);
    if (field.kind == Kind::integers) {
      if (!item.is_int64())
        return refuse(where, "is " + std::string(word_for(item)) + "; it must be a whole number");
      static_cast<std::vector<int64_t>*>(made)->push_back(item.as_int64());
      continue;
    }
    if (!item.is_string())
      return refuse(where, "is " + std::string(word_for(item)) + "; it must be a text, in quotes");
    const std::string_view text(item.as_string().data(), item.as_string().size());
    if (auto ok = check_text(text, where); !ok) return ok;
    static_cast<std::vector<std::string>*>(made)->emplace_back(text);
  }
  return {};
}

Result<void> parse_map(const Field& field, void* object, const json::object& entries,
                       const std::string& path) {
  if (auto ok = check_count(field, entries.size(), path, "entries"); !ok) return ok;
  void* made = field.access.make(object);
  for (const auto& entry : entries) {
    const std::string key(entry.key());
    const std::string where = join(path, key);
    if (key.empty()) return refuse(path, "has an entry without a name");
    if (auto ok = check_text(key, path); !ok) return ok;
    if (field.kind == Kind::integer_map) {
      if (!entry.value().is_int64() || entry.value().as_int64() < 0) {
        return refuse(where, "is " + std::string(word_for(entry.value())) +
                                 "; it must be a whole number, not negative");
      }
      (*static_cast<std::map<std::string, int64_t>*>(made))[key] = entry.value().as_int64();
      continue;
    }
    const auto* text = entry.value().if_string();
    if (!text)
      return refuse(
          where, "is " + std::string(word_for(entry.value())) + "; it must be a text, in quotes");
    if (auto ok = check_text({text->data(), text->size()}, where); !ok) return ok;
    (*static_cast<std::map<std::string, std::string>*>(made))[key].assign(text->data(),
                                                                          text->size());
  }
  return {};
}

// A shorthand is held to the same bounds as the long form.
Result<void> parse_shorthand(const Shape& shape, void* nested, std::string_view text,
                             const std::string& path) {
  if (auto ok = shape.from_scalar(nested, text); !ok)
    return fail(ErrorCode::invalid, path + ": " + ok.error().message, path);
  for (const Field& field : shape.fields) {
    if (!field.access.has(nested)) continue;
    const void* value = field.access.get(nested);
    const std::string where = join(path, field.name);
    Result<void> ok;
    if (field.kind == Kind::integer) {
      ok = check_bounds(field, *static_cast<const int64_t*>(value), where);
    } else if (field.kind == Kind::text) {
      const auto& said = *static_cast<const std::string*>(value);
      ok = check_count(field, said.size(), where, "bytes");
      if (ok) ok = check_choice(field, said, where);
    }
    if (!ok) return ok;
  }
  return {};
}

// An object, or its shorthand.
Result<void> parse_nested(const Shape& shape, void* nested, const json::value& value,
                          const std::string& path) {
  if (value.is_object()) return parse_value(shape, nested, value, path);
  const auto text = scalar_text(value);
  if (!text || !shape.from_scalar)
    return refuse(path, "is " + std::string(word_for(value)) + "; it must be an object");
  return parse_shorthand(shape, nested, *text, path);
}

Result<void> parse_objects(const Field& field, void* object, const json::value& value,
                           const std::string& path) {
  const Shape& shape = field.shape();
  void* list = field.access.make(object);
  if (!value.is_array()) {
    if (!shape.from_scalar || value.is_object()) return wrong_type(field, value, path);
    return parse_nested(shape, field.access.append(list), value, path);
  }
  const json::array& items = value.as_array();
  if (auto ok = check_count(field, items.size(), path, "items"); !ok) return ok;
  for (size_t i = 0; i < items.size(); ++i) {
    if (auto ok = parse_nested(shape, field.access.append(list), items[i], at_index(path, i)); !ok)
      return ok;
  }
  return {};
}

Result<void> parse_field(const Field& field, void* object, const json::value& value,
                         const std::string& path) {
  switch (field.kind) {
    case Kind::texts:
    case Kind::integers:
      if (!value.is_array()) return wrong_type(field, value, path);
      return parse_list(field, object, value.as_array(), path);
    case Kind::text_map:
    case Kind::integer_map:
      if (!value.is_object()) return wrong_type(field, value, path);
      return parse_map(field, object, value.as_object(), path);
    case Kind::object:
      return parse_nested(field.shape(), field.access.make(object), value, path);
    case Kind::objects:
      return parse_objects(field, object, value, path);
    case Kind::any:
      static_cast<Json*>(field.access.make(object))->text = json::serialize(value);
      return {};
    default:
      return parse_scalar(field, object, value, path);
  }
}

tl::unexpected<Error> unknown_field(const Shape& shape, std::string_view name,
                                    const std::string& path) {
  std::vector<std::string> names;
  for (const Field& field : shape.fields) names.emplace_back(field.name);
  std::string message = "there is no field " + quote(name) + (path.empty() ? "" : " in " + path);
  if (const auto near = did_you_mean(name, names)) message += "; did you mean " + *near + "?";
  return fail(ErrorCode::invalid, message,
              join(path, valid_utf8(name) ? name.substr(0, 128) : "?"));
}

}  // namespace

std::string_view word_for(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return value.as_bool() ? "true" : "false";
    case json::kind::string:
      return "a text";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
    default:
      return "a number";
  }
}

Result<json::value> parse_tree(std::string_view text) {
  json::parse_options options;
  options.max_depth = kJsonDepthMax;
  json::error_code error;
  json::stream_parser parser({}, options);
  // One arena for the whole tree; the value keeps it alive.
  parser.reset(json::make_shared_resource<json::monotonic_resource>());
  const size_t taken = parser.write_some(text.data(), text.size(), error);
  if (!error) parser.finish(error);
  if (!error && taken < text.size() && !trim(text.substr(taken)).empty())
    error = json::error::extra_data;
  if (!error) return parser.release();
  if (trim(text).empty())
    return fail(ErrorCode::invalid, "the body is empty; it must be a JSON object");
  size_t line = 1;
  for (size_t i = 0; i < taken && i < text.size(); ++i) line += text[i] == '\n';
  return fail(ErrorCode::invalid, "the body is not JSON: " + error.message() + " near line " +
                                      std::to_string(line) + ", byte " + std::to_string(taken));
}

Result<void> parse_value(const Shape& shape, void* object, const json::value& value,
                         const std::string& path) {
  if (!value.is_object())
    return refuse(path, (path.empty() ? "the body is " : "is ") + std::string(word_for(value)) +
                            "; it must be an object");
  for (const auto& entry : value.as_object()) {
    const Field* field = find_field(shape, {entry.key().data(), entry.key().size()});
    if (!field) return unknown_field(shape, {entry.key().data(), entry.key().size()}, path);
    if (field->also && entry.key() == field->also && value.as_object().contains(field->name))
      return refuse(join(path, field->also),
                    std::string("is another word for ") + field->name + "; write one of them");
    if (auto ok = parse_field(*field, object, entry.value(), join(path, field->name)); !ok)
      return ok;
  }
  for (const Field& field : shape.fields) {
    if (field.required && !field.access.has(object))
      return refuse(join(path, field.name), "is missing");
  }
  return {};
}

Result<void> parse_json(const Shape& shape, void* object, std::string_view text) {
  const auto tree = parse_tree(text);
  if (!tree) return tl::unexpected(tree.error());
  return parse_value(shape, object, *tree, "");
}

Result<void> set_text(const Field& field, void* object, std::string_view text) {
  const std::string path = field.name;
  if (auto ok = check_text(text, path); !ok) return ok;
  switch (field.kind) {
    case Kind::boolean: {
      const bool yes = text == "true" || text == "yes" || text == "1" || text.empty();
      if (!yes && text != "false" && text != "no" && text != "0")
        return refuse(path, "is " + quote(text) + "; it must be true or false");
      *static_cast<bool*>(field.access.make(object)) = yes;
      return {};
    }
    case Kind::texts:
      static_cast<std::vector<std::string>*>(field.access.make(object))->emplace_back(text);
      return {};
    case Kind::text_map: {
      const size_t equals = text.find('=');
      if (equals == std::string_view::npos || equals == 0)
        return refuse(path, "is " + quote(text) + "; it must be NAME=VALUE");
      (*static_cast<std::map<std::string, std::string>*>(field.access.make(
          object)))[std::string(text.substr(0, equals))] = text.substr(equals + 1);
      return {};
    }
    case Kind::integers: {
      auto& list = *static_cast<std::vector<int64_t>*>(field.access.make(object));
      for (const std::string_view part : split(text, ',')) {
        const auto value = parse_int(part);
        if (!value) return refuse(path, "has " + quote(part) + "; write whole numbers with commas");
        list.push_back(*value);
      }
      return check_count(field, list.size(), path, "items");
    }
    case Kind::integer_map: {
      const size_t equals = text.find('=');
      const auto value =
          parse_int(equals == std::string_view::npos ? text : text.substr(equals + 1));
      if (!value) return refuse(path, "is " + quote(text) + "; it must be a whole number");
      (*static_cast<std::map<std::string, int64_t>*>(
          field.access.make(object)))[std::string(text.substr(0, equals))] = *value;
      return {};
    }
    case Kind::object:
    case Kind::objects: {
      const Shape& shape = field.shape();
      if (!shape.from_scalar) return refuse(path, "cannot be written as one text");
      void* made = field.access.make(object);
      return parse_shorthand(shape, field.kind == Kind::objects ? field.access.append(made) : made,
                             text, path);
    }
    default:
      if (!field.adds || !field.access.has(object)) return assign_scalar(field, object, text, path);
      return assign_scalar(
          field, object,
          *static_cast<const std::string*>(field.access.get(object)) + "," + std::string(text),
          path);
  }
}

}  // namespace atl::spec
