#include "api/context.h"
#include "api/handlers.h"
#include "api/job_tag.h"
#include "api/requests.h"
#include "core/notes.h"
#include "spec/job_spec.h"

namespace atl::api {
namespace {

void answer_done(const CallPtr& call, JobId id, bool changed,
                 const std::vector<std::string>& warnings = {}) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("id", to_string(id)).member("changed", changed);
  if (!warnings.empty()) json.member("warnings", warnings);
  json.end_object();
  call->respond_json(std::move(body));
}

std::optional<uint32_t> index_of(const Selector& selector) {
  return selector.has_index ? std::optional(selector.index) : std::nullopt;
}

void act(const CallPtr& call, core::Command what, JobId id,
         runtime::Precondition precondition = {}) {
  command(
      call, std::move(what), {},
      [call, id](const runtime::Accepted& accepted) {
        answer_done(call, id, !accepted.events.empty());
      },
      std::move(precondition));
}

// With what should be known of the devices that it now asks for.
void change_devices(const CallPtr& call, const core::ChangeJob& what,
                    runtime::Precondition precondition) {
  const auto done = [call, id = what.id](const runtime::Accepted& accepted) {
    const auto* changed = event_of<core::JobChanged>(accepted);
    if (!changed) return answer_done(call, id, false);
    view(
        call,
        [terms = changed->terms](const core::State& state) -> Result<std::vector<std::string>> {
          return core::rounded_shares(state, terms);
        },
        [call, id](const std::vector<std::string>& notes) { answer_done(call, id, true, notes); });
  };
  command(call, what, {}, done, std::move(precondition));
}

// If-Match: the job is still as the caller read it. Of one that they may not see, nothing is told.
runtime::Precondition job_is(const core::Actor& actor, JobId id, const std::string& tag) {
  return [actor, id, tag](const core::State& state) -> Result<void> {
    const core::Job* job = state.job(id);
    if (!job || !core::may_view(state, actor, job->ns) || job_tag(state, *job) == tag) return {};
    return fail(ErrorCode::stale, "the job has changed since you read it; read it again",
                "If-Match");
  };
}

// The whole job, for verbs that know no tasks.
std::optional<JobId> whole_job(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) {
    call->refuse(selector.error());
    return std::nullopt;
  }
  if (selector->has_index) {
    call->refuse(
        {ErrorCode::invalid, "this works on whole jobs: write the id without an index", "id"});
    return std::nullopt;
  }
  return selector->job;
}

}  // namespace

void cancel_job(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  const auto wish = body_of<CancelWish>(call);
  if (!wish) return;
  act(call, core::CancelJob{selector->job, index_of(*selector), wish->grace}, selector->job);
}

void hold_job(const CallPtr& call) {
  if (const auto id = whole_job(call)) act(call, core::HoldJob{*id}, *id);
}

void release_job(const CallPtr& call) {
  if (const auto id = whole_job(call)) act(call, core::ReleaseJob{*id}, *id);
}

void requeue_job(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  act(call, core::RequeueJob{selector->job, index_of(*selector), {}}, selector->job);
}

void change_job(const CallPtr& call) {
  const auto id = whole_job(call);
  if (!id) return;
  const auto change = body_of<spec::JobChange>(call);
  if (!change) return;
  const auto what = spec::to_change(*id, *change);
  if (!what) return call->refuse(what.error());
  const std::string expected(call->request().headers.get("If-Match"));
  runtime::Precondition unchanged;
  if (!expected.empty() && expected != "*") unchanged = job_is(call->actor, *id, expected);
  if (what->devices) return change_devices(call, *what, std::move(unchanged));
  act(call, *what, *id, std::move(unchanged));
}

}  // namespace atl::api
