#include "core/site_choice.h"

#include <algorithm>

#include "base/text.h"
#include "core/decide.h"
#include "core/limits.h"

namespace atl::core {
namespace {

constexpr char kOr = '|';

bool is_any(std::string_view choice) { return choice.empty() || choice == kAnySite; }

// The pieces, until `visit` returns true.
template <class Visit>
void for_each_piece(std::string_view choice, Visit visit) {
  for (size_t begin = 0; begin <= choice.size();) {
    const size_t end = std::min(choice.find(kOr, begin), choice.size());
    if (visit(choice.substr(begin, end - begin))) return;
    begin = end + 1;
  }
}

}  // namespace

bool leaves_choice(const std::string& choice) {
  return is_any(choice) || choice.find(kOr) != std::string::npos;
}

std::optional<uint32_t> site_rank(const std::string& choice, const std::string& site,
                                  bool only_by_name) {
  if (!leaves_choice(choice)) return choice == site ? std::optional<uint32_t>(0) : std::nullopt;
  if (only_by_name) return std::nullopt;
  if (is_any(choice)) return 0;
  std::optional<uint32_t> rank;
  uint32_t place = 0;
  for_each_piece(choice, [&](std::string_view piece) {
    if (piece == site || piece == kAnySite) rank = place;
    ++place;
    return rank.has_value();
  });
  return rank;
}

const Site* sole_site(const State& state, const std::string& choice) {
  return leaves_choice(choice) ? nullptr : state.site_named(choice);
}

std::vector<std::string> named_sites(const std::string& choice) {
  std::vector<std::string> names;
  if (is_any(choice)) return names;
  for_each_piece(choice, [&](std::string_view piece) {
    if (piece != kAnySite) names.emplace_back(piece);
    return false;
  });
  return names;
}

Result<void> check_site_choice(const std::string& choice) {
  if (is_any(choice)) return {};
  std::vector<std::string_view> seen;
  Result<void> checked;
  for_each_piece(choice, [&](std::string_view piece) {
    checked = check_identifier(std::string(piece), "site");
    if (checked && !seen.empty() && seen.back() == kAnySite)
      checked = fail(ErrorCode::invalid, "any stands last: it means all other sites", "site");
    if (checked && std::find(seen.begin(), seen.end(), piece) != seen.end())
      checked = fail(ErrorCode::invalid, "site " + quote(piece) + " is named twice", "site");
    seen.push_back(piece);
    if (checked && seen.size() > kSiteChoicesMax)
      checked = fail(ErrorCode::invalid,
                     "at most " + std::to_string(kSiteChoicesMax) + " sites may be named", "site");
    return !checked;
  });
  return checked;
}

Result<void> check_sites_exist(const State& state, const std::string& choice) {
  if (auto ok = check_site_choice(choice); !ok) return ok;
  for (const std::string& name : named_sites(choice)) {
    const Site* site = state.site_named(name);
    if (!site) {
      Error error = no_such_site(state, name, "site");
      error.code = ErrorCode::invalid;
      return tl::unexpected(std::move(error));
    }
    if (leaves_choice(choice) && only_by_name(state, *site))
      return fail(ErrorCode::invalid,
                  "site " + name + " only pretends to run work: name it alone, or leave it out",
                  "site");
  }
  return {};
}

}  // namespace atl::core
