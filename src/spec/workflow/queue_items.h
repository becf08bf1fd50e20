// A step that goes through the items of a queue.
//
//   for_each: {queue: urls}
//   for_each: {queue: "{params.queue}", workers: {min: 2, max: 8}, batch: 10, until: closed}
#pragma once

#include <optional>
#include <string>

#include "core/workflow/feed.h"
#include "spec/workflow/workflow_file.h"

namespace atl::spec {

inline constexpr uint32_t kWorkersUsual = 8;

// Nothing when it goes through something else. References in the name of the queue stay in it.
[[nodiscard]] Result<std::optional<core::FeedTerms>> feed_of(const std::optional<Json>& for_each);

// What does not go together with a queue.
[[nodiscard]] Result<void> check_fed_step(const WrittenStep& step);

// Whether the step leaves an output of that name: one that it declares, or a count of items.
bool leaves(const WrittenStep& step, const std::string& name);

}  // namespace atl::spec
