// Visits a variant with one lambda per alternative.
#pragma once

#include <variant>

namespace atl {

template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

template <class Variant, class... Fs>
decltype(auto) match(Variant&& variant, Fs&&... fs) {
  return std::visit(overloaded{std::forward<Fs>(fs)...}, std::forward<Variant>(variant));
}

}  // namespace atl
