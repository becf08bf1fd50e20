#include "core/trace.h"

#include "base/text.h"
#include "base/wire.h"

namespace atl::core {
namespace {

template <class T>
std::string text_of(const T& value);

template <Described T>
std::string members_of(const T& object) {
  std::string out;
  for_each_changed_member(object, [&](const char* name, const auto& member, int) {
    if (!out.empty()) out += ' ';
    (out += name) += '=';
    out += text_of(member);
  });
  return out;
}

template <class T>
std::string list_of(const T& items) {
  std::string out;
  for (const auto& item : items) {
    if (!out.empty()) out += ' ';
    out += text_of(item);
  }
  return "[" + out + "]";
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return quote(value);
  } else if constexpr (std::is_same_v<T, AttemptId>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<T, TaskId>) {
    return to_string(value, true);
  } else if constexpr (std::is_same_v<T, Digest>) {
    return to_hex(value).substr(0, 8);
  } else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Duration>) {
    return std::to_string(value.us) + "us";
  } else if constexpr (wire::IsId<T>::value) {
    return std::to_string(value.value);
  } else if constexpr (std::is_enum_v<T>) {
    return enum_name(value);
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, IntervalSet>) {
    return format_intervals(value);
  } else if constexpr (wire::IsOptional<T>::value) {
    return text_of(*value);
  } else if constexpr (wire::IsMap<T>::value) {
    std::string out;
    for (const auto& [key, item] : value) (out += text_of(key) + ":") += text_of(item) + " ";
    return "{" + out + "}";
  } else if constexpr (wire::IsVector<T>::value || wire::IsArray<T>::value) {
    return list_of(value);
  } else {
    return "{" + members_of(value) + "}";
  }
}

}  // namespace

std::string to_text(const EventBody& body) {
  const std::string members = std::visit([](const auto& event) { return members_of(event); }, body);
  return std::string(event_name(body)) + (members.empty() ? "" : " ") + members;
}

}  // namespace atl::core
