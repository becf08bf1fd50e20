#include "api/context.h"

#include <algorithm>

#include "api/tapis.h"
#include "base/text.h"

namespace atl::api {
namespace {

Time wall_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return Time{std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

Options completed(Options options) {
  if (!options.now) options.now = wall_clock;
  return options;
}

Result<void> check_value(const spec::Field& field, const std::string& value) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid,
                std::string(field.name) + " is " + quote(value) + "; it must be " + what,
                field.name);
  };
  if (field.kind == spec::Kind::integer) {
    const auto number = parse_int(value);
    if (!number) return refuse("a whole number");
    if (field.low && *number < *field.low) return refuse("at least " + std::to_string(*field.low));
    if (field.high && *number > *field.high)
      return refuse("at most " + std::to_string(*field.high));
  }
  if (field.kind == spec::Kind::duration && !parse_duration(value))
    return refuse("a duration such as 1h");
  if (field.kind == spec::Kind::boolean && value != "true" && value != "false")
    return refuse("true or false");
  if (field.choices.empty()) return {};
  for (const std::string_view part : split(value, ',')) {
    const bool known = std::any_of(field.choices.begin(), field.choices.end(),
                                   [&](const char* choice) { return part == choice; });
    if (known) continue;
    std::string all;
    for (const char* choice : field.choices) all += (all.empty() ? "" : ", ") + std::string(choice);
    return refuse("one of " + all);
  }
  return {};
}

}  // namespace

Context::Context(runtime::Runtime& runtime_, journal::Journal& journal_, journal::History& history_,
                 Options options_)
    : runtime(runtime_),
      journal(journal_),
      history(history_),
      drivers(runtime_.drivers()),
      options(completed(std::move(options_))),
      authenticator(directory, {.server_uid = options.server_uid, .now = options.now}),
      metrics(options.version),
      quick(options.threads, options.queue_max),
      slow(options.slow_threads, options.queue_max),
      aside({.at_once = options.copies_max}),
      feed(*this),
      follower(*this),
      waiters(*this),
      cloudmesh(options.cloudmesh),
      counts(*this) {}

void Call::respond(http::Response response) {
  context.metrics.record(index, response.status, std::chrono::steady_clock::now() - begun);
  exchange->respond(std::move(response));
}

void Call::respond_json(std::string body, int status, http::Headers headers) {
  respond({.status = status,
           .content_type = "application/json",
           .body = std::move(body),
           .headers = std::move(headers)});
}

void Call::respond_empty(int status) {
  respond({.status = status, .content_type = {}, .body = {}, .headers = {}});
}

void Call::refuse(const Error& error) { refuse(status_of(error.code), error); }
void Call::refuse(int status, const Error& error) {
  respond(refusal(context, index, status, error, request().id));
}

http::Response refusal(const Context& context, size_t endpoint, int status, const Error& error,
                       std::string_view request_id) {
  if (endpoints()[endpoint].tapis) return tapis_refusal(status, error, context.options.version);
  return problem_response(status, error, request_id);
}

std::shared_ptr<http::Stream> Call::stream(int status, http::Headers headers) {
  context.metrics.record(index, status, std::chrono::steady_clock::now() - begun);
  return exchange->stream(status, std::move(headers));
}

Result<void> Call::check_query() const {
  const Endpoint& endpoint = endpoints()[index];
  for (const auto& [name, value] : request().query) {
    const auto known = std::find_if(endpoint.params.begin(), endpoint.params.end(),
                                    [&, &key = name](const Param& param) {
                                      return param.place == Place::query && key == param.field.name;
                                    });
    if (known == endpoint.params.end()) {
      std::vector<std::string> names;
      for (const Param& param : endpoint.params) {
        if (param.place == Place::query) names.emplace_back(param.field.name);
      }
      const auto near = did_you_mean(name, names);
      return fail(
          ErrorCode::invalid,
          "there is no parameter " + quote(name) + (near ? "; did you mean " + *near + "?" : ""),
          name.substr(0, 64));
    }
    if (!known->repeated && query_all(name).size() > 1)
      return fail(ErrorCode::invalid, name + " may be given once", name);
    if (auto ok = check_value(known->field, value); !ok) return ok;
  }
  return {};
}

std::vector<std::string> Call::query_all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : request().query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

Result<int64_t> Call::query_int(std::string_view name, int64_t fallback) const {
  const auto text = request().query_param(name);
  if (!text) return fallback;
  const auto value = parse_int(*text);
  if (!value)
    return fail(ErrorCode::invalid, std::string(name) + " must be a whole number",
                std::string(name));
  return *value;
}

Result<Selector> Call::selector() const { return parse_selector(request().param("id")); }

std::shared_ptr<http::Stream> open_stream(const CallPtr& call) {
  Context& context = call->context;
  if (context.streams.fetch_add(1) >= context.options.streams_max) {
    context.streams.fetch_sub(1);
    call->refuse({ErrorCode::exhausted, "too many streams are open; try again later", {}});
    return nullptr;
  }
  auto stream = call->stream(200, {{"Content-Type", "text/event-stream"},
                                   {"Cache-Control", "no-store"},
                                   {"X-Accel-Buffering", "no"}});
  stream->on_close([&context] { context.streams.fetch_sub(1); });
  return stream;
}

void run_on(Pool& pool, const CallPtr& call, std::function<void()> work) {
  if (pool.post(std::move(work))) return;
  call->refuse({ErrorCode::unavailable, "the server is busy; try again in a moment", {}});
}

std::string name_of(const core::State& table, UserId id) {
  const auto it = table.users.find(id);
  return it == table.users.end() ? std::string() : it->second.name;
}

std::string name_of(const core::State& table, NamespaceId id) {
  const auto it = table.namespaces.find(id);
  return it == table.namespaces.end() ? std::string() : it->second.name;
}

std::string name_of(const core::State& table, SiteId id) {
  const auto it = table.sites.find(id);
  return it == table.sites.end() ? std::string() : it->second.name;
}

std::string name_of(const core::State& table, CohortId id) {
  const auto it = table.cohorts.find(id);
  return it == table.cohorts.end() ? std::string() : it->second.name;
}

}  // namespace atl::api
