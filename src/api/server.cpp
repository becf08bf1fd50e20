#include "api/context.h"
#include "api/documents.h"
#include "api/handlers.h"
#include "api/requests.h"

namespace atl::api {

void show_health(const CallPtr& call) { call->respond_json("{\"status\":\"ok\"}"); }

void show_readiness(const CallPtr& call) {
  const runtime::Health health = call->context.runtime.health();
  if (health.read_only)
    return call->refuse({ErrorCode::unavailable, "the server is read-only: " + health.why, {}});
  call->respond_json("{\"status\":\"ok\"}");
}

void show_version(const CallPtr& call) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("name", "atoll").member("version", call->context.options.version);
  json.member("api", "v1").member("installation", call->context.options.installation);
  json.key("listen").begin_array();
  if (call->context.options.listen) {
    for (const std::string& address : call->context.options.listen()) json.text(address);
  }
  json.end_array().end_object();
  call->respond_json(std::move(body));
}

void show_doctor(const CallPtr& call) {
  // Reading the whole journal is for those who can do something about it.
  const auto table = call->context.directory.table();
  const bool thorough = core::require_platform_admin(*table, call->actor).has_value();
  run_on(call->context.slow, call, [call, thorough] {
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().key("checks").begin_array();
    for (const Check& found : call->context.options.doctor ? call->context.options.doctor(thorough)
                                                           : std::vector<Check>{}) {
      json.begin_object()
          .member("check", found.check)
          .member("status", found.status)
          .member("detail", found.detail);
      json.end_object();
    }
    json.end_array().end_object();
    call->respond_json(std::move(body));
  });
}

void show_openapi(const CallPtr& call) {
  static const std::string document = openapi_document(ATOLL_VERSION);
  call->respond_json(document, 200, {{"Cache-Control", "no-cache"}});
}

void show_docs(const CallPtr& call) {
  // A proxy in front may speak TLS for us; its word decides nothing but the examples.
  const http::Request& request = call->request();
  const bool tls = request.peer.tls || request.headers.get("X-Forwarded-Proto") == "https";
  std::string origin = request.peer.unix_socket ? "" : origin_of(request.headers.get("Host"), tls);
  if (origin.empty() && call->context.options.listen) {
    for (const std::string& address : call->context.options.listen()) origin = address;
  }
  if (origin.empty()) origin = "http://127.0.0.1:7380";
  call->respond(
      {.status = 200,
       .content_type = "text/html; charset=utf-8",
       .body = docs_page(ATOLL_VERSION, origin),
       .headers = {{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"},
                   {"X-Content-Type-Options", "nosniff"},
                   {"Vary", "Host, X-Forwarded-Proto"}}});
}

void make_backup(const CallPtr& call) {
  const auto wish = body_of<BackupWish>(call);
  if (!wish) return;
  const auto table = call->context.directory.table();
  if (auto ok = core::require_platform_admin(*table, call->actor); !ok)
    return call->refuse(ok.error());
  if (!wish->file->starts_with('/'))
    return call->refuse(
        {ErrorCode::invalid, "file must be an absolute path on the server", "file"});
  if (!call->context.options.backup)
    return call->refuse({ErrorCode::unavailable, "this server makes no backups", {}});
  const auto copy = [call, file = *wish->file] {
    if (auto ok = call->context.options.backup(file); !ok) return call->refuse(ok.error());
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().member("file", file).end_object();
    call->respond_json(std::move(body), 201);
  };
  // A server whose disk is full can keep no record; that is when a copy is wanted most.
  call->context.runtime.post({{call->actor, core::RecordDeed{core::BackupAsked{*wish->file}, {}}}},
                             [call, copy](const Result<runtime::Accepted>& kept) {
                               if (!kept && kept.error().code != ErrorCode::unavailable)
                                 return call->refuse(kept.error());
                               run_on(call->context.slow, call, copy);
                             });
}

}  // namespace atl::api
