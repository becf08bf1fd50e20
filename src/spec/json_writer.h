// JSON written straight into a string: no tree in between, so a page of a hundred jobs costs no
// more than its bytes. The caller keeps the grammar; the writer keeps the commas and the escapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace atl::spec {

// Appends `text` with quotes. What is not UTF-8 becomes U+FFFD, so the answer is JSON whatever a
// job or a site wrote.
void append_json_text(std::string& out, std::string_view text);

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return shut('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return shut(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(int64_t value);
  JsonWriter& number(uint64_t value);
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  JsonWriter& time(Time value);         // null when zero
  JsonWriter& milli(int64_t value);     // 500 -> 0.5
  JsonWriter& seconds(Duration value);  // 1.5s -> 1.5
  JsonWriter& raw(std::string_view json);

  JsonWriter& member(std::string_view name, std::string_view value) {
    return key(name).text(value);
  }
  JsonWriter& member(std::string_view name, const char* value) { return key(name).text(value); }
  JsonWriter& member(std::string_view name, const std::string& value) {
    return key(name).text(value);
  }
  JsonWriter& member(std::string_view name, bool value) { return key(name).boolean(value); }
  JsonWriter& member(std::string_view name, int value) { return key(name).number(int64_t{value}); }
  JsonWriter& member(std::string_view name, int64_t value) { return key(name).number(value); }
  JsonWriter& member(std::string_view name, uint32_t value) {
    return key(name).number(uint64_t{value});
  }
  JsonWriter& member(std::string_view name, uint64_t value) { return key(name).number(value); }
  JsonWriter& member(std::string_view name, Time value) { return key(name).time(value); }
  JsonWriter& member(std::string_view name, const std::vector<std::string>& texts);

 private:
  JsonWriter& open(char bracket);
  JsonWriter& shut(char bracket);
  void separate();

  std::string& out_;
  bool comma_ = false;  // whether the next item needs one before it
};

}  // namespace atl::spec
