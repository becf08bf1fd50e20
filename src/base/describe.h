// Reflection over plain structs: a struct names its members once with ATOLL_DESCRIBE, and the
// journal's codec, the warden's protocol and the test traces all read that list. The order of the
// list is the field number on disk and on the wire, so members are only ever appended; golden files
// in the tests hold us to it.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <type_traits>

#define ATOLL_DESCRIBE(Type, ...) BOOST_DESCRIBE_STRUCT(Type, (), (__VA_ARGS__))

namespace atl {

template <class T>
concept Described = boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;

template <class T>
using MembersOf = boost::describe::describe_members<T, boost::describe::mod_public>;

// Calls fn(name, member_reference, index) for each described member.
template <class T, class Fn>
void for_each_member(T&& object, Fn&& fn) {
  int index = 0;
  boost::mp11::mp_for_each<MembersOf<std::remove_cvref_t<T>>>(
      [&](auto member) { fn(member.name, object.*member.pointer, index++); });
}

// Calls fn(name, member_reference, index) for each member that differs from that of a
// default-constructed object.
template <class T, class Fn>
void for_each_changed_member(const T& object, Fn&& fn) {
  static const T kDefault{};
  int index = 0;
  boost::mp11::mp_for_each<MembersOf<T>>([&](auto member) {
    if (!(object.*member.pointer == kDefault.*member.pointer))
      fn(member.name, object.*member.pointer, index);
    ++index;
  });
}

template <class E>
concept DescribedEnum = boost::describe::has_describe_enumerators<E>::value;

template <DescribedEnum E>
constexpr const char* enum_name(E value) {
  const char* name = "?";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto entry) {
    if (entry.value == value) name = entry.name;
  });
  return name;
}

template <DescribedEnum E, class Text>
bool enum_from_name(const Text& text, E& value) {
  bool found = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto entry) {
    if (!found && text == entry.name) {
      value = entry.value;
      found = true;
    }
  });
  return found;
}

}  // namespace atl
