// What is in the way as a sentence. Its amounts are of one place: a node, a quota or a tier, and so
// are those of the holders. Times are written as in all data, by RFC 3339 in UTC, so that whoever
// shows them can show them by the clock on the wall.
#pragma once

#include <string>

#include "core/scheduling/holders.h"

namespace atl::core::scheduling {

std::string sentence_for(const World& world, const Job& job, const Block& block);

// " (bio has 2, chem has 2, 1 of it borrowed; enough free by ... at the latest)"; empty: nobody.
std::string holders_text(const World& world, const Block& block, const Holders& holders);

// "4 cores", "2Gi of memory", "3 tasks", "1 gpu:a100".
std::string format_amount(const std::string& resource, int64_t value);

// Without parts of a second, which nobody who reads has any use for.
std::string told(Time time);

}  // namespace atl::core::scheduling
