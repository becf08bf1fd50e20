// What work says about where it may run, one text: nothing or "any" (every site that takes work
// which does not name it), a name, or several in the order they are liked, "lab|cluster|any", of
// which the last may be "any": all others. A site that only pretends, beside others that do not, is
// meant only by work that names it alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace atl::core {

inline constexpr std::string_view kAnySite = "any";

// How much it likes the site, 0 the most; nothing: it is not meant for it.
std::optional<uint32_t> site_rank(const std::string& choice, const std::string& site,
                                  bool only_by_name);

// The one site that it names, and nothing but it; null where it leaves a choice or there is none of
// that name.
const Site* sole_site(const State& state, const std::string& choice);

// Whether it leaves several sites open, however many there are now.
bool leaves_choice(const std::string& choice);

// The sites that it names, in order, without "any".
std::vector<std::string> named_sites(const std::string& choice);

// Whether the text can be meant at all: names, each once, "any" last.
[[nodiscard]] Result<void> check_site_choice(const std::string& choice);
// And whether there are such sites, to which the work may go.
[[nodiscard]] Result<void> check_sites_exist(const State& state, const std::string& choice);

}  // namespace atl::core
