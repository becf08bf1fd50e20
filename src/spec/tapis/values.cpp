#include "spec/tapis/values.h"

#include <array>

namespace atl::spec::tapis {
namespace {

constexpr std::array<const char*, 9> kTypes{
    "string",        "number",      "boolean",          "string_array",          "number_array",
    "boolean_array", "mixed_array", "tapis_file_input", "tapis_file_input_array"};
constexpr size_t kKeyMax = 128;
constexpr size_t kValueMax = 64 << 10;  // as much as an output may have

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

// ^[_]?[a-zA-Z]+[a-zA-Z0-9_]*$
void check_key(const At& at, const std::string& key) {
  const size_t first = key.starts_with('_') ? 1 : 0;
  bool fine = key.size() > first && key.size() <= kKeyMax && letter(key[first]);
  for (const char c : key) fine = fine && (letter(c) || digit(c) || c == '_');
  if (!fine)
    at.wrong(quote(key) +
             " is no name here: it needs letters, digits and _, and begins with a letter");
}

bool is_file_input(const json::value& value) {
  return value.is_string() || (value.is_object() && value.as_object().contains("sourceUrl"));
}

bool fits(const json::value& value, IoType type) {
  const auto all = [&](const auto& fn) {
    if (!value.is_array()) return false;
    for (const json::value& each : value.as_array()) {
      if (!fn(each)) return false;
    }
    return true;
  };
  const auto text = [](const json::value& each) { return each.is_string(); };
  const auto number = [](const json::value& each) { return each.is_number(); };
  const auto boolean = [](const json::value& each) { return each.is_bool(); };
  switch (type) {
    case IoType::string:
      return text(value);
    case IoType::number:
      return number(value);
    case IoType::boolean:
      return boolean(value);
    case IoType::string_array:
      return all(text);
    case IoType::number_array:
      return all(number);
    case IoType::boolean_array:
      return all(boolean);
    case IoType::mixed_array:
      return all([&](const auto& each) { return text(each) || number(each) || boolean(each); });
    case IoType::tapis_file_input:
      return is_file_input(value);
    case IoType::tapis_file_input_array:
      return all(is_file_input);
  }
  return false;
}

// {engine, pk, field_selector}; the engine is always ours.
Source read_secret(const At& at) {
  at.check_keys({"engine", "pk", "field_selector"});
  Source source;
  source.kind = Source::Kind::secret;
  source.name = at.need("pk").text();
  if (auto ok = check_identifier(source.name, "pk"); !ok) at.need("pk").wrong(ok.error().message);
  const auto selector = at.find("field_selector");
  if (!selector) return source;
  const auto add = [&](const At& part) {
    const std::string name = part.text();
    if (name.empty() || name.find('/') != std::string::npos)
      part.wrong("must be the name of a field");
    source.name += "/" + name;
  };
  selector->value().is_string() ? add(*selector) : selector->each_item(add);
  return source;
}

Source read_source(const At& at, Sources allowed) {
  at.check_keys({"env", "args", "task_output", "host", "secret"});
  Source source;
  if (at.object().size() != 1) at.wrong("must have one key: env, args, task_output or secret");
  if (const auto secret = at.find("secret")) return read_secret(*secret);
  if (at.find("host"))
    at.wrong("values of the host are not offered; keep it as a secret of the group instead");
  if (allowed != Sources::any) at.wrong("takes secret only");
  if (const auto env = at.find("env")) {
    source.kind = Source::Kind::env;
    source.name = env->text();
  } else if (const auto args = at.find("args")) {
    source.kind = Source::Kind::args;
    source.name = args->text();
  } else if (const auto output = at.find("task_output")) {
    source.kind = Source::Kind::task_output;
    source.task = output->need("task_id").text();
    source.output = output->need("output_id").text();
  } else {
    at.wrong("must have one key: env, args, task_output or secret");
  }
  return source;
}

}  // namespace

const char* to_string(IoType type) { return kTypes[static_cast<size_t>(type)]; }

IoType read_type(const At& at) {
  const std::string word = at.text();
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (word == kTypes[i]) return static_cast<IoType>(i);
  }
  std::string all;
  for (const char* each : kTypes) all += (all.empty() ? "" : ", ") + std::string(each);
  at.wrong("is " + quote(word) + "; there are " + all);
}

void check_type(const At& value, IoType type) {
  if (!fits(value.value(), type))
    value.wrong("is " + shown_json(value.value()) + ", which is no " + to_string(type));
  // What no program could be given.
  if (value.value().is_string()) std::ignore = value.text();
}

Variable read_variable(const At& at, Sources allowed) {
  at.check_keys({"type", "required", "value", "value_from", "description", "default"});
  Variable made;
  if (const auto type = at.find("type")) made.type = read_type(*type);
  made.required = at.flag_or("required", true);
  std::ignore = at.text_or("description");
  auto value = at.find("value");
  if (!value) value = at.find("default");
  const auto from = at.find("value_from");
  if (value && from) at.wrong("has both value and value_from; leave one out");
  if (value) {
    check_type(*value, made.type);
    made.source.kind = Source::Kind::literal;
    made.source.json = json::serialize(value->value());
    if (made.source.json.size() > kValueMax)
      value->wrong("is over 64 KiB; let the task read it from a file");
  }
  if (from) made.source = read_source(*from, allowed);
  return made;
}

Variables read_variables(const At& at, Sources allowed) {
  Variables all;
  at.each_member([&](const std::string& key, const At& member) {
    check_key(member, key);
    all[key] = read_variable(member, allowed);
  });
  return all;
}

}  // namespace atl::spec::tapis
