// What people send about schedules, with a field table (spec/fields.h).
#pragma once

#include "spec/fields.h"

namespace atl::api {

struct ScheduleWish {
  spec::Text name;
  spec::TextMap files;
  spec::Text main;
  spec::TextMap set;
  spec::Text workflow;
  spec::Text directory;
  spec::Text cron;
  spec::Text calendar;
  spec::Text zone;
  spec::Text missed;
  spec::Text overlap;
  spec::Flag webhook;
  spec::Text on_file;
  std::optional<Duration> quiet;
  spec::Text on_queue;
  spec::Integer at_least;
  std::optional<Duration> interval;
  spec::Text body_param;
  spec::Flag body_fields;
  spec::Text time_param;
  spec::Flag paused;
  spec::Flag replace;
};

// A table of ScheduleWish: all but its name, nothing of it required.
struct ScheduleChange;

}  // namespace atl::api

namespace atl::spec {

template <>
const Shape& shape_of<api::ScheduleChange>();

template <>
const Shape& shape_of<api::ScheduleWish>();

}  // namespace atl::spec
