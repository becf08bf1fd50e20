// When something starts, and what would start sooner, for people.
#pragma once

#include "cli/output.h"

namespace atl::cli {

// "to start about 14:20, between 14:05 and 15:10"; empty when the server said nothing.
std::string shown_start(const Json& expected_start);

// Who has what is waited for, since when and until when.
void holder_lines(Card& card, const Json& why);
// When it is expected, when at the latest, and what would start now or sooner.
void start_lines(Card& card, const Json& why);

// The answer to a dry run.
std::string dry_run_card(Session& session, const Json& answer);

}  // namespace atl::cli
