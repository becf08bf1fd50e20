#include "api/quota_view.h"

namespace atl::api {

void write_quota(spec::JsonWriter& json, const core::Quota& quota) {
  json.begin_object();
  if (quota.cpu_milli) json.key("cpus").milli(*quota.cpu_milli);
  if (quota.memory_bytes) json.member("memory", *quota.memory_bytes);
  if (!quota.devices.empty()) {
    json.key("devices").begin_object();
    for (const auto& [kind, count] : quota.devices) json.member(kind, count);
    json.end_object();
  }
  if (quota.running) json.member("running", *quota.running);
  if (quota.queued) json.member("queued", *quota.queued);
  json.end_object();
}

void write_use(spec::JsonWriter& json, const core::InUse& in_use) {
  json.key("cpus").milli(in_use.cpu_milli).member("memory", in_use.memory_bytes);
  json.key("devices").begin_object();
  for (const auto& [kind, milli] : in_use.devices) json.key(kind).milli(milli);
  json.end_object().member("running", in_use.tasks);
}

void write_borrowed(spec::JsonWriter& json, const core::Quota& nominal, const core::InUse& in_use) {
  core::Quota over;
  if (nominal.cpu_milli && in_use.cpu_milli > *nominal.cpu_milli)
    over.cpu_milli = in_use.cpu_milli - *nominal.cpu_milli;
  if (nominal.memory_bytes && in_use.memory_bytes > *nominal.memory_bytes)
    over.memory_bytes = in_use.memory_bytes - *nominal.memory_bytes;
  if (nominal.running && in_use.tasks > *nominal.running)
    over.running = in_use.tasks - *nominal.running;
  for (const auto& [kind, count] : nominal.devices) {
    const auto used = in_use.devices.find(kind);
    const int64_t sure = int64_t{count} * core::kWholeDevice;
    if (used != in_use.devices.end() && used->second > sure)
      over.devices[kind] = static_cast<uint32_t>((used->second - sure + core::kWholeDevice - 1) /
                                                 core::kWholeDevice);
  }
  write_quota(json, over);
}

}  // namespace atl::api
