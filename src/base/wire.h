// A compact, forward-compatible binary form of described structs (describe.h), used by the journal,
// by snapshots and by the warden's protocol.
//
//   struct  := { field }                        until the enclosing length ends
//   field   := varint(number * 2 + shape) value   number counts from 1 in the order of
//   ATOLL_DESCRIBE shape 0 := varint                           integers (signed ones zigzag), bool,
//   enums, ids, times shape 1 := varint(length) bytes             strings, digests, structs, lists,
//   maps, variants list    := varint(count) { item }           an item is its value without a field
//   header; structs carry a length map     := varint(count) { key value } maybe   := varint(0) |
//   varint(1) value     an optional variant := varint(index + 1) item
//
// A member equal to that of a default-constructed struct is left out, so a default is part of the
// format. A reader skips field numbers it does not know, so an older program reads what a newer one
// wrote as far as it understands it; whether it may is decided by the format version, not here.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "base/flat.h"
#include "base/id_map.h"
#include "base/ids.h"
#include "base/interval_set.h"
#include "base/lazy_map.h"
#include "base/result.h"
#include "base/time.h"

namespace atl::wire {

inline constexpr int kDepthMax = 16;              // nesting that our own types never reach
inline constexpr uint64_t kCountMax = 100000000;  // items in one list

inline void put_varint(std::string& out, uint64_t value) {
  char buffer[10];
  int n = 0;
  while (value >= 0x80) {
    buffer[n++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  buffer[n++] = static_cast<char>(value);
  out.append(buffer, n);
}

// Reads a byte range; after the first error every read returns zero and ok() is false, so callers
// test once.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool ok() const { return ok_; }
  bool done() const { return !ok_ || at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  void fail() {
    ok_ = false;
    at_ = end_;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  std::string_view bytes() {
    const uint64_t length = varint();
    if (length > left()) {
      fail();
      return {};
    }
    std::string_view view(at_, length);
    at_ += length;
    return view;
  }

 private:
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

template <class T>
struct IsId : std::false_type {};
template <class Tag, class Int>
struct IsId<Id<Tag, Int>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <class K, class V>
struct IsMap<LazyMap<K, V>> : std::true_type {};
template <class K, class V>
struct IsMap<FlatMap<K, V>> : std::true_type {};
template <class K, class V>
struct IsMap<IdMap<K, V>> : std::true_type {};
template <class T>
struct IsSet : std::false_type {};
template <class T>
struct IsSet<std::set<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... Ts>
struct IsVariant<std::variant<Ts...>> : std::true_type {};

template <class T>
inline constexpr bool kIsVarint = std::is_integral_v<T> || std::is_enum_v<T> || IsId<T>::value ||
                                  std::is_same_v<T, Time> || std::is_same_v<T, Duration>;

inline uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
inline int64_t unzigzag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

template <class T>
uint64_t to_varint(const T& value) {
  if constexpr (IsId<T>::value)
    return value.value;
  else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Duration>)
    return zigzag(value.us);
  else if constexpr (std::is_enum_v<T>)
    return static_cast<uint64_t>(value);
  else if constexpr (std::is_signed_v<T>)
    return zigzag(value);
  else
    return static_cast<uint64_t>(value);
}

template <class T>
bool from_varint(uint64_t raw, T& value) {
  if constexpr (IsId<T>::value)
    return from_varint(raw, value.value);
  else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Duration>)
    value.us = unzigzag(raw);
  else if constexpr (std::is_same_v<T, bool>)
    value = raw != 0;
  else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(raw);
    return raw < 256;
  } else if constexpr (std::is_signed_v<T>) {
    const int64_t wide = unzigzag(raw);
    value = static_cast<T>(wide);
    return value == wide;
  } else {
    value = static_cast<T>(raw);
    return value == raw;
  }
  return true;
}

template <class T>
void put(std::string& out, const T& value);
template <class T>
bool get(Reader& in, T& value, int depth);

// Appends bytes written by fn with their length in front; the length is back-filled, moving the
// bytes only when it needs more than one byte.
template <class Fn>
void put_sized(std::string& out, Fn&& fn) {
  const size_t start = out.size();
  out.push_back(0);
  fn();
  const size_t length = out.size() - start - 1;
  if (length < 0x80) {
    out[start] = static_cast<char>(length);
    return;
  }
  std::string head;
  put_varint(head, length);
  out.replace(start, 1, head);
}

// The members of a described struct, without a length.
template <Described T>
void put_fields(std::string& out, const T& object) {
  for_each_changed_member(object, [&](const char*, const auto& member, int index) {
    using M = std::remove_cvref_t<decltype(member)>;
    put_varint(out, static_cast<uint64_t>(index + 1) * 2 + (kIsVarint<M> ? 0 : 1));
    if constexpr (kIsVarint<M> || std::is_same_v<M, std::string> || std::is_same_v<M, Digest> ||
                  Described<M>) {
      put(out, member);
    } else {
      put_sized(out, [&] { put(out, member); });
    }
  });
}

template <class T>
void put(std::string& out, const T& value) {
  if constexpr (kIsVarint<T>) {
    put_varint(out, to_varint(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    put_varint(out, value.size());
    out += value;
  } else if constexpr (std::is_same_v<T, Digest>) {
    put_varint(out, value.bytes.size());
    out.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
  } else if constexpr (std::is_same_v<T, IntervalSet>) {
    put_varint(out, value.ranges().size());
    for (const Interval& range : value.ranges()) {
      put_varint(out, range.first);
      put_varint(out, range.last - range.first);
    }
  } else if constexpr (IsOptional<T>::value) {
    put_varint(out, value.has_value());
    if (value) put(out, *value);
  } else if constexpr (IsVector<T>::value || IsSet<T>::value || IsArray<T>::value) {
    put_varint(out, value.size());
    for (const auto& item : value) put(out, item);
  } else if constexpr (IsMap<T>::value) {
    put_varint(out, value.size());
    for (const auto& [key, item] : value) {
      put(out, key);
      put(out, item);
    }
  } else if constexpr (IsVariant<T>::value) {
    put_varint(out, value.index() + 1);
    std::visit([&](const auto& body) { put(out, body); }, value);
  } else {
    put_sized(out, [&] { put_fields(out, value); });
  }
}

template <Described T>
bool get_fields(Reader& in, T& object, int depth) {
  if (depth > kDepthMax) in.fail();
  while (!in.done()) {
    const uint64_t head = in.varint();
    const uint64_t number = head / 2;  // counts from 1
    const bool sized = head & 1;
    bool known = false;
    for_each_member(object, [&](const char*, auto& member, int index) {
      using M = std::remove_cvref_t<decltype(member)>;
      if (number != static_cast<uint64_t>(index) + 1 || known) return;
      known = true;
      if (sized == kIsVarint<M>) return in.fail();
      if constexpr (kIsVarint<M> || std::is_same_v<M, std::string> || std::is_same_v<M, Digest> ||
                    Described<M>) {
        get(in, member, depth + 1);
      } else {
        Reader inner(in.bytes());
        if (!get(inner, member, depth + 1) || !inner.done()) in.fail();
      }
    });
    if (!known && in.ok()) sized ? static_cast<void>(in.bytes()) : static_cast<void>(in.varint());
  }
  return in.ok();
}

template <class T, size_t I = 0>
bool get_variant(Reader& in, T& value, uint64_t index, int depth) {
  if constexpr (I < std::variant_size_v<T>) {
    if (index == I) return get(in, value.template emplace<I>(), depth);
    return get_variant<T, I + 1>(in, value, index, depth);
  } else {
    in.fail();
    return false;
  }
}

template <class T>
bool get(Reader& in, T& value, int depth) {
  if constexpr (kIsVarint<T>) {
    if (!from_varint(in.varint(), value)) in.fail();
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = in.bytes();
  } else if constexpr (std::is_same_v<T, Digest>) {
    const std::string_view bytes = in.bytes();
    if (bytes.size() != value.bytes.size())
      in.fail();
    else
      std::memcpy(value.bytes.data(), bytes.data(), bytes.size());
  } else if constexpr (std::is_same_v<T, IntervalSet>) {
    value = {};
    const uint64_t count = in.varint();
    for (uint64_t i = 0; i < count && in.ok(); ++i) {
      const uint64_t first = in.varint();
      const uint64_t more = in.varint();
      const uint64_t last = first + more;
      if (first > UINT32_MAX || more > UINT32_MAX || last > UINT32_MAX) in.fail();
      if (in.ok()) value.add({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
    }
  } else if constexpr (IsOptional<T>::value) {
    if (in.varint() != 0)
      get(in, value.emplace(), depth);
    else
      value.reset();
  } else if constexpr (IsVector<T>::value) {
    const uint64_t count = in.varint();
    if (count > kCountMax || count > in.left()) in.fail();
    value.clear();
    value.reserve(in.ok() ? count : 0);
    for (uint64_t i = 0; i < count && in.ok(); ++i) get(in, value.emplace_back(), depth + 1);
  } else if constexpr (IsArray<T>::value) {
    const uint64_t count = in.varint();
    if (count > value.size()) in.fail();
    for (uint64_t i = 0; i < count && in.ok(); ++i) get(in, value[i], depth + 1);
  } else if constexpr (IsSet<T>::value) {
    const uint64_t count = in.varint();
    for (uint64_t i = 0; i < count && in.ok(); ++i) {
      typename T::value_type item{};
      if (get(in, item, depth + 1)) value.insert(value.end(), std::move(item));
    }
  } else if constexpr (IsMap<T>::value) {
    const uint64_t count = in.varint();
    for (uint64_t i = 0; i < count && in.ok(); ++i) {
      typename T::key_type key{};
      typename T::mapped_type item{};
      if (get(in, key, depth + 1) && get(in, item, depth + 1))
        value.emplace_hint(value.end(), std::move(key), std::move(item));
    }
  } else if constexpr (IsVariant<T>::value) {
    const uint64_t index = in.varint();
    return index > 0 && in.ok() ? get_variant(in, value, index - 1, depth) : (in.fail(), false);
  } else {
    Reader inner(in.bytes());
    if (!in.ok() || !get_fields(inner, value, depth + 1)) in.fail();
  }
  return in.ok();
}

// Whole messages: a described struct (or variant) that fills the given bytes.
template <class T>
std::string encode(const T& value) {
  std::string out;
  if constexpr (Described<T>)
    put_fields(out, value);
  else
    put(out, value);
  return out;
}

template <class T>
[[nodiscard]] Result<T> decode(std::string_view bytes) {
  Reader in(bytes);
  T value{};
  bool ok;
  if constexpr (Described<T>)
    ok = get_fields(in, value, 0);
  else
    ok = get(in, value, 0);
  if (!ok || !in.done())
    return tl::unexpected<Error>(Error{ErrorCode::invalid, "malformed binary message", {}});
  return value;
}

}  // namespace atl::wire
