// What one task of an array runs, of a payload that all of them share.
#pragma once

#include <map>
#include <string>

#include "base/ids.h"
#include "core/payload.h"

namespace atl::runtime {

// With the task's own item in place of {item} and {item.KEY}, and in ATOLL_ITEM and
// ATOLL_ITEM_KEY; without the items of the others. The shared one is as before.
core::Payload payload_of_task(core::Payload& shared, uint32_t index);

// What a job runs that was leased items of a queue: `one` as the item of a task, and on standard
// input; several as lines. A variable that could not hold it is left out.
core::Payload payload_of_items(core::Payload shared, const std::map<ItemId, std::string>& bodies,
                               bool one);

}  // namespace atl::runtime
