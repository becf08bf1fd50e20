#include "spec/workflow/condition.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "spec/workflow/plain_json.h"

namespace atl::spec {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 6> kCompare{"eq", "ne", "gt", "lt", "ge", "le"};
constexpr std::array<std::string_view, 6> kJoin{"and", "or", "xor", "nand", "nor", "xnor"};
constexpr int kDepth = 32;

template <class List>
bool one_of(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

tl::unexpected<Error> refuse_condition(std::string message) {
  return fail(ErrorCode::invalid, std::move(message));
}

std::string shown(const json::value& value) {
  std::string text = plain_json(value);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

// {params: year} and the like; nullopt for what is no operand of that kind.
std::optional<Reference> reference_of(const json::value& operand) {
  if (!operand.is_object() || operand.as_object().size() != 1) return std::nullopt;
  const auto& [key, value] = *operand.as_object().begin();
  Reference reference;
  if (key == "task_output" && value.is_object()) {
    const auto* task = value.as_object().if_contains("task_id");
    const auto* output = value.as_object().if_contains("output_id");
    if (!task || !output || !task->is_string() || !output->is_string()) return std::nullopt;
    reference.root = "steps";
    reference.path =
        std::string(task->as_string()) + ".outputs." + std::string(output->as_string());
    return reference;
  }
  if (!value.is_string()) return std::nullopt;
  const std::string text(value.as_string());
  if (key == "params" || key == "args") {
    reference.root = "params";
    reference.path = text;
  } else if (key == "env") {
    reference.root = "env";
    reference.path = text;
  } else if (key == "output") {
    const size_t dot = text.find('.');
    if (dot == std::string::npos) return std::nullopt;
    reference.root = "steps";
    reference.path = text.substr(0, dot) + ".outputs" + text.substr(dot);
  } else {
    return std::nullopt;
  }
  return reference;
}

Result<void> check_operand(const json::value& operand) {
  if (operand.is_array()) {
    for (const json::value& each : operand.as_array()) {
      if (auto ok = check_operand(each); !ok) return ok;
    }
    return {};
  }
  if (!operand.is_object() || reference_of(operand)) return {};
  return refuse_condition(shown(operand) +
                          " is no operand: write a value, {params: NAME}, {env: NAME} or "
                          "{output: STEP.NAME}");
}

Result<void> check_value(const json::value& condition, int depth);

Result<void> check_operation(std::string_view name, const json::value& value, int depth) {
  if (name == "not") return check_value(value, depth + 1);
  const bool compares = one_of(kCompare, name) || name == "in";
  if (!compares && !one_of(kJoin, name)) {
    const auto meant =
        did_you_mean(std::string(name), {"eq", "ne", "gt", "lt", "ge", "le", "in", "and", "or",
                                         "xor", "nand", "nor", "xnor", "not"});
    return refuse_condition(
        quote(name) + " is no condition" +
        (meant ? "; did you mean " + *meant + "?"
               : "; there are eq ne gt lt ge le in and or xor nand nor xnor not"));
  }
  if (!value.is_array())
    return refuse_condition(std::string(name) + " needs a list, such as [a, b]");
  const json::array& list = value.as_array();
  if (compares && list.size() != 2)
    return refuse_condition(std::string(name) + " compares two values, and here are " +
                            std::to_string(list.size()));
  if (!compares && list.size() < 2)
    return refuse_condition(std::string(name) + " joins two conditions or more");
  if (name == "in" && !list[1].is_array() && !list[1].is_string() && !list[1].is_object())
    return refuse_condition("in needs a list to look in: {in: [a, [b, c]]}");
  for (const json::value& each : list) {
    auto ok = compares ? check_operand(each) : check_value(each, depth + 1);
    if (!ok) return ok;
  }
  return {};
}

Result<void> check_value(const json::value& condition, int depth) {
  if (depth > kDepth) return refuse_condition("conditions are nested too deeply");
  if (condition.is_bool()) return {};
  if (condition.is_array()) {
    for (const json::value& each : condition.as_array()) {
      if (auto ok = check_value(each, depth + 1); !ok) return ok;
    }
    return {};
  }
  if (!condition.is_object() || condition.as_object().size() != 1)
    return refuse_condition(shown(condition) + " is no condition: write one such as {eq: [a, b]}");
  const auto& entry = *condition.as_object().begin();
  return check_operation({entry.key().data(), entry.key().size()}, entry.value(), depth);
}

void collect(const json::value& value, std::vector<Reference>& all) {
  if (const auto reference = reference_of(value)) return all.push_back(*reference);
  if (value.is_string()) {
    for (Reference& each : references_in(std::string_view(value.as_string())))
      all.push_back(std::move(each));
  } else if (value.is_array()) {
    for (const json::value& each : value.as_array()) collect(each, all);
  } else if (value.is_object()) {
    for (const auto& each : value.as_object()) collect(each.value(), all);
  }
}

std::optional<double> number_of(const json::value& value, bool strict) {
  if (value.is_number()) return value.to_number<double>();
  if (strict || !value.is_string()) return std::nullopt;
  const std::string_view text = value.as_string();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// A value beside texts is the text that it is written as: true and "true" are the same.
json::value as_text(const json::value& value) {
  return value.is_bool() ? json::value(value.as_bool() ? "true" : "false") : value;
}

bool same(const json::value& a, const json::value& b, bool strict) {
  const auto left = number_of(a, strict), right = number_of(b, strict);
  if (left && right) return *left == *right;
  return strict ? a == b : as_text(a) == as_text(b);
}

class Evaluation {
 public:
  Evaluation(const Lookup& lookup, bool strict) : lookup_(lookup), strict_(strict) {}

  Result<bool> of(const json::value& condition) const {
    if (condition.is_bool()) return condition.as_bool();
    if (condition.is_array()) {
      const auto count = holding(condition.as_array());
      if (!count) return tl::unexpected(count.error());
      return *count == condition.as_array().size();
    }
    const auto& entry = *condition.as_object().begin();
    const std::string_view name{entry.key().data(), entry.key().size()};
    if (name == "not") {
      const auto inner = of(entry.value());
      return inner ? Result<bool>(!*inner) : inner;
    }
    const json::array& list = entry.value().as_array();
    return one_of(kJoin, name) ? joined(name, list) : compared(name, list);
  }

 private:
  Result<size_t> holding(const json::array& list) const {
    size_t count = 0;
    for (const json::value& each : list) {
      const auto one = of(each);
      if (!one) return tl::unexpected(one.error());
      count += *one;
    }
    return count;
  }

  Result<bool> joined(std::string_view name, const json::array& list) const {
    const auto count = holding(list);
    if (!count) return tl::unexpected(count.error());
    const bool all = *count == list.size(), none = *count == 0;
    if (name == "and") return all;
    if (name == "or") return !none;
    if (name == "nand") return !all;
    if (name == "nor") return none;
    return name == "xor" ? !all && !none : all || none;
  }

  Result<bool> compared(std::string_view name, const json::array& list) const {
    const auto a = operand(list[0]), b = operand(list[1]);
    if (!a) return tl::unexpected(a.error());
    if (!b) return tl::unexpected(b.error());
    if (name == "eq" || name == "ne") return same(*a, *b, strict_) == (name == "eq");
    if (name == "in") return within(*a, *b);
    const auto left = number_of(*a, strict_), right = number_of(*b, strict_);
    if (left && right) return ordered(name, *left <=> *right);
    if (a->is_string() && b->is_string())
      return ordered(name, std::string_view(a->as_string()) <=> std::string_view(b->as_string()));
    return refuse_condition(shown(*a) + " and " + shown(*b) + " cannot be put in order");
  }

  Result<bool> within(const json::value& needle, const json::value& hay) const {
    if (hay.is_string() && needle.is_string())
      return hay.as_string().find(needle.as_string()) != json::string::npos;
    if (!hay.is_array()) return refuse_condition(shown(hay) + " is no list to look in");
    return std::any_of(hay.as_array().begin(), hay.as_array().end(),
                       [&](const json::value& each) { return same(needle, each, strict_); });
  }

  static bool ordered(std::string_view name, std::partial_ordering order) {
    if (name == "gt") return order > 0;
    if (name == "lt") return order < 0;
    return name == "ge" ? order >= 0 : order <= 0;
  }

  Result<json::value> found(const Reference& reference) const {
    const auto text = lookup_(reference);
    if (!text) return tl::unexpected(text.error());
    boost::system::error_code error;
    json::value value = json::parse(*text, error);
    return error ? json::value(json::string_view(*text)) : value;
  }

  Result<json::value> operand(const json::value& written) const {
    if (const auto reference = reference_of(written)) return found(*reference);
    if (written.is_array()) {
      json::array list;
      for (const json::value& each : written.as_array()) {
        auto value = operand(each);
        if (!value) return value;
        list.push_back(std::move(*value));
      }
      return list;
    }
    if (!written.is_string() || strict_) return written;
    return filled(std::string_view(written.as_string()));
  }

  // A text that is one reference is what that stands for; others have it put in.
  Result<json::value> filled(std::string_view text) const {
    const auto references = references_in(text);
    if (references.empty()) return json::value(json::string_view(text));
    if (references.size() == 1 && references[0].size == text.size()) return found(references[0]);
    std::optional<Error> wrong;
    const std::string whole =
        expand(text, [&](const Reference& each) -> std::optional<std::string> {
          const auto value = found(each);
          if (!value) {
            wrong = value.error();
            return std::nullopt;
          }
          return plain_text(*value);
        });
    if (wrong) return tl::unexpected(*wrong);
    return json::value(json::string_view(whole));
  }

  const Lookup& lookup_;
  const bool strict_;
};

Result<json::value> parsed_condition(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) return refuse_condition("a condition must be JSON or YAML");
  return value;
}

}  // namespace

Result<void> check_condition(const std::string& json) {
  const auto value = parsed_condition(json);
  if (!value) return tl::unexpected(value.error());
  return check_value(*value, 0);
}

std::vector<Reference> references_of(const std::string& json) {
  std::vector<Reference> all;
  if (const auto value = parsed_condition(json)) collect(*value, all);
  return all;
}

Result<bool> holds(const std::string& json, const Lookup& lookup, bool strict) {
  if (auto ok = check_condition(json); !ok) return tl::unexpected(ok.error());
  return Evaluation(lookup, strict).of(*parsed_condition(json));
}

}  // namespace atl::spec
