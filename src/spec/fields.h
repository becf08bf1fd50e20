// The one field table. A structure that people write names each member once (its name, a sentence,
// bounds, default and example), and from that list come the JSON parser with its errors, the JSON
// writer, the OpenAPI component and the flags of the command line. Members are std::optional, so
// "not said" is a value and structures can be laid over each other: file, then directives, then
// flags.
//
// The type of a member decides how it is written; see Kind. Everything here is constant data, safe
// on any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace atl::spec {

struct Cpus {
  int64_t milli = 0;
  bool operator==(const Cpus&) const = default;
};
struct Bytes {
  int64_t count = 0;
  bool operator==(const Bytes&) const = default;
};

// Any JSON value, as text; who reads it knows what it may be.
struct Json {
  std::string text;
  bool operator==(const Json&) const = default;
};

using Text = std::optional<std::string>;
using Texts = std::optional<std::vector<std::string>>;
using TextMap = std::optional<std::map<std::string, std::string>>;
using Integer = std::optional<int64_t>;
using Integers = std::optional<std::vector<int64_t>>;
using IntegerMap = std::optional<std::map<std::string, int64_t>>;
using Flag = std::optional<bool>;

enum class Kind : uint8_t {
  text,
  boolean,
  integer,
  cpus,      // a number of cores, or "500m"
  bytes,     // a number of bytes, or "1Gi"
  duration,  // a number of seconds, or "1h30m"
  texts,
  integers,
  text_map,
  integer_map,
  object,   // a structure with a table of its own
  objects,  // a list of them
  any,      // a JSON value that something else reads
  // Only in answers, which have no member behind them.
  number,
  time,
};

struct Shape;

// What a person says about a field. Text that is JSON is marked so.
struct Doc {
  const char* name = "";
  const char* sentence = "";
  const char* example = nullptr;    // JSON
  const char* fallback = nullptr;   // JSON: what it is when not said
  std::optional<int64_t> low = {};  // of the value, or of the length of a text or list
  std::optional<int64_t> high = {};
  std::span<const char* const> choices = {};
  const char* flag = nullptr;  // on the command line, without dashes; null: not there
  char letter = 0;             // its short form
  const char* metavar = nullptr;
  bool required = false;
  bool nullable = false;    // answers only
  bool number_too = false;  // a text that may be written as a number
  bool list_too = false;    // a text that may be written as a list: what | separates
  bool adds = false;        // a text that, said once more on the command line, gains a comma and it
  const char* also = nullptr;    // another name that is read
  const char* schema = nullptr;  // of what may be anything: members of its JSON schema, such as
                                 // "type":"array"
};

// How a table reaches a member whose type the Kind tells.
struct Access {
  bool (*has)(const void* object) = nullptr;
  const void* (*get)(const void* object) = nullptr;  // the value; only when has()
  void* (*make)(void* object) = nullptr;             // the value, made empty when absent
  void (*copy)(void* to, const void* from) = nullptr;
  void* (*append)(void* list) = nullptr;  // objects: one more, and where it is
  size_t (*count)(const void* list) = nullptr;
  const void* (*item)(const void* list, size_t index) = nullptr;
};

struct Field : Doc {
  Kind kind = Kind::text;
  const Shape& (*shape)() = nullptr;
  Access access;
};

struct Shape {
  const char* name = "";  // the OpenAPI component
  const char* sentence = "";
  std::span<const Field> fields = {};
  // A shorthand: the whole structure from one text or number, such as retries: 3.
  Result<void> (*from_scalar)(void* object, std::string_view text) = nullptr;
  const char* scalar = nullptr;  // a sentence about that form
};

// The table of a structure; each structure specialises it.
template <class T>
const Shape& shape_of();

// By its name, or by the other one that is read.
const Field* find_field(const Shape& shape, std::string_view name);
const Field* find_flag(const Shape& shape, std::string_view flag);

inline constexpr size_t kJsonDepthMax = 16;  // our own structures nest four deep

// Fills `object` (the structure that `shape` describes) from JSON text. The error's field is the
// path, such as "retries.max" or "after[2].job", with `path` in front.
[[nodiscard]] Result<void> parse_json(const Shape& shape, void* object, std::string_view json);

template <class T>
[[nodiscard]] Result<T> parse_json(std::string_view json) {
  T object;
  if (auto ok = parse_json(shape_of<T>(), &object, json); !ok) return tl::unexpected(ok.error());
  return object;
}

// One value as the command line gives it. Lists and maps (K=V) gain an entry with each call.
[[nodiscard]] Result<void> set_text(const Field& field, void* object, std::string_view text);

// Only what was said; the exact inverse of parse_json.
void write_json(std::string& out, const Shape& shape, const void* object);

template <class T>
std::string to_json(const T& object) {
  std::string out;
  write_json(out, shape_of<T>(), &object);
  return out;
}

// Copies whatever `top` says over `base`; maps are merged by key.
void overlay(const Shape& shape, void* base, const void* top);

template <class T>
void overlay(T& base, const T& top) {
  overlay(shape_of<T>(), &base, &top);
}

// The JSON schema (2020-12) of a shape's object, with references to "#/components/schemas/NAME" for
// the nested ones.
void write_schema(std::string& out, const Shape& shape);
// Every shape reachable from this one, itself first, each once.
void collect_shapes(const Shape& shape, std::vector<const Shape*>& shapes);

// What a value of it looks like: "a whole number".
std::string_view value_in_words(const Field& field);

// "1h30m5s", "1500ms": exact, unlike the rounded form for tables.
std::string exact_duration(Duration d);

template <class M>
struct MemberTraits;
template <class T, class V>
struct MemberTraits<std::optional<V> T::*> {
  using Object = T;
  using Value = V;
};

template <class V>
struct ListTraits {
  static constexpr bool kObjects = false;
};
template <class V>
struct ListTraits<std::vector<V>> {
  static constexpr bool kObjects = !std::is_same_v<V, std::string> && !std::is_same_v<V, int64_t>;
  using Item = V;
};

template <class V>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<V, std::string>)
    return Kind::text;
  else if constexpr (std::is_same_v<V, bool>)
    return Kind::boolean;
  else if constexpr (std::is_same_v<V, int64_t>)
    return Kind::integer;
  else if constexpr (std::is_same_v<V, Cpus>)
    return Kind::cpus;
  else if constexpr (std::is_same_v<V, Bytes>)
    return Kind::bytes;
  else if constexpr (std::is_same_v<V, Duration>)
    return Kind::duration;
  else if constexpr (std::is_same_v<V, Json>)
    return Kind::any;
  else if constexpr (std::is_same_v<V, std::vector<std::string>>)
    return Kind::texts;
  else if constexpr (std::is_same_v<V, std::vector<int64_t>>)
    return Kind::integers;
  else if constexpr (std::is_same_v<V, std::map<std::string, std::string>>)
    return Kind::text_map;
  else if constexpr (std::is_same_v<V, std::map<std::string, int64_t>>)
    return Kind::integer_map;
  else if constexpr (ListTraits<V>::kObjects)
    return Kind::objects;
  else
    return Kind::object;
}

// Makes a Field from a member pointer: field<&JobSpec::name>({.name = "name", …}). `Owner` is the
// structure that the table is of, where the member comes from a base of it.
template <auto Member, class Owner = typename MemberTraits<decltype(Member)>::Object>
constexpr Field field(Doc doc) {
  using Object = Owner;
  using Value = typename MemberTraits<decltype(Member)>::Value;
  Field f;
  static_cast<Doc&>(f) = doc;
  f.kind = kind_of<Value>();
  f.access.has = [](const void* o) { return (static_cast<const Object*>(o)->*Member).has_value(); };
  f.access.get = [](const void* o) -> const void* {
    return &*(static_cast<const Object*>(o)->*Member);
  };
  f.access.make = [](void* o) -> void* {
    auto& member = static_cast<Object*>(o)->*Member;
    if (!member) member.emplace();
    return &*member;
  };
  f.access.copy = [](void* to, const void* from) {
    static_cast<Object*>(to)->*Member = static_cast<const Object*>(from)->*Member;
  };
  if constexpr (kind_of<Value>() == Kind::object) f.shape = &shape_of<Value>;
  if constexpr (kind_of<Value>() == Kind::objects) {
    f.shape = &shape_of<typename ListTraits<Value>::Item>;
    f.access.append = [](void* list) -> void* {
      return &static_cast<Value*>(list)->emplace_back();
    };
    f.access.count = [](const void* list) { return static_cast<const Value*>(list)->size(); };
    f.access.item = [](const void* list, size_t i) -> const void* {
      return &(*static_cast<const Value*>(list))[i];
    };
  }
  return f;
}

// A field of an answer: documentation only.
constexpr Field answer(Kind kind, Doc doc, const Shape& (*shape)() = nullptr) {
  Field f;
  static_cast<Doc&>(f) = doc;
  f.kind = kind;
  f.shape = shape;
  return f;
}

}  // namespace atl::spec
