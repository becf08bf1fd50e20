// Queues themselves: made, shown, changed and deleted.
#include "api/handlers.h"
#include "api/log_chunk.h"
#include "api/queue_requests.h"
#include "api/queue_view.h"
#include "base/text.h"
#include "core/queue/index.h"

namespace atl::api {
namespace {

// What an answer needs of it, without its items.
struct ShownQueue {
  std::string name;
  std::string ns;
  core::QueueSettings settings;
  bool closed = false;
  Time created;
  uint64_t ready = 0, delayed = 0, leased = 0, dead = 0, bytes = 0;
  core::Flow put, done;
  uint64_t given_back = 0, expired = 0;
  Time oldest;
};

ShownQueue shown_queue(const core::State& state, const core::WorkQueue& queue) {
  return {queue.name,
          name_of(state, queue.ns),
          queue.settings,
          queue.closed,
          queue.created,
          queue.ready,
          queue.delayed,
          queue.leased,
          queue.dead,
          queue.bytes,
          queue.put,
          queue.done,
          queue.given_back,
          queue.expired,
          core::oldest_ready(queue)};
}

void write_queue(spec::JsonWriter& json, const ShownQueue& queue, Time now) {
  json.begin_object().member("name", queue.name).member("namespace", queue.ns);
  json.member("visibility", spec::exact_duration(queue.settings.visibility));
  json.member("attempts", queue.settings.attempts);
  json.member("dead_letters", queue.settings.dead_letters).member("closed", queue.closed);
  json.member("created", queue.created).member("ready", queue.ready);
  json.member("delayed", queue.delayed).member("leased", queue.leased).member("dead", queue.dead);
  json.member("put", queue.put.total).member("done", queue.done.total);
  json.member("given_back", queue.given_back).member("expired", queue.expired);
  json.member("put_per_minute", queue.put.per_minute(now));
  json.member("done_per_minute", queue.done.per_minute(now)).key("oldest_seconds");
  queue.oldest ? json.seconds(std::max(Duration{}, now - queue.oldest)) : json.null();
  json.member("bytes_max", queue.bytes).end_object();
}

void respond_queue(const CallPtr& call, int status) {
  view(
      call,
      [call](const core::State& state) -> Result<ShownQueue> {
        const auto queue = queue_in_path(call, state);
        if (!queue) return tl::unexpected(queue.error());
        return shown_queue(state, **queue);
      },
      [call, status](const ShownQueue& queue) {
        std::string body;
        spec::JsonWriter json(body);
        write_queue(json, queue, call->context.options.now());
        call->respond_json(std::move(body), status);
      });
}

}  // namespace

std::string namespace_in_path(const CallPtr& call) {
  return std::string(call->request().param("namespace"));
}

std::string queue_name_in_path(const CallPtr& call) {
  return std::string(call->request().param("queue"));
}

Result<const core::WorkQueue*> queue_in_path(const CallPtr& call, const core::State& state) {
  const std::string ns_name = namespace_in_path(call);
  const core::Namespace* ns = state.namespace_named(ns_name);
  if (!ns || !core::may_view(state, call->actor, ns->id))
    return tl::unexpected(core::no_such_namespace(ns_name));
  const std::string name = queue_name_in_path(call);
  if (const core::WorkQueue* queue = state.queue_named(ns->id, name)) return queue;
  return fail(ErrorCode::not_found,
              "there is no queue " + quote(name) + " in namespace " + ns->name, "queue");
}

std::vector<ItemId> items_of(const std::optional<std::vector<int64_t>>& numbers) {
  std::vector<ItemId> items;
  if (!numbers) return items;
  for (const int64_t number : *numbers) items.push_back({static_cast<uint64_t>(number)});
  return items;
}

void write_body(spec::JsonWriter& json, const std::string& bytes) {
  valid_utf8(bytes) ? json.member("body", bytes) : json.member("base64", base64(bytes));
}

void list_queues(const CallPtr& call) {
  view(
      call,
      [call](const core::State& state) -> Result<std::vector<ShownQueue>> {
        const std::string name = namespace_in_path(call);
        const core::Namespace* ns = state.namespace_named(name);
        if (!ns || !core::may_view(state, call->actor, ns->id))
          return tl::unexpected(core::no_such_namespace(name));
        std::vector<ShownQueue> list;
        for (auto at = state.queue_names.lower_bound({ns->id, ""});
             at != state.queue_names.end() && at->first.first == ns->id; ++at)
          list.push_back(shown_queue(state, state.queues.at(at->second)));
        return list;
      },
      [call](const std::vector<ShownQueue>& list) {
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().key("queues").begin_array();
        for (const ShownQueue& queue : list) write_queue(json, queue, call->context.options.now());
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void create_queue(const CallPtr& call) {
  const auto wish = body_of<QueueWish>(call);
  if (!wish) return;
  core::QueueSettings settings;
  settings.visibility = wish->visibility.value_or(settings.visibility);
  settings.attempts = static_cast<uint32_t>(wish->attempts.value_or(settings.attempts));
  settings.dead_letters = wish->dead_letters.value_or(settings.dead_letters);
  const std::string ns = namespace_in_path(call);
  command(call, core::CreateQueue{ns, *wish->name, settings}, {},
          [call, ns, name = *wish->name, settings](const runtime::Accepted& accepted) {
            ShownQueue made{.name = name, .ns = ns, .settings = settings};
            if (!accepted.events.empty()) made.created = accepted.events.front().at;
            std::string body;
            spec::JsonWriter json(body);
            write_queue(json, made, made.created);
            call->respond_json(std::move(body), 201,
                               {{"Location", "/api/v1/namespaces/" + ns + "/queues/" + name}});
          });
}

void show_queue(const CallPtr& call) { respond_queue(call, 200); }

void change_queue(const CallPtr& call) {
  const auto wish = body_of<QueueChange>(call);
  if (!wish) return;
  core::ChangeQueue change{namespace_in_path(call), queue_name_in_path(call),
                           wish->visibility,        {},
                           wish->dead_letters,      wish->closed};
  if (wish->attempts) change.attempts = static_cast<uint32_t>(*wish->attempts);
  command(call, std::move(change), {},
          [call](const runtime::Accepted&) { respond_queue(call, 200); });
}

void delete_queue(const CallPtr& call) {
  command(call, core::DeleteQueue{namespace_in_path(call), queue_name_in_path(call)}, {},
          [call](const runtime::Accepted&) { call->respond_empty(204); });
}

}  // namespace atl::api
