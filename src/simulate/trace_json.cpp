#include "simulate/trace_json.h"

#include "base/amount.h"
#include "base/text.h"

namespace atl::simulate {

tl::unexpected<Error> wrong(const char* key, const std::string& why) {
  return fail(ErrorCode::invalid, std::string(key) + " " + why);
}

const json::value* member(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  return value && !value->is_null() ? value : nullptr;
}

Result<Time> read_time(const json::object& object, const char* key) {
  const json::value* value = member(object, key);
  if (!value) return Time{};
  if (!value->is_string())
    return wrong(key, "must be a time as text, such as \"2026-11-15T21:23:31Z\"");
  auto time = parse_time(std::string_view(value->get_string()));
  if (!time) return wrong(key, "is no time: " + time.error().message);
  return time;
}

Result<Duration> span_of(const json::value& value) {
  if (value.is_number()) {
    const double number = value.to_number<double>();
    if (number >= 0 && number <= 1e10) return Duration{static_cast<int64_t>(number * 1e6 + 0.5)};
  } else if (value.is_string()) {
    return parse_duration(std::string_view(value.get_string()));
  }
  return fail(ErrorCode::invalid, "must be seconds, or text such as \"2h\"");
}

Result<Duration> read_span(const json::object& object, const char* key) {
  const json::value* value = member(object, key);
  if (!value) return Duration{};
  const auto span = span_of(*value);
  return span ? span : wrong(key, span.error().message);
}

Result<std::string> read_name(const json::object& object, const char* key, const char* otherwise) {
  const json::value* value = member(object, key);
  if (!value) return otherwise;
  if (!value->is_string()) return wrong(key, "must be text");
  std::string name(value->get_string());
  if (auto ok = check_identifier(name, key); !ok) return tl::unexpected(ok.error());
  return name;
}

Result<int64_t> read_milli(const json::object& object, const char* key, int64_t otherwise,
                           int64_t most) {
  const json::value* value = member(object, key);
  if (!value) return otherwise;
  const double number = value->is_number() ? value->to_number<double>() : -1;
  const auto milli = number <= 4e6 ? static_cast<int64_t>(number * 1000 + 0.5) : -1;
  if (milli >= 1 && milli <= most) return milli;
  return wrong(key, "must be a number between 0.001 and " + format_milli(most));
}

Result<int64_t> read_count(const json::object& object, const char* key, int64_t otherwise,
                           int64_t least, int64_t most) {
  const json::value* value = member(object, key);
  if (!value) return otherwise;
  json::error_code error;
  const auto number = value->to_number<int64_t>(error);
  if (error || number < least || number > most)
    return wrong(key, "must be a whole number between " + std::to_string(least) + " and " +
                          std::to_string(most));
  return number;
}

}  // namespace atl::simulate
