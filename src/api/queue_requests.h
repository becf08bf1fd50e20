// What people send about queues, with a field table each (spec/fields.h).
#pragma once

#include "spec/fields.h"

namespace atl::api {

struct QueueWish {
  spec::Text name;
  std::optional<Duration> visibility;
  spec::Integer attempts;
  spec::Flag dead_letters;
};
struct QueueChange {
  std::optional<Duration> visibility;
  spec::Integer attempts;
  spec::Flag dead_letters;
  spec::Flag closed;
};
struct ItemWish {
  spec::Text body;
  spec::Text base64;
  spec::Integer priority;
  std::optional<Duration> delay;
  spec::Text key;
};
struct PutWish {
  std::optional<std::vector<ItemWish>> items;
};
struct LeaseWish {
  spec::Integer max;
  std::optional<Duration> visibility;
  spec::Text holder;
  std::optional<Duration> wait;
  spec::Flag until_dry;
};
struct DoneWish {
  spec::Integer lease;
  spec::Integers items;
};
struct RetryWish {
  spec::Integer lease;
  spec::Integers items;
  std::optional<Duration> delay;
  spec::Text message;
};
struct ExtendWish {
  spec::Integers leases;
  std::optional<Duration> visibility;
};
struct RestoreWish {
  spec::Integers items;
};
struct PurgeWish {
  spec::Text what;
  spec::Integers items;
};

}  // namespace atl::api

namespace atl::spec {

template <>
const Shape& shape_of<api::QueueWish>();
template <>
const Shape& shape_of<api::QueueChange>();
template <>
const Shape& shape_of<api::ItemWish>();
template <>
const Shape& shape_of<api::PutWish>();
template <>
const Shape& shape_of<api::LeaseWish>();
template <>
const Shape& shape_of<api::DoneWish>();
template <>
const Shape& shape_of<api::RetryWish>();
template <>
const Shape& shape_of<api::ExtendWish>();
template <>
const Shape& shape_of<api::RestoreWish>();
template <>
const Shape& shape_of<api::PurgeWish>();

}  // namespace atl::spec
