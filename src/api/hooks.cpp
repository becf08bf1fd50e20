// Signed deliveries to schedules that wait for them.
#include "api/handlers.h"
#include "api/schedules.h"
#include "auth/hook.h"
#include "auth/vault.h"
#include "base/text.h"

namespace atl::api {
namespace {

// Of the schedule behind the number in the path.
struct Hook {
  std::string ns;
  std::string name;
  UserId user;
  std::string sealed;
};

Result<Hook> hook_in(const core::State& state, std::string_view word) {
  const auto number = parse_int(word);
  const auto it = number && *number > 0 && *number <= UINT32_MAX
                      ? state.schedules.find(ScheduleId{static_cast<uint32_t>(*number)})
                      : state.schedules.end();
  // Whoever cannot sign shall not learn which numbers are hooks.
  if (it == state.schedules.end() || it->second.terms.trigger != core::Trigger::webhook)
    return fail(ErrorCode::unauthorized, "the signature is wrong");
  const core::Schedule& schedule = it->second;
  return Hook{state.namespaces.at(schedule.ns).name, schedule.name, schedule.user,
              schedule.terms.secret};
}

void take_delivery(const CallPtr& call, const Hook& hook, std::string body) {
  auth::Vault* vault = call->context.options.vault;
  const auto secret = vault ? vault->open(hook.sealed) : Result<std::string>("");
  if (!secret || secret->empty())
    return call->refuse({ErrorCode::unavailable,
                         "the secret of this hook cannot be read; make the schedule again",
                         {}});
  auto keys =
      auth::check_delivery(*secret, call->request().headers, body, call->context.options.now());
  if (!keys) return call->refuse(keys.error());
  if (!valid_utf8(body))
    return call->refuse({ErrorCode::invalid, "the body is not UTF-8 text", "body"});
  call->actor = core::Actor{hook.user};
  command(call,
          core::FireSchedule{hook.ns, hook.name, core::Cause::webhook, std::move(*keys),
                             std::move(body)},
          {}, [call](const runtime::Accepted& accepted) { write_fired(call, accepted); });
}

}  // namespace

void receive_hook(const CallPtr& call) {
  if (!auth::is_signed(call->request().headers))
    return call->refuse({ErrorCode::invalid,
                         "the request is not signed: send X-Atoll-Timestamp and X-Atoll-Signature, "
                         "or X-Hub-Signature-256",
                         {}});
  auto body = std::make_shared<std::string>(call->exchange->take_body());
  view(
      call,
      [call](const core::State& state) { return hook_in(state, call->request().param("hook")); },
      [call, body](const Hook& hook) { take_delivery(call, hook, std::move(*body)); });
}

}  // namespace atl::api
