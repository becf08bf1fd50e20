// Conditions over parameters, environment and what earlier steps left: `when` of a step, and what a
// `check` says of its outputs.
//
//   {eq: [a, b]}  also ne gt lt ge le     {in: [a, [b, c]]}     {not: condition}
//   {and: [conditions]}  also or xor nand nor xnor; of xor some hold and some do not
//
// Several in a list all have to hold. An operand is a value, a text with references such as
// {params.year}, or {params: year}, {env: HOME}, {output: step.name}. Values that look like numbers
// are compared as numbers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/template.h"

namespace atl::spec {

// What a reference stands for, as JSON: a text in quotes, a number, true, null …
using Lookup = std::function<Result<std::string>(const Reference& reference)>;

// Whether it is a condition at all; `json` is its text.
[[nodiscard]] Result<void> check_condition(const std::string& json);

// All that it refers to.
std::vector<Reference> references_of(const std::string& json);

// `strict`: a text is never a number and holds no references, as where values have types of their
// own.
[[nodiscard]] Result<bool> holds(const std::string& json, const Lookup& lookup,
                                 bool strict = false);

}  // namespace atl::spec
