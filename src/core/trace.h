// Events as one line of text, for conversations in testdata/ and for the simulator's trace: the
// event's name, then its members that differ from their defaults.
#pragma once

#include <string>

#include "core/event.h"

namespace atl::core {

std::string to_text(const EventBody& body);

}  // namespace atl::core
