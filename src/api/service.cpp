#include "api/service.h"

#include "api/context.h"
#include "base/check.h"

namespace atl::api {
namespace {

// What every request goes through before its handler.
void serve(Context& context, size_t index, std::shared_ptr<http::Exchange> exchange) {
  const Endpoint& endpoint = endpoints()[index];
  auto call = std::make_shared<Call>(context, index, std::move(exchange));
  if (endpoint.needs != Needs::nothing) {
    auto actor = context.authenticator.identify(call->request());
    if (!actor) return call->refuse(actor.error());
    call->actor = std::move(*actor);
    if (endpoint.changes) {
      if (auto ok = core::require_writable(call->actor); !ok) return call->refuse(ok.error());
    }
  }
  if (auto ok = call->check_query(); !ok) return call->refuse(ok.error());
  endpoint.handle(call);
}

}  // namespace

Service::Service(runtime::Runtime& runtime, journal::Journal& journal, journal::History& history,
                 Drivers drivers, Options options)
    : context_(std::make_unique<Context>(runtime, journal, history, std::move(drivers),
                                         std::move(options))) {
  Context& context = *context_;
  runtime.on_commit([&context](uint64_t sequence, const core::Events& events) {
    context.directory.on_commit(context.runtime.state(), events);
    context.follower.on_commit(events);
    context.feed.on_commit(sequence, events);
    context.metrics.on_commit(context.runtime.state(), events);
  });
  context.follower.every_interval([&context] { context.feed.heartbeat(); });
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
               {.body_max = endpoint.body_max});
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
  context_->quick.stop();
  context_->slow.stop();
}

}  // namespace atl::api
