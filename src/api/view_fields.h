// Short spellings for the tables of views_*.cpp: every field of an answer is always there, and null
// when unknown.
#pragma once

#include <array>

#include "api/job_row.h"
#include "api/views.h"

namespace atl::api {

using spec::answer;
using spec::Field;
using spec::Kind;
using spec::Shape;

constexpr Field always(Kind kind, const char* name, const char* sentence,
                       const Shape& (*shape)() = nullptr) {
  return answer(kind, {.name = name, .sentence = sentence, .required = true}, shape);
}
constexpr Field maybe(Kind kind, const char* name, const char* sentence,
                      const Shape& (*shape)() = nullptr) {
  return answer(kind, {.name = name, .sentence = sentence, .required = true, .nullable = true},
                shape);
}
constexpr Field word(const char* name, const char* sentence, std::span<const char* const> choices) {
  return answer(Kind::text,
                {.name = name, .sentence = sentence, .choices = choices, .required = true});
}
constexpr Field maybe_word(const char* name, const char* sentence,
                           std::span<const char* const> choices) {
  return answer(
      Kind::text,
      {.name = name, .sentence = sentence, .choices = choices, .required = true, .nullable = true});
}
// Left out when it does not apply.
constexpr Field sometimes(Kind kind, const char* name, const char* sentence,
                          const Shape& (*shape)() = nullptr) {
  return answer(kind, {.name = name, .sentence = sentence}, shape);
}

}  // namespace atl::api
