// Queues as answers show them. For the sources of this room only.
#pragma once

#include "api/context.h"
#include "core/queue/queue.h"

namespace atl::api {

// The queue that the path names, if the actor may see its namespace.
[[nodiscard]] Result<const core::WorkQueue*> queue_in_path(const CallPtr& call,
                                                           const core::State& state);
std::string namespace_in_path(const CallPtr& call);
std::string queue_name_in_path(const CallPtr& call);

std::vector<ItemId> items_of(const std::optional<std::vector<int64_t>>& numbers);

// The body as text, or in base64 when it is none.
void write_body(spec::JsonWriter& json, const std::string& bytes);

}  // namespace atl::api
