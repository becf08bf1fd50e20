#include "api/service.h"

#include "api/context.h"
#include "base/check.h"

namespace atl::api {
namespace {

// Who asks, if the endpoint wants to know and lets them.
Result<core::Actor> identify(Context& context, const Endpoint& endpoint,
                             const http::Request& request) {
  if (endpoint.needs == Needs::nothing) return core::Actor{};
  auto actor = context.authenticator.identify(request);
  if (!actor || !endpoint.changes) return actor;
  if (auto ok = core::require_writable(*actor); !ok) return tl::unexpected(ok.error());
  return actor;
}

// What every request goes through before its handler.
void serve(Context& context, size_t index, std::shared_ptr<http::Exchange> exchange) {
  const Endpoint& endpoint = endpoints()[index];
  auto call = std::make_shared<Call>(context, index, std::move(exchange));
  auto actor = identify(context, endpoint, call->request());
  if (!actor) return call->refuse(actor.error());
  call->actor = std::move(*actor);
  if (auto ok = call->check_query(); !ok) return call->refuse(ok.error());
  endpoint.handle(call);
}

}  // namespace

Service::Service(runtime::Runtime& runtime, journal::Journal& journal, journal::History& history,
                 Options options)
    : context_(std::make_unique<Context>(runtime, journal, history, std::move(options))) {
  Context& context = *context_;
  runtime.on_commit([&context](uint64_t sequence, const core::Events& events) {
    context.directory.on_commit(context.runtime.state(), events);
    context.follower.on_commit(events);
    context.feed.on_commit(sequence, events);
    context.counts.on_commit();
    context.metrics.on_commit(context.runtime.state(), events);
    context.waiters.on_commit(context.runtime.state(), events);
  });
  runtime.on_turn([&context] { context.waiters.on_turn(); });
  context.follower.every_interval([&context] {
    context.feed.heartbeat();
    context.counts.heartbeat();
  });
}

Service::~Service() { stop(); }

void Service::ready() { context_->directory.refresh(context_->runtime.state()); }

void Service::mount(http::Router& router) {
  for (size_t i = 0; i < endpoints().size(); ++i) {
    const Endpoint& endpoint = endpoints()[i];
    CHECK(endpoint.handle != nullptr, endpoint.path);
    router.add(endpoint.method, endpoint.path,
               [context = context_.get(), i](std::shared_ptr<http::Exchange> exchange) {
                 serve(*context, i, std::move(exchange));
               },
               {.body_max = endpoint.body_max,
                .admit = [context = context_.get(),
                          i](const http::Request& request) -> std::optional<http::Response> {
                  const auto actor = identify(*context, endpoints()[i], request);
                  if (actor) return std::nullopt;
                  auto answer = refusal(*context, i, status_of(actor.error().code), actor.error(),
                                        request.id);
                  context->metrics.record(i, answer.status, {});
                  return answer;
                }});
  }
}

http::Response Service::refuse(int status, std::string_view detail, std::string_view request_id) {
  const auto code = status == 404   ? ErrorCode::not_found
                    : status == 413 ? ErrorCode::too_large
                    : status >= 500 ? ErrorCode::unavailable
                                    : ErrorCode::invalid;
  return problem_response(status, {code, std::string(detail), {}}, request_id);
}

void Service::stop() {
  context_->follower.stop();
  context_->feed.stop();
  context_->waiters.stop();
  context_->counts.stop();
  context_->quick.stop();
  context_->slow.stop();
}

}  // namespace atl::api
