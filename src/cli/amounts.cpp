#include "cli/amounts.h"

#include <map>

#include "base/amount.h"
#include "base/text.h"

namespace atl::cli {
namespace {

tl::unexpected<Error> no_amount(std::string_view word, const std::string& why) {
  return fail(ErrorCode::invalid, quote(word) + " is not an amount" + why +
                                      ": write cpu=64, memory=256Gi, gpu=8, gpu:a100=2 or "
                                      "running=100");
}

Result<void> add_amount(core::Quota& quota, std::string_view word) {
  static const std::map<std::string_view, const char*> kOthers{
      {"cpus", "cpu"}, {"cores", "cpu"}, {"mem", "memory"}, {"tasks", "running"}};
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return no_amount(word, "");
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (const auto other = kOthers.find(key); other != kOthers.end())
    return no_amount(word, " (write " + std::string(other->second) + ")");
  const bool again = (key == "cpu" && quota.cpu_milli) || (key == "memory" && quota.memory_bytes) ||
                     (key == "running" && quota.running) || (key == "queued" && quota.queued) ||
                     quota.devices.count(std::string(key)) > 0;
  if (again) return fail(ErrorCode::invalid, quote(key) + " is named twice; keep one of them");
  if (key == "cpu") {
    const auto milli = parse_milli(value);
    if (!milli) return tl::unexpected(milli.error());
    quota.cpu_milli = *milli;
    return {};
  }
  if (key == "memory") {
    const auto bytes = parse_bytes(value);
    if (!bytes) return tl::unexpected(bytes.error());
    quota.memory_bytes = *bytes;
    return {};
  }
  const auto count = parse_int(value);
  if (!count || *count < 0) return no_amount(word, "");
  if (*count > UINT32_MAX)
    return fail(ErrorCode::invalid, quote(word) + " is too large; leave it out for no limit");
  if (key == "running") {
    quota.running = static_cast<uint64_t>(*count);
  } else if (key == "queued") {
    quota.queued = static_cast<uint64_t>(*count);
  } else {
    for (const std::string_view part : split(key, ':')) {
      if (!check_identifier(part, "device")) return no_amount(word, "");
    }
    quota.devices[std::string(key)] = static_cast<uint32_t>(*count);
  }
  return {};
}

std::string amount_text(const Json& value, bool bytes) {
  return bytes ? format_bytes(value.integer()) : value.text();
}

}  // namespace

Result<core::Quota> parse_amounts(const std::vector<std::string>& words) {
  core::Quota quota;
  for (const std::string& word : words) {
    for (const std::string_view part : split(word, ',')) {
      if (auto ok = add_amount(quota, part); !ok) return tl::unexpected(ok.error());
    }
  }
  return quota;
}

std::string shown_amounts(const Json& quota) {
  std::string out;
  const auto add = [&](const std::string& name, const Json& value, bool bytes) {
    if (!value.is_null()) out += (out.empty() ? "" : ", ") + name + " " + amount_text(value, bytes);
  };
  add("cpu", quota["cpus"], false);
  add("memory", quota["memory"], true);
  for (const auto& [kind, count] : quota["devices"].members()) add(kind, count, false);
  add("running", quota["running"], false);
  add("queued", quota["queued"], false);
  return out;
}

std::string used_of_limit(const Json& thing, const char* limit_key, const char* key, bool bytes) {
  const Json used = thing["in_use"][key];
  const Json limit = thing[limit_key][key];
  if (limit.is_null()) return used.is_null() ? "" : amount_text(used, bytes);
  return (used.is_null() ? "0" : amount_text(used, bytes)) + " of " + amount_text(limit, bytes);
}

std::string used_devices(const Json& thing, const char* limit_key) {
  std::string out;
  const Json used = thing["in_use"]["devices"];
  const Json limits = thing[limit_key]["devices"];
  for (const auto& [kind, limit] : limits.members()) {
    out += (out.empty() ? "" : ", ") + kind + " " +
           (used[kind].is_null() ? "0" : used[kind].text()) + " of " + limit.text();
  }
  for (const auto& [kind, count] : used.members()) {
    if (limits[kind].is_null() && count.integer() > 0)
      out += (out.empty() ? "" : ", ") + kind + " " + count.text();
  }
  return out;
}

}  // namespace atl::cli
