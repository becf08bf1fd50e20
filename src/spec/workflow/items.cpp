#include "spec/workflow/items.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "base/interval_set.h"
#include "base/text.h"
#include "core/limits.h"
#include "spec/workflow/plain_json.h"

namespace atl::spec {
namespace {

namespace json = boost::json;

tl::unexpected<Error> refuse_items(std::string message) {
  return fail(ErrorCode::invalid, "for_each " + std::move(message));
}

bool is_single(const json::value& value) {
  return !value.is_object() && !value.is_array() && !value.is_null();
}

Result<void> check_scalars(const json::value& value, const char* what) {
  if (value.is_string()) return {};  // with a reference in it
  if (!value.is_array()) return refuse_items(std::string(what) + " must be a list of values");
  const bool all = std::all_of(value.as_array().begin(), value.as_array().end(), is_single);
  if (!all) return refuse_items(std::string(what) + " may hold texts and numbers only");
  return {};
}

Result<void> check_maps(const json::array& list) {
  const json::object& first = list.front().as_object();
  for (const json::value& each : list) {
    if (!each.is_object() || each.as_object().size() != first.size())
      return refuse_items("holds items with different keys; give each the same");
    for (const auto& entry : each.as_object()) {
      if (!first.contains(entry.key()))
        return refuse_items("holds items with different keys: " + std::string(entry.key()));
      if (!is_single(entry.value())) return refuse_items("may hold texts and numbers only");
    }
  }
  return {};
}

Result<void> check_object(const json::object& object) {
  if (object.contains("queue")) return {};  // queue_items.h looks at it
  if (object.size() != 1)
    return refuse_items("takes one of range, file, grid, queue and output, and here are " +
                        std::to_string(object.size()));
  const auto& entry = *object.begin();
  const std::string_view kind{entry.key().data(), entry.key().size()};
  if (kind == "grid") {
    if (!entry.value().is_object() || entry.value().as_object().empty())
      return refuse_items("grid needs lists by name: {grid: {lr: [0.1, 0.2]}}");
    for (const auto& each : entry.value().as_object()) {
      if (auto ok = check_scalars(each.value(), "grid"); !ok) return ok;
    }
    return {};
  }
  if (kind != "range" && kind != "file" && kind != "output") {
    const auto meant =
        did_you_mean(std::string(kind), {"range", "file", "grid", "queue", "output"});
    return refuse_items("has " + quote(kind) +
                        ", which is none of range, file, grid, queue and output" +
                        (meant ? "; did you mean " + *meant + "?" : ""));
  }
  if (!is_single(entry.value())) return refuse_items(std::string(kind) + " must be one text");
  return {};
}

// Lines, or what a JSON list holds.
Result<Items> items_in_text(const std::string& text);

Result<Items> from_list(const json::array& list) {
  Items items;
  if (list.empty()) return items;
  if (list.front().is_object()) {
    if (auto ok = check_maps(list); !ok) return tl::unexpected(ok.error());
    for (const auto& entry : list.front().as_object()) items.keys.emplace_back(entry.key());
    for (const json::value& each : list) {
      for (const std::string& key : items.keys)
        items.values.push_back(plain_text(each.as_object().at(key)));
    }
    return items;
  }
  for (const json::value& each : list) {
    if (!is_single(each)) return refuse_items("may hold texts and numbers only");
    items.values.push_back(plain_text(each));
  }
  return items;
}

Result<Items> items_in_text(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (!error && value.is_array()) return from_list(value.as_array());
  Items items;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    size_t size = end - at;
    if (size > 0 && text[end - 1] == '\r') --size;
    if (size > 0) items.values.push_back(text.substr(at, size));
    at = end + 1;
  }
  return items;
}

Result<Items> from_range(const std::string& text) {
  const auto numbers = parse_intervals(text, core::kArraySizeMax);
  if (!numbers) return refuse_items("range " + numbers.error().message);
  Items items;
  items.values.reserve(numbers->size());
  for (const Interval& range : numbers->ranges()) {
    for (uint64_t i = range.first; i <= range.last; ++i) items.values.push_back(std::to_string(i));
  }
  return items;
}

class Resolver {
 public:
  Resolver(const Lookup& lookup, const FileText& file) : lookup_(lookup), file_(file) {}

  Result<Items> of(const json::value& value) const {
    if (value.is_array()) return from_list(value.as_array());
    if (value.is_string()) return from_text(std::string(value.as_string()));
    const auto& entry = *value.as_object().begin();
    const std::string_view kind{entry.key().data(), entry.key().size()};
    if (kind == "grid") return from_grid(entry.value().as_object());
    auto text = filled(plain_text(entry.value()));
    if (!text) return tl::unexpected(text.error());
    if (kind == "range") return from_range(*text);
    if (kind == "output") {
      const size_t dot = text->find('.');
      if (dot == std::string::npos) return refuse_items("output must be STEP.NAME");
      return from_text("{steps." + text->substr(0, dot) + ".outputs" + text->substr(dot) + "}");
    }
    const auto lines = file_(*text);
    if (!lines) return tl::unexpected(lines.error());
    return items_in_text(*lines);
  }

 private:
  Result<Items> from_text(const std::string& text) const {
    const auto known = filled(text);
    if (!known) return tl::unexpected(known.error());
    return items_in_text(*known);
  }

  Result<std::string> filled(const std::string& text) const {
    std::optional<Error> wrong;
    std::string whole = expand(text, [&](const Reference& each) -> std::optional<std::string> {
      const auto found = lookup_(each);
      if (!found) {
        wrong = found.error();
        return std::nullopt;
      }
      boost::system::error_code error;
      const json::value value = json::parse(*found, error);
      return error ? *found : plain_text(value);
    });
    if (wrong) return tl::unexpected(*wrong);
    return whole;
  }

  Result<Items> from_grid(const json::object& grid) const {
    Items items;
    std::vector<std::vector<std::string>> axes;
    uint64_t count = 1;
    for (const auto& entry : grid) {
      items.keys.emplace_back(entry.key());
      auto axis = of(entry.value());
      if (!axis) return axis;
      if (!axis->keys.empty()) return refuse_items("grid may hold lists of single values only");
      count *= axis->values.size();
      if (count > core::kArraySizeMax) return refuse_items("makes more than 10000000 tasks");
      axes.push_back(std::move(axis->values));
    }
    items.values.reserve(count * axes.size());
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t block = count, rest = i;
      for (const auto& axis : axes) {
        block /= axis.size();
        items.values.push_back(axis[rest / block]);
        rest %= block;
      }
    }
    return items;
  }

  const Lookup& lookup_;
  const FileText& file_;
};

Result<json::value> parsed_items(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) return refuse_items("cannot be read");
  return value;
}

}  // namespace

Result<void> check_for_each(const std::string& text) {
  const auto value = parsed_items(text);
  if (!value) return tl::unexpected(value.error());
  if (value->is_object()) return check_object(value->as_object());
  if (value->is_array()) {
    const json::array& list = value->as_array();
    if (list.empty())
      return refuse_items("is an empty list; leave it out or name what to go through");
    return list.front().is_object() ? check_maps(list) : check_scalars(*value, "list");
  }
  if (value->is_string() && !references_in(std::string_view(value->as_string())).empty()) return {};
  return refuse_items(
      "must be a list, {range: 1-10}, {file: PATH}, {grid: …}, {queue: NAME} or a "
      "reference such as {steps.find.outputs.names}");
}

std::vector<std::string> files_of(const std::string& text) {
  const auto value = parsed_items(text);
  if (!value || !value->is_object()) return {};
  const auto* file = value->as_object().if_contains("file");
  if (!file || !is_single(*file)) return {};
  return {plain_text(*file)};
}

Result<Items> items_of(const std::string& text, const Lookup& lookup, const FileText& file) {
  if (auto ok = check_for_each(text); !ok) return tl::unexpected(ok.error());
  auto items = Resolver(lookup, file).of(*parsed_items(text));
  if (!items) return items;
  size_t bytes = 0;
  for (const std::string& each : items->values) bytes += each.size() + 8;
  if (bytes > kItemsBytesMax)
    return refuse_items("holds more than 64 MiB; go through files instead");
  if (items->count() > core::kArraySizeMax) return refuse_items("makes more than 10000000 tasks");
  return items;
}

}  // namespace atl::spec
