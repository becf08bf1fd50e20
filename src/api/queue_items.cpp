// Items on their way in, and dead letters.
#include <openssl/evp.h>

#include "api/handlers.h"
#include "api/queue_requests.h"
#include "api/queue_view.h"
#include "core/limits.h"

namespace atl::api {
namespace {

constexpr uint64_t kDeadBytesMax = 16 << 20;  // bodies of one page

// Nothing for what is not base64.
std::optional<std::string> from_base64(const std::string& text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  if (text.size() % 4 != 0) return std::nullopt;
  const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;
  // OpenSSL counts the bytes that only pad.
  const size_t last = text.find_last_not_of('=');
  const size_t padding = last == std::string::npos ? text.size() : text.size() - last - 1;
  if (padding > 2) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

Result<std::string> body_of_item(ItemWish& wish, size_t place) {
  const std::string field = "items[" + std::to_string(place) + "]";
  if (wish.body.has_value() == wish.base64.has_value())
    return fail(ErrorCode::invalid, "an item has either a body or base64", field + ".body");
  if (wish.body) return std::move(*wish.body);
  auto bytes = from_base64(*wish.base64);
  if (bytes) return std::move(*bytes);
  return fail(ErrorCode::invalid, "base64 is not what it says, such as \"AAEC\"",
              field + ".base64");
}

void respond_put(const CallPtr& call, const core::ItemsPut& put, size_t count) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("items").begin_array();
  auto repeated = put.repeated.begin();
  uint64_t next = put.first.value;
  for (size_t place = 0; place < count; ++place) {
    if (repeated != put.repeated.end() && repeated->place == place)
      json.number((repeated++)->item.value);
    else
      json.number(next++);
  }
  json.end_array().member("repeated", static_cast<uint64_t>(put.repeated.size())).end_object();
  call->respond_json(std::move(body), 201);
}

struct DeadPage {
  QueueId queue;
  std::vector<std::pair<ItemId, core::Item>> items;
  bool more = false;
};

// Those that fit into one answer. Live items between them cost a look each, so that is bounded too.
DeadPage dead_page(const core::WorkQueue& queue, ItemId after, size_t limit) {
  constexpr size_t kLooksMax = 20'000;
  DeadPage page{queue.id, {}, false};
  uint64_t bytes = 0;
  size_t looks = 0;
  if (queue.dead == 0) return page;
  for (auto at = queue.items.upper_bound(after); at != queue.items.end(); ++at) {
    const bool full = page.items.size() == limit || bytes > kDeadBytesMax || looks++ == kLooksMax;
    if (full && !page.items.empty()) {
      page.more = true;
      return page;
    }
    if (!std::holds_alternative<core::ItemDead>(at->second.standing)) continue;
    page.items.emplace_back(at->first, at->second);
    bytes += core::size_bound(at->second.size);
  }
  return page;
}

void write_dead(spec::JsonWriter& json, ItemId id, const core::Item& item,
                const std::map<ItemId, std::string>& bodies) {
  const auto& dead = std::get<core::ItemDead>(item.standing);
  json.begin_object().member("id", id.value).member("attempts", item.attempts);
  json.member("priority", int64_t{item.priority}).member("put", item.put);
  json.member("died", dead.since).member("cause", enum_name(dead.cause));
  json.member("message", dead.message);
  if (!item.key.empty()) json.member("key", item.key);
  if (const auto body = bodies.find(id); body != bodies.end()) write_body(json, body->second);
  json.end_object();
}

void respond_dead(const CallPtr& call, const DeadPage& page) {
  std::vector<ItemId> ids;
  for (const auto& [id, item] : page.items) ids.push_back(id);
  const auto bodies = call->context.history.bodies(page.queue, ids);
  if (!bodies) return call->refuse(bodies.error());
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("items").begin_array();
  for (const auto& [id, item] : page.items) write_dead(json, id, item, *bodies);
  json.end_array().key("next");
  page.more ? json.number(page.items.back().first.value) : json.null();
  json.end_object();
  call->respond_json(std::move(body));
}

}  // namespace

void put_items(const CallPtr& call) {
  auto wish = body_of<PutWish>(call);
  if (!wish) return;
  core::PutItems put{namespace_in_path(call), queue_name_in_path(call), {}};
  runtime::Submission submission;
  for (ItemWish& item : *wish->items) {
    auto body = body_of_item(item, put.items.size());
    if (!body) return call->refuse(body.error());
    put.items.push_back({static_cast<int32_t>(item.priority.value_or(0)),
                         item.delay.value_or(Duration{}), item.key.value_or(""), body->size()});
    submission.bodies.push_back(std::move(*body));
  }
  const size_t count = put.items.size();
  submission.request = {call->actor, std::move(put)};
  call->context.runtime.post(std::move(submission),
                             [call, count](const Result<runtime::Accepted>& accepted) {
                               if (!accepted) return call->refuse(accepted.error());
                               if (const auto* made = event_of<core::ItemsPut>(*accepted))
                                 respond_put(call, *made, count);
                             });
}

void list_dead(const CallPtr& call) {
  const ItemId after{static_cast<uint64_t>(call->query_int("after", 0).value_or(0))};
  const auto limit = static_cast<size_t>(call->query_int("limit", 100).value_or(100));
  view(
      call,
      [call, after, limit](const core::State& state) -> Result<DeadPage> {
        const auto queue = queue_in_path(call, state);
        if (!queue) return tl::unexpected(queue.error());
        return dead_page(**queue, after, limit);
      },
      [call](const DeadPage& page) { respond_dead(call, page); });
}

}  // namespace atl::api
