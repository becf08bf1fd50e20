#include "steward/steward.h"

#include "steward/schedules.h"

namespace atl::steward {
namespace {

constexpr size_t kQueueMax = 1'000'000;  // as many as steps can be under way in all workflows

}  // namespace

Steward::Steward(Sources sources, Post post, size_t threads)
    : sources_(std::move(sources)), post_(std::move(post)), pool_(threads, kQueueMax) {}

runtime::Steward Steward::verbs() {
  return {.prepare =
              [this](const core::PrepareStep& order) {
                std::ignore = pool_.post([this, order] {
                  Prepared prepared = prepare(sources_, order);
                  prepared.report.opening = order.opening;
                  post_(std::move(prepared.report), std::move(prepared.blobs));
                });
              },
          .collect =
              [this](const core::CollectStep& order) {
                std::ignore = pool_.post([this, order] {
                  core::StepCollected collected = collect(sources_, order);
                  collected.opening = order.opening;
                  post_(std::move(collected), {});
                });
              },
          .time =
              [this](const core::TimeSchedule& order) {
                std::ignore = pool_.post([this, order] { post_(times_of(order), {}); });
              },
          .open =
              [this](const core::OpenRun& order) {
                std::ignore = pool_.post([this, order] {
                  for (Answer& each : open_run(order))
                    post_(std::move(each.report), std::move(each.blobs));
                });
              }};
}

}  // namespace atl::steward
