#include "api/aside_message.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "spec/json_writer.h"

namespace atl::api {
namespace {

namespace json = boost::json;

// Null unless it is an object with all that is needed.
const json::object* object_of(const json::value& value,
                              std::initializer_list<std::pair<const char*, json::kind>> members) {
  const json::object* object = value.if_object();
  if (!object) return nullptr;
  for (const auto& [name, kind] : members) {
    const json::value* member = object->if_contains(name);
    if (!member || member->kind() != kind) return nullptr;
  }
  return object;
}

int64_t integer(const json::object& object, const char* name) { return object.at(name).as_int64(); }

bool add_start(const json::value& value, core::Outlooks& starts) {
  const json::object* start = object_of(value, {{"job", json::kind::int64},
                                                {"at_us", json::kind::int64},
                                                {"not_before_us", json::kind::int64},
                                                {"last_us", json::kind::int64},
                                                {"rough", json::kind::bool_}});
  if (!start) return false;
  starts[JobId{static_cast<uint64_t>(integer(*start, "job"))}] = {
      .at = {integer(*start, "at_us")},
      .not_before = {integer(*start, "not_before_us")},
      .rough = start->at("rough").as_bool(),
      .last = {integer(*start, "last_us")}};
  return true;
}

// Nothing when the line is not one of ours, or was cut off.
std::optional<core::Outlooks> starts_of(std::string_view line) {
  std::error_code error;
  const json::value value = json::parse(line, error);
  const json::object* message = error ? nullptr : object_of(value, {{"starts", json::kind::array}});
  if (!message) return std::nullopt;
  core::Outlooks starts;
  for (const json::value& each : message->at("starts").as_array()) {
    if (!add_start(each, starts)) return std::nullopt;
  }
  return starts;
}

std::optional<ErrorCode> code_of(std::string_view word) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    if (to_string(static_cast<ErrorCode>(code)) == word) return static_cast<ErrorCode>(code);
  }
  return std::nullopt;
}

}  // namespace

std::string starts_message(const core::Outlooks& starts) {
  std::string out;
  spec::JsonWriter json(out);
  json.begin_object().key("starts").begin_array();
  for (const auto& [id, each] : starts)
    json.begin_object()
        .member("job", id.value)
        .member("at_us", each.at.us)
        .member("not_before_us", each.not_before.us)
        .member("last_us", each.last.us)
        .member("rough", each.rough)
        .end_object();
  json.end_array().end_object();
  return out + "\n";
}

core::Outlooks last_starts(std::string_view said) {
  core::Outlooks last;
  for (const std::string_view line : split(said, '\n')) {
    if (auto starts = starts_of(line)) last = std::move(*starts);
  }
  return last;
}

std::string answer_message(const Result<std::string>& body) {
  std::string out;
  spec::JsonWriter json(out);
  json.begin_object();
  if (body)
    json.member("body", *body);
  else
    json.key("refused")
        .begin_object()
        .member("code", to_string(body.error().code))
        .member("field", body.error().field)
        .member("message", body.error().message)
        .end_object();
  json.end_object();
  return out + "\n";
}

Result<std::string> answer_of(std::string_view said) {
  std::error_code error;
  const json::value value = json::parse(said, error);
  if (!error) {
    if (const auto* answer = object_of(value, {{"body", json::kind::string}}))
      return std::string(answer->at("body").as_string());
    const auto* refused = object_of(value, {{"refused", json::kind::object}});
    const auto* why = refused ? object_of(refused->at("refused"), {{"code", json::kind::string},
                                                                   {"field", json::kind::string},
                                                                   {"message", json::kind::string}})
                              : nullptr;
    const auto code = why ? code_of(why->at("code").as_string()) : std::nullopt;
    if (code)
      return fail(*code, std::string(why->at("message").as_string()),
                  std::string(why->at("field").as_string()));
  }
  return fail(ErrorCode::internal, "a copy of the server said what nobody understands");
}

}  // namespace atl::api
