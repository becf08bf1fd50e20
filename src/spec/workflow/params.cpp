#include "spec/workflow/params.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace atl::spec {
namespace {

tl::unexpected<Error> refuse_param(const std::string& name, const std::string& why) {
  return fail(ErrorCode::invalid, "parameter " + name + " " + why, "params." + name);
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::string_view type_of(const std::string& value) {
  if (value == "true" || value == "false") return "boolean";
  if (parse_int(value)) return "integer";
  return is_number(value) ? "number" : "text";
}

Result<void> check_param(const std::string& name, const ParamSpec& spec, const std::string& value) {
  const std::string type = spec.type.value_or("text");
  const bool right = type == "integer"   ? parse_int(value).has_value()
                     : type == "number"  ? is_number(value)
                     : type == "boolean" ? value == "true" || value == "false"
                                         : true;
  if (!right)
    return refuse_param(name, "is " + quote(value) + "; it must be " +
                                  (type == "integer"  ? "a whole number"
                                   : type == "number" ? "a number such as 0.5"
                                                      : "true or false"));
  const auto& choices = spec.choices;
  if (!choices || std::find(choices->begin(), choices->end(), value) != choices->end()) return {};
  std::string all;
  for (const std::string& each : *choices) all += (all.empty() ? "" : ", ") + each;
  return refuse_param(name, "is " + quote(value) + "; it must be one of " + all);
}

Result<Params> params_of(const WorkflowFile& file, const Params& given) {
  std::vector<std::string> names;
  for (const WrittenParam& param : file.params) names.push_back(param.name);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto meant = did_you_mean(name, names);
    return fail(ErrorCode::invalid,
                "the workflow has no parameter " + quote(name) +
                    (meant ? "; did you mean " + *meant + "?" : ""),
                "params." + name);
  }
  Params params;
  for (const WrittenParam& param : file.params) {
    const auto set = given.find(param.name);
    if (set == given.end() && (param.spec.required.value_or(false) || !param.spec.fallback))
      return refuse_param(param.name, "has to be given: --set " + param.name + "=" +
                                          (param.spec.choices ? param.spec.choices->front()
                                                              : std::string("VALUE")));
    const std::string& value = set == given.end() ? *param.spec.fallback : set->second;
    if (auto ok = check_param(param.name, param.spec, value); !ok)
      return tl::unexpected(ok.error());
    params[param.name] = value;
  }
  return params;
}

}  // namespace atl::spec
