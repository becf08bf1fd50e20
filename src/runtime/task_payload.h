// What one task of an array runs, of a payload that all of them share.
#pragma once

#include "core/payload.h"

namespace atl::runtime {

// With the task's own item in place of {item} and {item.KEY}, and in ATOLL_ITEM and
// ATOLL_ITEM_KEY; without the items of the others. The shared one is as before.
core::Payload payload_of_task(core::Payload& shared, uint32_t index);

}  // namespace atl::runtime
