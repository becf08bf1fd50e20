// What a job runs that works on items of a queue.
#include <boost/json.hpp>
#include <charconv>

#include "runtime/task_payload.h"

namespace atl::runtime {
namespace {

namespace json = boost::json;

constexpr size_t kVariableBytesMax = 96 << 10;  // Linux takes no longer one than 128 KiB

bool fits_variable(const std::string& value) {
  return value.size() <= kVariableBytesMax && value.find('\0') == std::string::npos;
}

// A number as people write it: 0.5, not 5E-1.
std::string plain_text(const json::value& value) {
  if (value.is_string()) return std::string(value.as_string());
  if (!value.is_double()) return json::serialize(value);
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value.as_double());
  return {text, end};
}

// An object of plain values has their names; anything else is one text.
void name_values(const std::string& body, core::Payload& shared) {
  boost::system::error_code error;
  const json::value value = body.starts_with('{') ? json::parse(body, error) : json::value();
  if (error || !value.is_object() || value.as_object().empty()) return;
  for (const auto& entry : value.as_object()) {
    if (entry.value().is_object() || entry.value().is_array()) return;
  }
  shared.items.clear();
  for (const auto& entry : value.as_object()) {
    shared.item_keys.emplace_back(entry.key());
    shared.items.push_back(plain_text(entry.value()));
  }
}

}  // namespace

core::Payload payload_of_items(core::Payload shared, const std::map<ItemId, std::string>& bodies,
                               bool one) {
  std::string numbers, all;
  for (const auto& [id, body] : bodies) {
    numbers += (numbers.empty() ? "" : ",") + std::to_string(id.value);
    all += body;
    if (!one && !body.ends_with('\n')) all += '\n';
  }
  shared.items = {all};
  if (one) name_values(all, shared);
  core::Payload own = payload_of_task(shared, 0);
  std::erase_if(own.env, [](const auto& each) {
    return each.first.starts_with("ATOLL_ITEM") && !fits_variable(each.second);
  });
  own.env["ATOLL_ITEM_ID"] = numbers;
  own.item_keys.clear();
  own.stdin_text = std::move(all);
  return own;
}

}  // namespace atl::runtime
