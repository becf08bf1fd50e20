// Quotas and what is used of them, as namespaces and cohorts both show them. For the sources of
// this room only.
#pragma once

#include "core/state.h"
#include "spec/json_writer.h"

namespace atl::api {

void write_quota(spec::JsonWriter& json, const core::Quota& quota);

// Members of an object that is begun: cpus, memory, devices, running.
void write_use(spec::JsonWriter& json, const core::InUse& in_use);

// What is used beyond the quota: {} when nothing is.
void write_borrowed(spec::JsonWriter& json, const core::Quota& nominal, const core::InUse& in_use);

}  // namespace atl::api
