// The cron of a pipeline: a schedule of the namespace that runs it.
#include "api/tapis.h"
#include "core/limits.h"
#include "spec/json_writer.h"
#include "spec/tapis/tapis_run.h"
#include "spec/timing/timing.h"

namespace atl::api {
namespace {

constexpr const char* kZone = "UTC";

std::string schedule_of(const std::string& pipeline) { return "tapis-" + pipeline; }

Result<core::SetSchedule> to_schedule(const CallPtr& call, const TapisGroup& group,
                                      const spec::tapis::Pipeline& pipeline,
                                      const spec::tapis::PipelineTexts& texts) {
  const auto timing = spec::parse_cron(pipeline.cron, kZone);
  if (!timing) return tl::unexpected(timing.error());
  core::SetSchedule set;
  set.ns = group.name;
  set.name = schedule_of(pipeline.id);
  set.replace = true;
  set.paused = !pipeline.enabled;
  set.terms.timing = pipeline.cron;
  set.terms.zone = kZone;
  set.terms.overlap = spec::tapis::run_terms(pipeline).overlap;
  set.due = spec::next_times(*timing, call->context.options.now(), core::kTimesKept);
  const auto table = call->context.directory.table();
  set.terms.program = spec::to_json(
      spec::tapis::to_program(pipeline.id, texts, group.name, name_of(*table, call->actor.user)));
  return set;
}

}  // namespace

void drop_tapis_cron(const CallPtr& call, const TapisGroup& group, const std::string& pipeline,
                     std::function<void()> done) {
  const std::string name = schedule_of(pipeline);
  view(
      call,
      [id = group.id, name](const core::State& state) -> Result<bool> {
        return state.schedule_named(id, name) != nullptr;
      },
      [call, ns = group.name, name, done = std::move(done)](bool known) {
        if (!known) return done();
        command(call, core::DeleteSchedule{ns, name}, {},
                [done](const runtime::Accepted&) { done(); });
      });
}

void follow_tapis_cron(const CallPtr& call, const TapisGroup& group,
                       const spec::tapis::Pipeline& pipeline,
                       const spec::tapis::PipelineTexts& texts, std::function<void()> done) {
  if (pipeline.cron.empty()) return drop_tapis_cron(call, group, pipeline.id, std::move(done));
  auto set = to_schedule(call, group, pipeline, texts);
  if (!set) return call->refuse(set.error());
  command(call, std::move(*set), {},
          [done = std::move(done)](const runtime::Accepted&) { done(); });
}

}  // namespace atl::api
