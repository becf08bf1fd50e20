// Steps that go through queues: how far they are, and what each of their jobs left.
#include <boost/json.hpp>

#include "api/handlers.h"
#include "api/workflows.h"
#include "base/text.h"

namespace atl::api {

namespace {

// One that runs may have begun before all that have ended.
void add_start(const core::State& state, JobId id, core::Usage& usage) {
  const core::Job* job = state.job(id);
  if (!job || job->tasks.empty()) return;
  const auto* running = std::get_if<core::TaskRunning>(&job->tasks.begin()->second.state);
  if (running) core::add_up(usage, {.started = running->started});
}

}  // namespace

FedView look_at_feed(const core::State& state, const core::Feed& feed) {
  FedView view{feed.terms.queue, feed.done, feed.dead, feed.given_back, 0, 0, feed.use};
  for (const auto& [job, fed] : feed.jobs) add_start(state, job, view.use.usage);
  const core::WorkQueue* queue = core::workflow::queue_of(state, feed);
  if (!queue) return view;
  view.left = queue->left();
  for (const auto& [job, fed] : feed.jobs) {
    const auto lease = queue->leases.find(fed.lease);
    if (lease != queue->leases.end()) view.working += lease->second.items.size();
  }
  return view;
}

std::optional<FedView> fed_before(const journal::KeptStep& step) {
  if (step.step.feed.queue.empty()) return std::nullopt;
  FedView view{step.step.feed.queue, 0, 0, 0, 0, 0, step.use};
  boost::system::error_code error;
  const boost::json::value outputs = boost::json::parse(step.outputs, error);
  if (error || !outputs.is_object()) return view;
  const auto count = [&](const char* name) {
    const auto* found = outputs.as_object().if_contains(name);
    return found && found->is_number() ? found->to_number<uint64_t>(error) : uint64_t{0};
  };
  view.done = count("done");
  view.dead = count("dead");
  view.given_back = count("given_back");
  return view;
}

void write_fed(spec::JsonWriter& json, const std::optional<FedView>& fed) {
  json.key("queue");
  if (!fed) return void(json.null());
  json.begin_object().member("name", fed->queue).member("done", fed->done);
  json.member("dead", fed->dead).member("given_back", fed->given_back);
  json.member("working", fed->working).member("left", fed->left).end_object();
}

void list_fed_outputs(const CallPtr& call) {
  const auto id = workflow_id(call);
  if (!id) return call->refuse(id.error());
  const auto number = parse_int(call->request().param("step"));
  if (!number || *number < 0 || *number > UINT32_MAX)
    return call->refuse({ErrorCode::not_found,
                         quote(call->request().param("step")) + " is no step: write its number",
                         "step"});
  const auto after = call->query_int("after", 0);
  const auto limit = call->query_int("limit", 100);
  if (!after) return call->refuse(after.error());
  if (!limit) return call->refuse(limit.error());
  const core::StepRef step{*id, static_cast<uint32_t>(*number)};
  const JobId last{static_cast<uint64_t>(*after)};
  const auto max = static_cast<size_t>(*limit);
  find_workflow(call, *id, [call, step, last, max](const ShownWorkflow&) {
    const auto found = call->context.history.fed_outputs(step, last, max);
    if (!found) return call->refuse(found.error());
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().key("outputs").begin_array();
    for (const journal::FedOutput& each : *found) {
      json.begin_object().member("job", to_string(each.job)).member("items", each.items);
      json.key("outputs").raw(each.outputs).end_object();
    }
    json.end_array().key("next");
    found->size() == max ? json.text(to_string(found->back().job)) : json.null();
    json.end_object();
    call->respond_json(std::move(body));
  });
}

}  // namespace atl::api
