#include "journal/record.h"

#include <gtest/gtest.h>

#include "base/wire.h"
#include "journal/crc32c.h"

namespace atl::journal {
namespace {

// Gives every member, however deep, a value that is not its default.
class Filler {
 public:
  template <class T>
  void fill(T& value) {
    if constexpr (wire::IsId<T>::value)
      value.value = static_cast<decltype(value.value)>(++next_);
    else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Duration>)
      value.us = -(++next_);
    else if constexpr (std::is_same_v<T, bool>)
      value = !value;
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(value == T{} ? 1 : 0);
    else if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(++next_);
    else if constexpr (std::is_same_v<T, std::string>)
      value = "text " + std::to_string(++next_);
    else if constexpr (std::is_same_v<T, Digest>)
      value.bytes.fill(static_cast<uint8_t>(++next_));
    else if constexpr (std::is_same_v<T, IntervalSet>)
      value.add({3, 9});
    else if constexpr (wire::IsOptional<T>::value)
      fill(value.emplace());
    else if constexpr (wire::IsMap<T>::value)
      fill_entry(value);
    else if constexpr (wire::IsVector<T>::value)
      fill(value.emplace_back());
    else if constexpr (wire::IsArray<T>::value)
      fill(value.back());
    else
      for_each_member(value, [&](const char*, auto& member, int) { fill(member); });
  }

 private:
  template <class T>
  void fill_entry(T& map) {
    typename T::key_type key{};
    fill(key);
    fill(map[key]);
  }
  int64_t next_ = 100;
};

template <size_t I = 0>
void append_every_event(core::Events& events) {
  if constexpr (I < std::variant_size_v<core::EventBody>) {
    core::Event event{.at = Time{1000 + static_cast<int64_t>(I)}, .by = {7}, .body = {}};
    Filler().fill(event.body.emplace<I>());
    events.push_back(std::move(event));
    append_every_event<I + 1>(events);
  }
}

core::Events every_event() {
  core::Events events;
  append_every_event(events);
  return events;
}

TEST(Crc32c, AgreesWithThePublishedVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c("456789", crc32c("123")), 0xE3069283u);
}

TEST(Record, EveryKindOfEventComesBackAsItWas) {
  const core::Events events = every_event();
  std::string bytes;
  const uint32_t checksum = encode_record(42, 17, events, bytes);
  const auto record = decode_record(bytes);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->head.sequence, 42u);
  EXPECT_EQ(record->head.previous, 17u);
  EXPECT_EQ(record->head.checksum, checksum);
  ASSERT_EQ(record->events.size(), events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(record->events[i], events[i]) << core::event_name(events[i].body);
  }
}

TEST(Record, AMemberSetToZeroWhoseDefaultIsNotComesBackAsZero) {
  core::JobSubmitted job{.id = {1}};
  job.terms.grace = {};
  job.terms.retry.backoff = {};
  const core::Events events{{.at = {1}, .by = {}, .body = job}};
  std::string bytes;
  encode_record(1, 0, events, bytes);
  const auto record = decode_record(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->events, events);
}

TEST(Record, AnyFlippedBitIsNoticed) {
  std::string bytes;
  encode_record(1, 0, every_event(), bytes);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    EXPECT_FALSE(decode_record(damaged)) << "byte " << at;
  }
}

TEST(Record, AnyCutIsNoticed) {
  std::string bytes;
  encode_record(1, 0, every_event(), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_record(std::string_view(bytes).substr(0, size))) << size;
  }
}

TEST(Record, ANewerVersionIsRefusedByName) {
  std::string bytes;
  encode_record(1, 0, {}, bytes);
  bytes[3] = kRecordVersion + 1;
  const auto record = decode_record(bytes);
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().message.find("newer"), std::string::npos);
}

}  // namespace
}  // namespace atl::journal
