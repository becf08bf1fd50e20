#include "cli/api.h"

#include <algorithm>

#include "base/text.h"
#include "cli/display.h"

namespace atl::cli {
namespace {

ErrorCode code_of(int status) {
  switch (status) {
    case 400:
    case 415:
      return ErrorCode::invalid;
    case 401:
      return ErrorCode::unauthorized;
    case 403:
      return ErrorCode::forbidden;
    case 404:
    case 405:
      return ErrorCode::not_found;
    case 409:
      return ErrorCode::conflict;
    case 412:
      return ErrorCode::stale;
    case 413:
    case 431:
      return ErrorCode::too_large;
    case 422:
      return ErrorCode::infeasible;
    case 429:
      return ErrorCode::exhausted;
    case 408:
    case 502:
    case 503:
    case 504:
    case 507:
      return ErrorCode::unavailable;
    default:
      return status < 500 ? ErrorCode::invalid : ErrorCode::internal;
  }
}

// The server's own word, when it is one that we know; else what the status stands for.
ErrorCode code_of(const Json& problem, int status) {
  const std::string word = problem.text("code");
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    if (word == to_string(static_cast<ErrorCode>(i))) return static_cast<ErrorCode>(i);
  }
  return code_of(status);
}

std::string server_path(const std::string& path) {
  if (path.starts_with("//")) return path.substr(1);
  return path.starts_with(kApiRoot) ? path : std::string(kApiRoot) + path;
}

std::string no_server(const Target& target, const std::string& why) {
  const bool refused = why.starts_with("connection refused") || why.starts_with("cannot connect");
  if (!target.local || !refused) return why;
  return "no server is running on " + target.home + ": start it with `atoll up`";
}

}  // namespace

std::string encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
    plain ? void(out += c) : void(out.append({'%', kHex[byte >> 4], kHex[byte & 15]}));
  }
  return out;
}

std::string query(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!value.empty()) out += (out.empty() ? "?" : "&") + name + "=" + encode(value);
  }
  return out;
}

Error error_of(const http::Response& response) {
  const auto parsed = Json::parse(response.body);
  const Json problem = parsed ? *parsed : Json();
  Error error{code_of(problem, response.status), problem.text("detail"), problem.text("field")};
  if (error.message.empty()) error.message = problem.text("title");
  if (error.message.empty()) {
    error.message = "the server answered " + std::to_string(response.status) + " " +
                    std::string(http::reason_phrase(response.status));
  }
  const std::string_view again = response.headers.get("Retry-After");
  if (!again.empty()) error.message += " (try again in " + std::string(again) + " s)";
  return error;
}

std::string next_link(std::string_view header) {
  for (std::string_view link : split(header, ',')) {
    link = trim(link);
    const std::size_t end = link.find('>');
    const bool next = link.find("rel=\"next\"") != std::string_view::npos ||
                      link.find("rel=next") != std::string_view::npos;
    if (!next || !link.starts_with('<') || end == std::string_view::npos) continue;
    const std::string_view target = link.substr(1, end - 1);
    const std::size_t path = target.find(kApiRoot);
    if (path != std::string_view::npos) return std::string(target.substr(path));
  }
  return {};
}

Result<Api> Api::open(const Target& target) {
  auto url = http::Url::parse(target.url);
  if (!url) return tl::unexpected(url.error());
  if (auto safe = check_transport(target.url, !target.token.empty()); !safe) {
    return tl::unexpected(safe.error());
  }
  http::ClientOptions options;
  options.ca_file = target.ca_file;
  return Api(target, http::Client(std::move(*url), options));
}

Result<http::Response> Api::send(http::Call call) {
  call.target = server_path(call.target);
  if (!target_.token.empty()) call.headers.set("Authorization", "Bearer " + target_.token);
  call.headers.set("User-Agent", "atoll/" ATOLL_VERSION);
  if (!call.headers.has("Accept")) call.headers.set("Accept", "application/json");
  auto response = client_.send(call);
  if (!response) {
    Error error = response.error();
    if (error.code == ErrorCode::unavailable) error.message = no_server(target_, error.message);
    if (error.code == ErrorCode::unauthorized)
      error.message +=
          "; name the file of its authority: `atoll login URL --ca FILE`, or SSL_CERT_FILE";
    return tl::unexpected(std::move(error));
  }
  if (response->status < 200 || response->status > 299) return tl::unexpected(error_of(*response));
  return response;
}

Result<Json> Api::call(std::string method, const std::string& path, std::string body) {
  http::Call call;
  call.method = std::move(method);
  call.target = path;
  if (!body.empty()) call.headers.set("Content-Type", "application/json");
  call.body = std::move(body);
  auto response = send(std::move(call));
  if (!response) return tl::unexpected(response.error());
  if (response->body.empty()) return Json();
  return Json::parse(response->body);
}

Result<Json> Api::get(const std::string& path) { return call("GET", path, {}); }
Result<Json> Api::post(const std::string& path, std::string body) {
  return call("POST", path, std::move(body));
}
Result<Json> Api::patch(const std::string& path, std::string body) {
  return call("PATCH", path, std::move(body));
}
Result<Json> Api::put(const std::string& path, std::string body) {
  return call("PUT", path, std::move(body));
}
Result<Json> Api::remove(const std::string& path) { return call("DELETE", path, {}); }

Result<void> Api::each(const std::string& path, std::size_t limit,
                       const std::function<bool(const Json&)>& take) {
  std::size_t given = 0;
  for (std::string next = path; !next.empty();) {
    auto response = send({.method = "GET", .target = next});
    if (!response) return tl::unexpected(response.error());
    const auto answer = Json::parse(response->body);
    if (!answer) return tl::unexpected(answer.error());
    for (const Json& item : list_of(*answer)) {
      if (!take(item) || ++given == limit) return {};
    }
    std::string after = next_link(response->headers.get("Link"));
    if (after == next) break;
    next = std::move(after);
  }
  return {};
}

Result<std::vector<Json>> Api::list(const std::string& path, std::size_t limit) {
  std::vector<Json> all;
  auto done = each(path, limit, [&all](const Json& item) {
    all.push_back(item);
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return all;
}

}  // namespace atl::cli
